"""What a name can stand for while source is followed: values, things outside, and the unknown."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Value = Any  # an ordinary Python value, or one of the classes below
OPTIONS = 8  # possible values of one unknown that are remembered
REASONS = 3  # reasons of one unknown that are remembered


class Missing:
    """Nothing is there: an attribute, a default, an entry."""

    def __repr__(self) -> str:
        return "<absent>"


MISSING = Missing()


class Unknown:
    """A value that what is known does not settle: why, and which values it can have (if few)."""

    __slots__ = ("options", "why")

    def __init__(self, why: tuple[str, ...], options: tuple[Value, ...] | None = None) -> None:
        self.why = tuple(dict.fromkeys(why))[:REASONS]
        self.options = options if options and len(options) <= OPTIONS else None

    def __repr__(self) -> str:
        return f"Unknown({', '.join(self.why)})"


def because(*values: Value) -> Unknown:
    """Return an unknown that has the reasons of all unknowns among these values."""
    return Unknown(tuple(why for v in values if isinstance(v, Unknown) for why in v.why))


@dataclass(frozen=True, slots=True)
class Extern:
    """Something outside the engine's source, by its dotted name ("torch.cuda")."""

    path: str


class Record(dict[Value, Value]):
    """A dict that knows at which place of the source each of its entries was written."""

    __slots__ = ("born",)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.born: dict[Value, Place] = dict(getattr(args[0], "born", {})) if args else {}


@dataclass(frozen=True, slots=True)
class Place:
    """A line of the source, and the function it is in."""

    path: str
    line: int
    function: str = ""


@dataclass(eq=False, slots=True)
class Module:
    """A file of the tree, with the names it has bound so far."""

    name: str
    path: str
    names: dict[str, Value]
    started: bool = False
    done: bool = False


@dataclass(eq=False, slots=True)
class Lazy:
    """A name that was imported but not yet needed."""

    module: str
    name: str  # "" for the module itself


@dataclass(eq=False, slots=True)
class Function:
    """A function of the source, with the scope that it was defined in."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: Any
    name: str
    qualname: str
    defaults: tuple[Value, ...]
    keyword_defaults: dict[str, Value]
    owner: Class | None = None
    attrs: dict[str, Value] = field(default_factory=dict)

    @property
    def doc(self) -> str | None:
        """Return its docstring as it is written."""
        node = self.node
        return None if isinstance(node, ast.Lambda) else ast.get_docstring(node, clean=False)


@dataclass(eq=False, slots=True)
class Class:
    """A class of the source (or one that stands for a well-known one outside)."""

    name: str
    bases: tuple[Value, ...]
    attrs: dict[str, Value]
    qualname: str = ""
    annotations: dict[str, Value] = field(default_factory=dict)
    fields: list[Field] | None = None  # of a record: dataclass or struct
    members: dict[str, Instance] | None = None  # of an enumeration
    line: Any = None

    def lineage(self) -> tuple[Class, ...]:
        """Return the class and its bases in the order in which attributes are looked up."""
        if self.line is None:
            found: dict[int, Class] = {id(self): self}
            for base in self.bases:
                if isinstance(base, Class):
                    for each in base.lineage():
                        found.pop(id(each), None)
                        found[id(each)] = each
            self.line = tuple(found.values())
        return self.line  # type: ignore[no-any-return]

    def find(self, name: str) -> Value:
        """Return the attribute as the class or its nearest base has it, or MISSING."""
        for each in self.lineage():
            if name in each.attrs:
                return each.attrs[name]
        return MISSING

    def outside(self) -> tuple[str, ...]:
        """Return the names of the bases that are not in the source."""
        return tuple(
            base.path for each in self.lineage() for base in each.bases if isinstance(base, Extern)
        )


class Instance:
    """An object of a class of the source; `native` is its value where it extends str, int, dict..."""

    __slots__ = ("attrs", "cls", "native")

    def __init__(self, cls: Class, native: Value = MISSING) -> None:
        self.cls = cls
        self.attrs: dict[str, Value] = {}
        self.native = native

    def __eq__(self, other: object) -> bool:
        if self is other or self.native is MISSING:
            return self is other
        return bool(self.native == (other.native if isinstance(other, Instance) else other))

    def __hash__(self) -> int:
        try:
            return id(self) if self.native is MISSING else hash(self.native)
        except TypeError:
            return id(self)

    def __repr__(self) -> str:
        return f"<{self.cls.name}>"


@dataclass(eq=False, slots=True)
class Bound:
    """A function together with the object or class that it is called on."""

    function: Value
    receiver: Value


@dataclass(eq=False, slots=True)
class Native:
    """A function that is known without its source; `call(machine, args, keywords)`."""

    name: str
    call: Callable[..., Value]
    lenient: bool = False  # it may be given unknown arguments


@dataclass(eq=False, slots=True)
class Descriptor:
    """What a decorator of the language made of a function: property, staticmethod, classmethod."""

    kind: str
    function: Value
    setter: Value = None


@dataclass(eq=False, slots=True)
class Alias:
    """A type with its arguments: Annotated[int, ...], Optional[str], list[int]."""

    origin: Value
    args: tuple[Value, ...]


@dataclass(eq=False, slots=True)
class Field:
    """A declared field of a record."""

    name: str
    type: Value
    default: Value = MISSING
    factory: Value = MISSING


@dataclass(eq=False, slots=True)
class Super:
    """super(): the bases of a class, seen from an object."""

    cls: Class
    receiver: Value


class Raised(Exception):
    """An exception that the followed source raises, with the object raised.

    `place` is the statement that raises it; None where an operation or a call does.
    """

    def __init__(self, value: Value, place: Place | None = None) -> None:
        super().__init__(str(value))
        self.value = value
        self.place = place
