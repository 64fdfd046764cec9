"""Who decides what to look at next: the playbook asks for what the rules still lack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from bot.question import Question
from tools.change import Change
from tools.evidence import AnyProbe, Evidence
from tools.probe import Probe, facts_of
from tools.rule import Rule

QUICK_S = 2.5  # looks up to here go first and together; those over a longer window follow


class Planner(Protocol):
    """Chooses probes; an empty answer ends the asking."""

    @property
    def beyond(self) -> bool:
        """Say whether the last round went beyond the playbook: what is lost of it was never seen."""

    def next(self, question: Question, evidence: Sequence[Evidence]) -> Sequence[AnyProbe]:
        """Return the next round of probes."""

    def remarks(self) -> Sequence[str]:
        """Return what a person should know of the planning, each sentence once."""

    def exchanges_kept(self) -> list[dict[str, Any]]:
        """Return what a model was given and said, as a case keeps it; empty where none was asked."""

    def changes(self) -> Sequence[Change]:
        """Return what a model would try; people decide on it."""


class Playbook:
    """Ask every routine probe whose facts some rule needs, quick looks first.

    `scope` is what is known of the host (port, log_path, source_path); a probe takes what it has
    a field for.
    """

    beyond = False

    def __init__(
        self,
        probes: Mapping[str, type[Probe[Any]]],
        rules: Sequence[Rule],
        scope: Mapping[str, Any] | None = None,
    ) -> None:
        self._probes = probes
        self._wanted = {need.facts for rule in rules for need in rule.needs}
        self._scope = scope or {}

    def next(self, question: Question, evidence: Sequence[Evidence]) -> Sequence[AnyProbe]:
        """Return what was not asked yet, of the quick looks first and then of the long ones."""
        asked = {type(look.probe) for look in evidence}
        left = [
            probe
            for probe in self._probes.values()
            if probe.routine and probe not in asked and facts_of(probe) in self._wanted
        ]
        quick = [probe for probe in left if probe.takes_s <= QUICK_S]
        return [self._put(probe, question) for probe in quick or left]

    def remarks(self) -> Sequence[str]:
        """A list has nothing to remark."""
        return ()

    def exchanges_kept(self) -> list[dict[str, Any]]:
        """No model was asked."""
        return []

    def changes(self) -> Sequence[Change]:
        """A list would try nothing."""
        return ()

    def _put(self, probe: type[Probe[Any]], question: Question) -> AnyProbe:
        scope = dict(self._scope)
        if question.port:
            scope["port"] = question.port
        return probe(
            **{
                name: value
                for name, value in scope.items()
                if name in probe.model_fields and value is not None
            }
        )
