"""Calls while source is followed: what can be called, and what each kind of it does."""

from __future__ import annotations

from collections.abc import Callable

from tools.provenance import attributes, blocks, comprehensions, rows  # noqa: F401 - they register
from tools.provenance.calls import invoke
from tools.provenance.containers import Containers
from tools.provenance.forks import Arm, alternatives
from tools.provenance.language import BUILTINS
from tools.provenance.operators import ERRORS
from tools.provenance.raising import EXCEPTIONS, failure, raised
from tools.provenance.scope import Frame
from tools.provenance.trail import either
from tools.provenance.understood import CALLS
from tools.provenance.values import (
    MISSING,
    Alias,
    Bound,
    Class,
    Descriptor,
    Extern,
    Function,
    Instance,
    Native,
    Raised,
    Record,
    Super,
    Unknown,
    Value,
    because,
)


class Calling(Containers):
    """What a machine does with calls."""

    def call(self, function: Value, args: list[Value], keywords: Record) -> Value:
        """Return function(*args, **keywords)."""
        if type(function) is Function:
            return invoke(self.frame_of, function, args, keywords)
        if type(function) is Bound:
            return self.call(function.function, [function.receiver, *args], keywords)
        if type(function) is Native:
            return self._native(function, args, keywords)
        if type(function) is Class:
            return self.types.make(function, args, keywords)
        return self._object_call(function, args, keywords)

    def _object_call(self, function: Value, args: list[Value], keywords: Record) -> Value:
        if isinstance(function, Instance):
            return self.call(self.attribute(function, "__call__"), args, keywords)
        if isinstance(function, Extern):
            return self.outside.call(function.path, args, keywords)
        if isinstance(function, Descriptor):
            return self.call(function.function, args, keywords)
        return self._other_call(function, args, keywords)

    def _other_call(self, function: Value, args: list[Value], keywords: Record) -> Value:
        if isinstance(function, Alias):
            return self.call(function.origin, args, keywords)
        if not isinstance(function, Unknown):
            raise raised("TypeError", "not callable")
        if function.options is None or MISSING in function.options or not self.stack:
            return Unknown(function.why)
        calls = [self._calling(option, args, keywords) for option in function.options]
        return alternatives(self.stack[-1], calls, function.why)

    def _calling(
        self, function: Value, args: list[Value], keywords: Record
    ) -> Callable[[Frame], Value]:
        return lambda _frame: self.call(function, args, keywords)

    def _native(self, function: Native, args: list[Value], keywords: Record) -> Value:
        if not function.lenient:
            unknown = [v for v in (*args, *keywords.values()) if isinstance(v, Unknown)]
            if unknown:
                return self._by_options(function, args, keywords, unknown[0])
        try:
            return function.call(self, args, keywords)
        except ERRORS as error:
            raise failure(error) from None

    def _by_options(
        self, function: Native, args: list[Value], keywords: Record, unknown: Unknown
    ) -> Value:
        position = next((i for i, a in enumerate(args) if a is unknown), None)
        if unknown.options is None or position is None or MISSING in unknown.options:
            return because(*args, *keywords.values())
        results = [
            self._native(function, [*args[:position], option, *args[position + 1 :]], keywords)
            for option in unknown.options
        ]
        return either(results, unknown.why)

    def decorated(self, decorator: Value, made: Value) -> Value:
        """Return decorator(made); one that is not known gives back what it decorates."""
        known = isinstance(decorator, Extern) and decorator.path in CALLS
        if isinstance(decorator, (Unknown, Extern)) and not known:
            return made
        return self.call(decorator, [made], Record())

    def new_class(
        self, frame: Frame, name: str, bases: list[Value], body: Arm, options: dict[str, Value]
    ) -> Class:
        """Carry out a class statement."""
        return self.types.new_class(frame, name, bases, body, options)

    def super_of(self, frame: Frame) -> Value:
        """Return super() as it stands in a method."""
        scope: Frame | None = frame
        while scope is not None and (scope.function is None or scope.function.owner is None):
            scope = scope.outer
        if scope is None or scope.function is None or scope.function.owner is None:
            return Unknown(("super()",))
        first = next(iter(scope.names.values()), None)
        return Super(scope.function.owner, first)

    def super_between(self, cls: Value, receiver: Value) -> Value:
        """Return super(cls, receiver)."""
        return Super(cls, receiver) if isinstance(cls, Class) else Unknown(("super()",))

    def unbound(self, kind: str, name: str) -> Value:
        """Return a method of an ordinary type as the type has it: dict.__getitem__."""
        return self.outside.unbound(kind, name)

    def object_method(self, receiver: Value, name: str) -> Value:
        """Return super().name where the base is object."""
        return Bound(self.outside.attribute(f"builtins.object.{name}"), receiver)

    def type_of(self, value: Value) -> Value:
        """Return type(value)."""
        if isinstance(value, Instance):
            return value.cls
        if isinstance(value, (Unknown, Extern)):
            return Unknown((value.path,) if isinstance(value, Extern) else value.why)
        name = "dict" if isinstance(value, dict) else type(value).__name__
        return BUILTINS.get(name, Extern(f"builtins.{name}"))

    def is_error(self, error: Raised, name: str) -> bool:
        """Whether an exception is of a kind of the language."""
        return blocks.catches(EXCEPTIONS[name], error.value)
