"""How one case is judged: by rules alone, or with a model that may look further and explain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any, Protocol

from bot.evaluation.bundle import Bundle
from bot.evaluation.row import Row, Spent
from bot.investigate import Asking, Judged, Noted, conclude, investigate
from bot.planner import Planner, Playbook
from bot.question import Question
from tools.hosts.replay import ReplayHost

NAME = "the files"  # as which the host of a case is told, so that no folder's name gives a hint


class Prose(Protocol):
    """What came of an explanation: `lines` stand in the evidence, `dropped` do not."""

    @property
    def lines(self) -> Sequence[Any]:
        """Sentences that are shown."""

    @property
    def dropped(self) -> Sequence[Any]:
        """Sentences that are not."""

    @property
    def ideas(self) -> Sequence[Any]:
        """Ideas that are shown as unproven."""


class Speaker(Protocol):
    """A model for one investigation, as the command and the bot use it."""

    def planner(self, playbook: Planner, scope: Mapping[str, Any]) -> Planner:
        """Return a planner that goes beyond the playbook."""

    def explain(self, question: Question, end: Judged) -> Prose:
        """Put the verdict into prose, checked."""

    def spent(self) -> Spent:
        """Return what was taken so far."""


def alone(bundle: Bundle) -> Row:
    """Judge a case as `diagnose` does without a model."""
    began = perf_counter()
    end = conclude(bundle.asked(), bundle.looks())
    return Row.of(bundle, end.verdict, perf_counter() - began)


def together(bundle: Bundle, speaker: Speaker) -> Row:
    """Judge a case with a model: it may think and ask for more, though files hold no more, and explains."""
    began = perf_counter()
    question = bundle.asked()
    planner = speaker.planner(Playbook({}, ()), {})
    calls, remarks = 0, list[str]()
    for event in investigate(question, planner, ReplayHost(NAME, {}), known=bundle.looks()):
        if isinstance(event, Asking):
            calls += len(event.probes)
        elif isinstance(event, Noted):
            remarks.append(event.text)
        elif isinstance(event, Judged):
            return _explained(bundle, speaker, event, began, calls=calls, remarks=tuple(remarks))
    raise AssertionError("an investigation ends with a verdict")


def _explained(
    bundle: Bundle,
    speaker: Speaker,
    end: Judged,
    began: float,
    *,
    calls: int,
    remarks: tuple[str, ...],
) -> Row:
    prose = speaker.explain(bundle.asked(), end)
    return Row.of(
        bundle,
        end.verdict,
        perf_counter() - began,
        tool_calls=calls,
        kept=len(prose.lines),
        dropped=len(prose.dropped),
        ideas=len(prose.ideas),
        spent=speaker.spent(),
        remarks=remarks,
    )
