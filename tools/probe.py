"""A read-only question, and how to read its answer."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar, Generic, Self, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict

from tools.errors import Absent, Failed, Unreadable
from tools.host import Command, Output
from tools.secrets import scrub


class Facts(BaseModel):
    """What was learned, typed; `None` where the host does not say.

    Several texts can each tell a part of one thing (lscpu, cpu.max and cpu.stat of one machine),
    so facts of one type can be merged: tuples are joined, mappings united, and of the rest the
    last value that is not None wins.
    """

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)

    keeps_apart: ClassVar[bool] = False  # facts of two machines stay distinct in it

    @property
    def mixed(self) -> str:
        """Say why these facts cannot be of one machine; empty where nothing speaks against it."""
        return ""

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy; what was worked out of the fields is worked out anew."""
        copied = super().model_copy(update=update, deep=deep)
        for name in copied.__dict__.keys() - type(self).model_fields.keys():
            del copied.__dict__[name]
        return copied

    def merged(self, other: Self) -> Self:
        """Return these facts completed by others of the same type, which win where both speak."""
        update = {
            field: _joined(getattr(self, field), new)
            for field in type(self).model_fields
            if (new := getattr(other, field)) is not None
        }
        return self.model_copy(update=update)


def _joined(old: Any, new: Any) -> Any:
    if isinstance(old, tuple) and isinstance(new, tuple):
        return old + tuple(x for x in new if x not in old) if old else new
    if isinstance(old, dict) and isinstance(new, dict):
        return {**old, **new}
    if isinstance(old, frozenset) and isinstance(new, frozenset):
        return old.union(new)
    return new


F = TypeVar("F", bound=Facts)

# What reading a text of any shape may raise; pydantic's ValidationError is a ValueError.
_STRANGE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
_DIGITS = 20  # of a whole number that somebody counted


def _whole(text: str) -> int | None:
    return int(text) if len(text) <= _DIGITS else None


def _number(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None


def _nothing(_: str) -> None:
    """NaN and Infinity are no JSON, and no measurement."""


JSON = json.JSONDecoder(parse_int=_whole, parse_float=_number, parse_constant=_nothing)


class Probe(BaseModel, Generic[F]):
    """One read-only question. The fields are its arguments, the docstring is what a model reads.

    A subclass gives `command` (the only text that a host ever runs for it), `recognises` (is this
    pasted text an answer to me?) and `parse` (pure; raises Absent, Failed or Unreadable).
    Fields called `port`, `log_path` and `source_path` are filled by the planner from what is known
    of the host.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    routine: ClassVar[bool] = True  # the playbook may ask it without being told to
    drops_arguments: ClassVar[bool] = False  # `clean` drops the values of dumps of arguments, too
    takes_s: ClassVar[float] = 1.0  # about how long the host needs; looks over a window say more

    @property
    def key(self) -> str:
        """Name the question and its arguments, the same in every run."""
        arguments = self.model_dump(mode="json", exclude_defaults=True)
        return type(self).__name__ + (json.dumps(arguments, sort_keys=True) if arguments else "")

    def command(self) -> Command:
        """Return the command to run."""
        raise NotImplementedError

    def recognises(self, text: str, /) -> bool:
        """Say whether a pasted text is an answer to this question."""
        raise NotImplementedError

    def lying_at(self, path: str, /) -> Probe[F] | None:  # noqa: ARG002 - for those that have one
        """Return the same question about one file, where this one has a filter that reads it there."""
        return None

    def parse(self, stdout: str, /) -> F:
        """Read the answer; raise Absent, Failed or Unreadable where it is no fact."""
        raise NotImplementedError

    def clean(self, text: str, /) -> str:
        """Drop secrets from what came back, before anything is kept or shown."""
        return scrub(text)

    def read(self, output: Output) -> F:
        """Read a whole output: a missing program and a failed command are told apart here."""
        if output.status == 127:
            raise Absent(f"{self.command().argv[0]} is not installed there")
        if output.status not in (0, None) and not output.stdout.strip():
            said = output.stderr.strip().splitlines()
            raise Failed(
                said[-1][:300] if said else f"ended with status {output.status} and said nothing"
            )
        try:
            return self.parse(output.stdout)
        except _STRANGE as why:
            raise Unreadable(f"it holds what no reader foresaw ({type(why).__name__})") from why


@cache
def facts_of(probe: type[Probe[Any]]) -> type[Facts]:
    """Return the type of facts that a probe gives, from the signature of its `parse`."""
    found = get_type_hints(probe.parse).get("return")
    if not (isinstance(found, type) and issubclass(found, Facts)):
        raise TypeError(f"{probe.__name__}.parse must say which Facts it returns")
    return found


def told(stdout: str) -> dict[str, Any]:
    """Return the JSON object that one of our remote scripts printed.

    A script that finds nothing prints {"absent": why}, one that may not look {"failed": why}.
    """
    try:
        said = JSON.decode(stdout)
    except (ValueError, RecursionError):
        raise Unreadable("the answer is not the JSON that was asked for") from None
    if not isinstance(said, dict):
        raise Unreadable("the answer is JSON, but no object")
    if "absent" in said:
        raise Absent(str(said["absent"]))
    if "failed" in said:
        raise Failed(str(said["failed"]))
    return said
