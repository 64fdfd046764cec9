"""The exceptions of the language, as classes that the followed source can raise and catch."""

from __future__ import annotations

import builtins

from tools.provenance.values import Class, Instance, Raised, Value


def _classes() -> dict[str, Class]:
    known: dict[str, Class] = {}

    def add(error: type) -> Class:
        if error.__name__ not in known:
            bases = tuple(add(base) for base in error.__bases__ if issubclass(base, BaseException))
            known[error.__name__] = Class(error.__name__, bases, {}, error.__name__)
        return known[error.__name__]

    for value in vars(builtins).values():
        if isinstance(value, type) and issubclass(value, BaseException):
            add(value)
    return known


EXCEPTIONS = _classes()


def raised(name: str, *args: Value) -> Raised:
    """Return an exception of the language, ready to be raised."""
    error = Instance(EXCEPTIONS[name])
    error.attrs["args"] = args
    return Raised(error)


def failure(error: BaseException) -> Raised:
    """Return an error of an operation as one that the source raises."""
    name = type(error).__name__
    return raised(name if name in EXCEPTIONS else "ValueError", str(error)[:200])


def told(value: Value) -> str:
    """Return an exception as a traceback's last line says it."""
    if isinstance(value, Instance):
        args = value.attrs.get("args", ())
        text = args[0] if args and isinstance(args[0], str) else ""
        return f"{value.cls.name}: {text}" if text else value.cls.name
    return value.name if isinstance(value, Class) else str(value)
