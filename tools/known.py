"""All that is known so far: facts merged by type, and which looks they came from."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import cached_property
from typing import TypeVar, cast

from tools.engine import ServerLog
from tools.evidence import Evidence
from tools.probe import Facts, facts_of
from tools.rule import Shown, Where

F = TypeVar("F", bound=Facts)


class Known:
    """Facts of each type, merged over the looks that gave them, in the order of the looks."""

    def __init__(self, evidence: Sequence[Evidence]) -> None:
        self._facts: dict[type[Facts], Facts] = {}
        self._looks: dict[type[Facts], list[Evidence]] = {}
        self._troubles: dict[type[Facts], str] = {}
        for look in evidence:
            if look.facts is not None:
                kind = type(look.facts)
                old = self._facts.get(kind)
                self._facts[kind] = old.merged(look.facts) if old is not None else look.facts
                self._looks.setdefault(kind, []).append(look)
            elif look.probe is not None:
                self._troubles.setdefault(
                    facts_of(type(look.probe)), f"{look.title}: {look.trouble}"
                )

    def get(self, kind: type[F]) -> F | None:
        """Return the facts of a type, or None if no look gave any."""
        return cast("F | None", self._facts.get(kind))

    @cached_property
    def of_several_machines(self) -> bool:
        """Say whether some facts cannot be of one machine."""
        return any(facts.mixed for facts in self._facts.values())

    def of_serving(self) -> Known:
        """Return the same with the newest run that served, where a later start never became ready.

        What slows a server is seen while it serves; what stops it, in its last start.
        """
        log = self.get(ServerLog)
        if log is None or log.served is None:
            return self
        serving = copy(self)
        serving._facts = {**self._facts, ServerLog: log.served}
        return serving

    @property
    def run_judged(self) -> str:
        """Say which run is meant where it is not the last one; empty otherwise."""
        log = self.get(ServerLog)
        if log is None or log.served is None:
            return ""
        run = log.served
        when = f" from {run.first_line_at} to {run.last_line_at}" if run.last_line_at else ""
        since = f", at {log.first_line_at}," if log.first_line_at else ""
        return f"The last start{since} never became ready. Of the run{when}, the last that served: "

    def cited(self, shown: Sequence[Shown]) -> tuple[str, ...]:
        """Return the ids of the looks that show something; all of a type, unless some are named."""
        ids = {look.id for part in shown for look in self._showing(part)}
        return tuple(sorted(ids, key=lambda one: int(one[1:])))

    def _showing(self, part: Shown) -> list[Evidence]:
        facts = part.facts if isinstance(part, Where) else part
        looks = self._looks.get(type(facts), [])
        return [one for one in looks if part.holds(one.facts)] if isinstance(part, Where) else looks

    def trouble(self, kind: type[Facts]) -> str | None:
        """Return why there are no facts of a type, if a look tried."""
        return self._troubles.get(kind)
