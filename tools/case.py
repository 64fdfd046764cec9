"""A case: a question, and what the host said, verbatim. Facts and verdict are computed on load.

One format serves saved investigations, demos, bug reports and tests: JSON, with outputs as lists
of lines so that a person can read and compare them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from tools.errors import CaseError
from tools.evidence import Evidence, learn, read_back
from tools.host import Output
from tools.probe import Probe
from tools.secrets import scrub


class KeptOutput(BaseModel):
    """One output with its streams as lists of lines, joined by newlines."""

    model_config = ConfigDict(extra="forbid")

    stdout: list[str] = []
    stderr: list[str] = []
    status: int | None = 0
    took_s: float = 0.0
    cut: bool = False
    lost: str = ""

    @classmethod
    def of(cls, output: Output) -> KeptOutput:
        """Keep an output."""
        streams = {"stdout": _lines(output.stdout), "stderr": _lines(output.stderr)}
        return cls(**(output.model_dump() | streams))

    def output(self) -> Output:
        """Return the output as it was."""
        streams = {"stdout": _text(self.stdout), "stderr": _text(self.stderr)}
        return Output(**(self.model_dump() | streams))


class Asked(BaseModel):
    """One look: the question by name and arguments, where it was put, and the answer."""

    model_config = ConfigDict(extra="forbid")

    id: str
    probe: str | None
    arguments: dict[str, Any] = {}
    source: str
    command: str = ""
    output: KeptOutput


class Case(BaseModel):
    """What is kept of an investigation. `made` says how it came about ("captured", "synthetic")."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    schema_: Literal[1] = 1
    host: str | None = None
    question: str = ""
    made: str = ""
    asked: list[Asked] = []
    exchanges: list[dict[str, Any]] = []

    @classmethod
    def of(
        cls,
        host: str | None,
        question: str,
        made: str,
        evidence: Sequence[Evidence],
        exchanges: Sequence[dict[str, Any]] = (),
    ) -> Case:
        """Keep the looks of an investigation; they were freed of secrets when they were learned.

        `exchanges` are what a model was given and said, if one was asked; nothing is judged by them.
        """
        asked = [
            Asked(
                id=look.id,
                probe=look.title if look.probe else None,
                arguments=look.probe.model_dump(mode="json", exclude_defaults=True)
                if look.probe
                else {},
                source=look.source,
                command=scrub(look.probe.command().shown()) if look.probe else "",
                output=KeptOutput.of(look.output),
            )
            for look in evidence
            if look.output is not None
        ]
        return cls(host=host, question=question, made=made, asked=asked, exchanges=list(exchanges))

    @classmethod
    def load(cls, text: str, *, name: str) -> Case:
        """Read a case file; raise CaseError with one sentence that says what is wrong with it."""
        try:
            raw = json.loads(text)
            if isinstance(raw, dict) and "schema" in raw:
                raw["schema_"] = raw.pop("schema")
            return cls.model_validate(raw)
        except (ValueError, RecursionError) as why:
            first = why.errors()[0] if isinstance(why, ValidationError) else None
            place = ".".join(map(str, first["loc"])).rstrip("_") if first else ""
            what = f"{place}{': ' if place else ''}{first['msg']}" if first else str(why)
            raise CaseError(f"{name} is no case file of perfsleuth ({what}).") from None

    def dump(self) -> str:
        """Return the case as the text of a file."""
        kept = self.model_dump(mode="json")
        if not self.exchanges:
            del kept["exchanges"]  # a version that knows none can read the case
        return (
            json.dumps({"schema": kept.pop("schema_"), **kept}, indent=1, ensure_ascii=False) + "\n"
        )

    def evidence(self, probes: Mapping[str, type[Probe[Any]]]) -> list[Evidence]:
        """Read the answers again with today's parsers; ids are given anew, in the order kept."""
        return [self._look(number, one, probes) for number, one in enumerate(self.asked, start=1)]

    def _look(self, number: int, one: Asked, probes: Mapping[str, type[Probe[Any]]]) -> Evidence:
        output = one.output.output()
        if one.probe is None:
            return read_back(number, None, one.source, output)
        if one.probe not in probes:
            unknown = f"this version knows no probe called {one.probe}"
            return read_back(number, None, one.source, output, unknown)
        try:
            probe = probes[one.probe].model_validate(one.arguments)
        except ValidationError as why:
            what = why.errors()[0]["msg"].removeprefix("Value error, ")
            raise CaseError(f"Look {one.id[:40]} of the case, {one.probe}: {what}.") from None
        return learn(number, probe, one.source, output)


def _text(lines: Sequence[str]) -> str:
    """Join lines; half a surrogate, which JSON can hold and no host can print, is replaced."""
    return "\n".join(lines).encode("utf-8", "replace").decode("utf-8")


def _lines(text: str) -> list[str]:
    return text.split("\n") if text else []
