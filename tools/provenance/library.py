"""Functions of the standard library that a resolver uses and that touch nothing."""

from __future__ import annotations

import json
import math
import posixpath
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tools.provenance.language import plain
from tools.provenance.operators import ERRORS
from tools.provenance.raising import failure
from tools.provenance.understood import known
from tools.provenance.values import (
    Class,
    Extern,
    Function,
    Instance,
    Record,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from tools.provenance.machine import Machine


def _pure(path: str, function: Callable[..., Any]) -> None:
    def call(_machine: Machine, args: list[Value], named: Record) -> Value:
        values = [plain(a) for a in args]
        if any(isinstance(a, (Extern, Instance, Function)) for a in values):
            return Unknown((f"{path}()",))
        try:
            return function(*values, **named)
        except ERRORS as error:
            raise failure(error) from None

    known(path, lenient=False)(call)


for _name in ("sqrt", "ceil", "floor", "log", "log2", "prod", "gcd", "isclose", "lcm"):
    _pure(f"math.{_name}", getattr(math, _name))
for _name in ("join", "basename", "dirname", "splitext", "normpath", "isabs"):
    _pure(f"posixpath.{_name}", getattr(posixpath, _name))
_pure("json.loads", json.loads)
_pure("packaging.version.parse", lambda text: _Version(text))
_pure("packaging.version.Version", lambda text: _Version(text))


class _Version(tuple):  # type: ignore[type-arg]
    """A version as the numbers in it, which compare as versions do."""

    __slots__ = ()

    def __new__(cls, text: str) -> _Version:
        return super().__new__(cls, (int(n) for n in re.findall(r"\d+", text.split("+")[0])))

    @property
    def release(self) -> tuple[int, ...]:
        """Return the numbers."""
        return tuple(self)


@known("json.dumps")
def _dumps(_machine: Machine, args: list[Value], _named: Record) -> Value:
    try:
        return json.dumps(args[0])
    except (TypeError, ValueError, RecursionError):
        return Unknown(("a value as JSON",))


@known("os.getenv")
def _getenv(machine: Machine, args: list[Value], named: Record) -> Value:
    environment = machine.outside.facts["os.environ"]
    default = args[1] if len(args) > 1 else named.get("default")
    return (
        Unknown(("an environment variable",))
        if isinstance(args[0], Unknown)
        else (environment.get(args[0], default))
    )


def _asking(kind: str) -> Callable[..., Value]:
    return lambda machine, args, _named: machine.outside.facts["files"](kind, args[0])


for _name, _kind in {
    "exists": "any",
    "lexists": "any",
    "isfile": "file",
    "isdir": "folder",
}.items():
    known(f"posixpath.{_name}")(_asking(_kind))
known("glob.glob", "os.listdir")(lambda _m, _a, _n: [])
known("posixpath.islink")(lambda _m, _a, _n: False)
known("huggingface_hub.HfApi.file_exists")(lambda _m, _a, _n: False)
known("huggingface_hub.HfApi.repo_info", "huggingface_hub.HfApi.model_info")(
    lambda _m, _a, _n: Unknown(("what the model hub answers",))
)
known("huggingface_hub.HfApi")(lambda _m, _a, _n: Extern("huggingface_hub.HfApi"))


@known(
    "posixpath.expanduser",
    "posixpath.abspath",
    "posixpath.realpath",
    "os.fspath",
    "posixpath.expandvars",
)
def _same_path(_machine: Machine, args: list[Value], _named: Record) -> Value:
    return args[0]


@known("enum.auto")
def _auto(_machine: Machine, _args: list[Value], _named: Record) -> Value:
    return Extern("enum.auto()")


@known("importlib.import_module")
def _import_module(machine: Machine, args: list[Value], _named: Record) -> Value:
    name = args[0]
    if not isinstance(name, str):
        return Unknown(("a module",))
    found = machine.imports.module(name)
    return found if found is not None else Extern(name)


@known("importlib.util.find_spec")
def _find_spec(machine: Machine, args: list[Value], _named: Record) -> Value:
    top = str(args[0]).split(".", 1)[0]
    answer = machine.outside.installed(top)
    if isinstance(answer, Unknown):
        return answer
    return Extern(f"{args[0]}.spec") if answer else None


@known("importlib.metadata.version")
def _version(machine: Machine, args: list[Value], _named: Record) -> Value:
    asked = machine.outside.packages.get(str(args[0]).lower().replace("_", "-"))
    exact = asked.removeprefix("==") if asked and asked.startswith("==") else None
    return exact or Unknown((f"the version of {args[0]}",))


@known("importlib.metadata.entry_points")
def _entry_points(_machine: Machine, _args: list[Value], _named: Record) -> Value:
    return []


@known("logging.getLogger")
def _logger(_machine: Machine, _args: list[Value], _named: Record) -> Value:
    return Extern("logging.logger")


for _level in (
    "debug",
    "info",
    "warning",
    "error",
    "exception",
    "critical",
    "warn",
    "log",
    "setLevel",
    "addHandler",
):
    known(f"logging.logger.{_level}")(lambda _m, _a, _n: None)
for _silent in ("warnings.warn", "logging.basicConfig", "warnings.filterwarnings", "time.sleep"):
    known(_silent)(lambda _m, _a, _n: None)


@known("collections.defaultdict", "collections.OrderedDict", "types.SimpleNamespace")
def _defaultdict(machine: Machine, args: list[Value], named: Record) -> Value:
    record = Record()
    for other in (*args, named):
        if isinstance(other, dict):
            machine.merge(record, other)
    return record


@known("inspect.isclass")
def _isclass(_machine: Machine, args: list[Value], _named: Record) -> Value:
    return isinstance(args[0], Class)


@known("itertools.chain")
def _chain(machine: Machine, args: list[Value], _named: Record) -> Value:
    return [value for row in args for value in machine.iterated(row)]
