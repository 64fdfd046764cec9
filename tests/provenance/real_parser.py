"""Run a version's own add_cli_args in a bare Python and print what argparse then lists, as JSON: real_parser.py FOLDER...

Nothing but the folders and the standard library is imported: what else the engine asks for (torch,
transformers, ...) is a stand-in that answers anything, so the list is that of a machine without a GPU.
"""

from __future__ import annotations

import abc
import argparse
import importlib
import importlib.abc
import importlib.machinery
import json
import sys
import types
from typing import Any

ABSENT = (
    "torch_npu",
    "torch_musa",
    "habana_frameworks",
    "intel_extension_for_pytorch",
    "mlx",
)  # other makers' devices
# Parts of the engine that are of no matter to its flags, and that need a real torch to be imported.
KERNELS = ("sglang.srt.layers", "sglang.kernels", "sglang.jit_kernel", "sglang.srt.distributed",
           "sglang.srt.sampling.custom_logit_processor")  # fmt: skip


class Anything(abc.ABCMeta):
    """A class that has every attribute, and is one more such class in every use."""

    def __new__(cls, name: str, bases: Any, body: Any, **_named: Any) -> Any:
        return super().__new__(cls, name, bases, body)

    def __init__(cls, name: str, bases: Any, body: Any, **_named: Any) -> None:
        super().__init__(name, bases, body)

    def __getattr__(cls, name: str) -> Any:
        if name == "__get_pydantic_core_schema__":
            return lambda *_: {"type": "any"}
        if name.startswith("__") and name not in ("__func__", "__class_validators__"):
            raise AttributeError(name)
        return Anything(name, (), {"__module__": "anything"})

    def __call__(cls, *args: Any, **named: Any) -> Any:
        plain = len(args) == 1 and not named and isinstance(args[0], (type, types.FunctionType))
        return args[0] if plain else Anything("made", (), {"__module__": "anything"})

    def __getitem__(cls, _key: Any) -> Any:
        return cls

    def __setitem__(cls, _key: Any, _value: Any) -> None:
        return None

    def register(cls, *_args: Any, **_named: Any) -> Any:
        return cls

    def __iter__(cls) -> Any:
        return iter(())

    def __or__(cls, _other: Any) -> Any:
        return cls

    __ror__ = __or__

    def __bool__(cls) -> bool:
        return False

    def __lt__(cls, _other: Any) -> bool:
        return False

    __gt__ = __le__ = __ge__ = __lt__

    def __int__(cls) -> int:
        return 0

    __index__ = __int__

    def __enter__(cls) -> Any:
        return cls

    def __exit__(cls, *_error: object) -> None:
        return None


class StandIn(types.ModuleType):
    """A module of which every name is a class that answers anything."""

    __path__: list[str] = []
    __version__ = "99.0.0"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("npu", "musa", "hpu"):
            raise AttributeError(name)
        return Anything(name, (), {"__module__": self.__name__})


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds a stand-in for every module that nobody else finds, but for parts of the engine itself."""

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> Any:
        top, dot, _ = name.partition(".")
        if top in ("sglang", *ABSENT, *sys.stdlib_module_names):
            return None
        if dot and not isinstance(sys.modules.get(top), StandIn):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: Any) -> StandIn:
        return StandIn(spec.name)

    def exec_module(self, module: Any) -> None:
        """Leave the stand-in as it is."""


class First(Finder):
    """Stands in for the kernels of the engine before anybody finds them."""

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> Any:
        kernel = name.startswith(KERNELS)
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if kernel else None


def listed(action: argparse.Action) -> dict[str, Any]:
    return {
        "names": list(action.option_strings),
        "dest": action.dest,
        "default": None if action.default is argparse.SUPPRESS else action.default,
        "choices": None if action.choices is None else sorted(map(str, action.choices)),
        "help": "" if action.help in (None, argparse.SUPPRESS) else " ".join(action.help.split()),
        "action": type(action).__name__,
        "nothing": action.nargs == 0,
    }


def main() -> None:
    sys.path[:0] = sys.argv[1:]
    sys.meta_path.insert(0, First())
    sys.meta_path.append(Finder())
    record = importlib.import_module("sglang.srt.server_args").ServerArgs
    parser = argparse.ArgumentParser(add_help=False)
    record.add_cli_args(parser)
    print(json.dumps([listed(action) for action in parser._actions], default=str))


main()
