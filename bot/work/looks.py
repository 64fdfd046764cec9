"""What was learned, and by which question it is judged: the case of a run, or of the one it follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.investigate import Judged, conclude
from bot.question import Question
from bot.settings import Settings
from bot.store import Run, Store
from tools.case import Case
from tools.engine import Claim
from tools.evidence import Evidence
from tools.probes import PROBES

_DEEP = 50  # steps back: a thread may follow up on a follow-up


@dataclass(frozen=True)
class Learned:
    """The looks of a run, and the run that took them."""

    run: Run
    case: Case
    looks: tuple[Evidence, ...]


def question_of(run: Run, settings: Settings) -> Question:
    """Read the question of a run as the command reads one."""
    question = Question.of(run.text, settings.hosts)
    return replace(question, port=run.port or question.port)


def case_of(store: Store, run: Run) -> tuple[Run, Case] | None:
    """Return the case that a run stands on: its own, or of the run that it joined or follows."""
    current: Run | None = run
    for _ in range(_DEEP):
        if current is None:
            return None
        if case := store.cases.load(current.id):
            return current, case
        earlier = current.joins or current.about
        current = store.runs.get(earlier) if earlier else None
    return None


def hosts_of(store: Store, run: Run) -> frozenset[str]:
    """Return the hosts whose looks a run may show: those it was asked of, joined or follows too."""
    found: set[str] = set()
    current: Run | None = run
    for _ in range(_DEEP):
        if current is None:
            break
        found |= {current.host} if current.host else set()
        earlier = None if current.kind == "host" else current.joins or current.about
        current = store.runs.get(earlier) if earlier else None
    return frozenset(found)


def learned_by(store: Store, run: Run) -> Learned | None:
    """Return the looks that a run stands on, read with today's parsers."""
    found = case_of(store, run)
    if found is None:
        return None
    owner, case = found
    return Learned(owner, case, tuple(case.evidence(PROBES)))


def judged_by(store: Store, run: Run, settings: Settings) -> Judged | None:
    """Return the verdict on a run's own question."""
    learned = learned_by(store, run)
    return conclude(question_of(run, settings), learned.looks) if learned else None


def seen(looks: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """Return the looks without what a person claimed, which is part of the question."""
    return tuple(look for look in looks if not isinstance(look.facts, Claim))


def silent(looks: Sequence[Evidence]) -> bool:
    """Say whether nothing was answered at all."""
    return all(look.output is None or look.output.lost for look in looks)
