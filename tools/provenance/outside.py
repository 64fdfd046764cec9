"""What lies outside the engine's source: known facts by dotted name; all else is unknown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tools.provenance.language import BUILTINS
from tools.provenance.operators import ERRORS
from tools.provenance.raising import failure
from tools.provenance.understood import CALLS, INITS, LENIENT, Call
from tools.provenance.values import (
    MISSING,
    Extern,
    Instance,
    Native,
    Record,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from tools.provenance.machine import Machine

_ALIASES = {
    "typing_extensions.": "typing.", "types.UnionType": "typing.Union", "os.path.": "posixpath.",
    "importlib.metadata.version": "importlib.metadata.version",
}  # fmt: skip
_GENERICS = {"List": "list", "Dict": "dict", "Tuple": "tuple", "Set": "set", "Type": "type"}


class Outside:
    """Facts about one machine and its packages, by dotted name."""

    def __init__(self, facts: Mapping[str, Value], packages: Mapping[str, str]) -> None:
        self.facts = dict(facts)
        self.packages = packages
        self.machine: Any = None

    def attribute(self, path: str) -> Value:
        """Return what a dotted name stands for."""
        for old, new in _ALIASES.items():
            if path.startswith(old):
                path = new + path[len(old) :]
        if path in self.facts:
            return self.facts[path]
        return self._of_value(path)

    def _of_value(self, path: str) -> Value:
        parent, _, name = path.rpartition(".")
        if parent == "builtins" and name in BUILTINS:
            return BUILTINS[name]
        if name.startswith("__") and name.endswith("__"):
            return (
                name
                if name in ("__name__",)
                else MISSING
                if name == "__wrapped__"
                else Extern(path)
            )
        return Extern(path)

    def has(self, path: str, name: str) -> bool | Unknown:
        """Return whether a thing outside has an attribute."""
        answer = self.facts.get(f"{path}.{name}?")
        return answer if isinstance(answer, bool) else Unknown((f"whether {path} has {name}",))

    def installed(self, package: str) -> bool | Unknown:
        """Whether a package is there: what the engine requires is, what other hardware needs is not."""
        if {package.lower().replace("_", "-"), package.lower()} & set(self.packages):
            return True
        if package in _OTHER_HARDWARE:
            return False
        return package in _ALSO_THERE or Unknown((f"whether {package} is installed",))

    def generic(self, owner: Value) -> Value:
        """Return the type that List, Dict and their kin stand for."""
        if isinstance(owner, Extern) and owner.path.startswith("typing."):
            name = _GENERICS.get(owner.path.split(".")[1])
            return BUILTINS[name] if name else owner
        return owner

    def call(self, path: str, args: list[Value], keywords: Record) -> Value:
        """Return what calling something outside gives."""
        if path in CALLS:
            unknown = [v for v in (*args, *keywords.values()) if isinstance(v, Unknown)]
            if unknown and path not in LENIENT:
                return Unknown(unknown[0].why)
            try:
                return CALLS[path](self.machine, args, keywords)
            except ERRORS as error:
                raise failure(error) from None
        return Unknown((f"{path}()",))

    def constructor(self, paths: tuple[str, ...]) -> Call | None:
        """Return what the first understood base outside does to a new object."""
        return next((INITS[path] for path in paths if path in INITS), None)

    def unbound(self, kind: str, name: str) -> Value:
        """Return dict.__getitem__ and its kin."""

        def call(machine: Machine, args: list[Value], keywords: Record) -> Value:
            receiver = args[0].native if isinstance(args[0], Instance) else args[0]
            if name == "__init__":
                for other in args[1:]:
                    machine.merge(receiver, other)
                return None
            if name in ("__getitem__", "__setitem__"):
                act = machine.item if name == "__getitem__" else machine.set_item
                return act(receiver, *args[1:])
            return machine.call(machine.attribute(receiver, name), args[1:], keywords)

        return Native(f"{kind}.{name}", call, lenient=True)

    def joined_path(self, left: Value, right: Value) -> Value:
        """Return Path / name."""
        return Unknown(("a path",)) if isinstance(right, Unknown) else left


_ALSO_THERE = frozenset(
    # what the required packages bring along
    [
        "numpy",
        "triton",
        "jinja2",
        "huggingface_hub",
        "safetensors",
        "tokenizers",
        "yaml",
        "regex",
        "filelock",
        "packaging",
        "fsspec",
        "typing_extensions",
        "starlette",
        "sgl_kernel",
        "zmq",
        "sympy",
        "networkx",
        "setuptools",
        "tqdm",
        "requests",
        "urllib3",
        "anyio",
        "httpx",
        "cuda",
        "pynvml",
        "PIL",
        "flashinfer",
        "cutlass",
        "tvm_ffi",
    ]
)
_OTHER_HARDWARE = frozenset(
    [
        "torch_npu",
        "habana_frameworks",
        "aiter",
        "mlx",
        "mlx_lm",
        "intel_extension_for_pytorch",
        "torchada",
        "torch_musa",
        "torch_mlu",
        "amdsmi",
        "hpu",
        "sgl_kernel_npu",
        "torch_memory_saver_hip",
        "mindspore",
        "oneccl_bindings_for_pytorch",
        "mori",
        "vllm_ascend",
    ]
)
