"""Records: dataclasses and structs, whose fields are declared and whose constructor is implied."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tools.provenance.expressions import evaluating
from tools.provenance.raising import raised
from tools.provenance.scope import Frame
from tools.provenance.values import (
    MISSING,
    Alias,
    Class,
    Extern,
    Field,
    Instance,
    Raised,
    Record,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from tools.provenance.machine import Machine

STRUCT = "msgspec.Struct"
ABSENT = (Extern("dataclasses.MISSING"), Extern("msgspec.NODEFAULT"))


def declare_fields(cls: Class) -> None:
    """Make a class a record: its bases' fields, then its own, in the order of the source."""
    known: dict[str, Field] = {}
    for base in reversed(cls.lineage()[1:]):
        known.update({field.name: field for field in base.fields or ()})
    for name, annotation in cls.annotations.items():
        if _is_class_variable(annotation):
            continue
        known[name] = declared(name, annotation, cls.attrs.get(name, MISSING))
    cls.fields = list(known.values())


def _is_class_variable(annotation: Value) -> bool:
    node = annotation[0] if isinstance(annotation, tuple) else None
    text = ast.unparse(node) if isinstance(node, ast.Subscript) else ""
    return text.startswith(("ClassVar", "typing.ClassVar"))


def declared(name: str, annotation: Value, default: Value) -> Field:
    """Return a field with its default, or with what makes one."""
    if isinstance(default, Field):
        return Field(name, annotation, default.default, default.factory)
    return Field(name, annotation, MISSING if default in ABSENT else default)


def field_from(keywords: Record) -> Field:
    """Return what dataclasses.field() or msgspec.field() declares."""
    default, factory = keywords.get("default", MISSING), keywords.get("default_factory", MISSING)
    return Field(
        "",
        None,
        MISSING if default in ABSENT else default,
        MISSING if factory in ABSENT else factory,
    )


def construct(machine: Machine, made: Instance, args: Sequence[Value], named: Record) -> None:
    """Fill a new record as its implied constructor does, then let __post_init__ run."""
    fields = made.cls.fields or []
    given = dict(zip((field.name for field in fields), args, strict=False)) | named
    unknown = set(named) - {field.name for field in fields}
    if unknown:
        raise raised("TypeError", f"{made.cls.name} has no field {sorted(map(str, unknown))[0]!r}")
    for field in fields:
        if field.name in given:
            made.attrs[field.name] = given[field.name]
        elif field.default is not MISSING:
            made.attrs[field.name] = field.default
        elif field.factory is not MISSING:
            made.attrs[field.name] = machine.call(field.factory, [], Record())
        else:
            raise raised("TypeError", f"{made.cls.name} lacks its field {field.name!r}")
    machine.journal.constructed(made)
    after = made.cls.find("__post_init__")
    if after is not MISSING:
        machine.call(after, [made], Record())


def evaluated(machine: Machine, annotation: Value) -> Value:
    """Return an annotation's value; texts inside it are annotations themselves."""
    if isinstance(annotation, tuple) and len(annotation) == 2 and isinstance(annotation[1], Frame):
        node, frame = annotation
        try:
            return evaluated(machine, evaluating(node)(frame))
        except Raised:
            return Unknown(("an annotation",))
    if isinstance(annotation, str):
        try:
            node = ast.parse(annotation, mode="eval").body
        except (SyntaxError, ValueError, RecursionError):
            return annotation
        return evaluated(machine, (node, machine.stack[-1])) if machine.stack else annotation
    return annotation


def shown_fields(machine: Machine, cls: Value, absent: Extern) -> Value:
    """Return what dataclasses.fields() or msgspec.structs.fields() gives."""
    owner = cls.cls if isinstance(cls, Instance) else cls
    if not isinstance(owner, Class):
        return Unknown(("the fields of a class outside the source",))
    key = (id(owner.fields), absent.path)
    if key not in machine.shown:
        machine.shown[key] = tuple(_shown(field, absent) for field in owner.fields or ())
    return machine.shown[key]


_SHOWN = Class("Field", (), {})


def _shown(field: Field, absent: Extern) -> Instance:
    made = Instance(_SHOWN)
    made.attrs.update(
        name=field.name,
        type=field.type if isinstance(field.type, (Alias, Class)) else None,
        default=absent if field.default is MISSING else field.default,
        default_factory=absent if field.factory is MISSING else field.factory,
        metadata={},
    )
    return made


def defined_struct(machine: Machine, args: Sequence[Value], keywords: Record) -> Value:
    """Return the class that msgspec.defstruct(name, fields, namespace=...) makes."""
    name, rows = args[0], args[1]
    namespace = keywords.get("namespace") or {}
    cls = Class(str(name), (Extern(STRUCT),), dict(namespace), str(name))
    cls.fields = []
    for row in machine.iterated(rows):
        parts = [row] if isinstance(row, str) else list(row)
        default = parts[2] if len(parts) > 2 else MISSING
        field = declared(parts[0], parts[1] if len(parts) > 1 else None, default)
        cls.fields.append(field)
        cls.annotations[field.name] = field.type
        cls.attrs.pop(field.name, None)
    return cls
