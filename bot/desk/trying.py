"""A wish to try something becomes work: which change is meant, and the run that proposes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.approvals import clock
from bot.desk import words
from bot.desk.books import Books
from bot.desk.intake import Asked, Intake
from bot.desk.thread import Thread
from bot.desk.wish import Wish
from bot.narrator import Line
from bot.narrator.proposed import written
from bot.proposal.remedy import remedy
from bot.proposal.reverse import reverse
from bot.proposal.wanted import NotPossible, Wanted
from bot.settings import Settings
from bot.store import Run, Store
from bot.work.looks import judged_by

Found = Wanted | Sequence[Line]
_LAST = 20  # experiments of a host among which the one that is to be taken back must be


class Trying:
    """Says what is meant outside the transaction, for it judges; accepts it inside."""

    def __init__(self, store: Store, settings: Settings, books: Books, intake: Intake) -> None:
        self._store, self._settings = store, settings
        self._books, self._intake = books, intake

    def meant(self, meant: Wish, thread: Thread) -> Found:
        """Return the change that a message wishes for, or what is said instead."""
        if meant.wanted is not None:
            return meant.wanted
        if meant.back:
            return self._back(meant.hosts[0]) if meant.hosts else [words.line(words.NOTHING_KEPT)]
        return self.of_verdict(thread.about) if thread.about else [words.line(words.NO_VERDICT)]

    def of_verdict(self, run: Run) -> Found:
        """Return the best remedy of a verdict that a restart can carry out, or its remedy in words."""
        judged = judged_by(self._store, run, self._settings)
        if judged is None:
            return [words.line(words.NO_EVIDENCE)]
        if run.host and (found := remedy(judged)) is not None:
            return found
        best = judged.verdict.findings[0] if judged.verdict.cause else None
        steps: Sequence[str] = ()
        risk = ""
        if best:
            steps = [one for one in best.finding.remedy or best.rule.cause.remedy if one != "none"]
            risk = best.finding.risk or best.rule.cause.risk
        return words.by_hand(steps, risk)

    def propose(self, asked: Asked, host: str, wanted: Wanted) -> Sequence[Run]:
        """Accept it, inside the transaction of the desk."""
        return self._intake.proposal(asked, host, wanted.model_dump_json(), written(wanted.change))

    def of_button(self, asked: Asked, run: Run, wanted: Wanted) -> Sequence[Run]:
        """Accept what a verdict's button proposes; where that stands in the thread it is not made twice."""
        first = f"run:{run.id}:propose"
        earlier = self._store.runs.by_key(first)
        if earlier is None:
            return self.propose(replace(asked, key=first), run.host or "", wanted)
        offer = self._store.proposals.newest_in(run.channel, run.thread)
        if not earlier.ended:
            self._books.say(asked.place, asked.key, [words.line(words.PREPARING)], alone=True)
            return ()
        if (
            offer
            and offer.state == "pending"
            and self._store.proposals.pending_on(offer.host, offer.port)
        ):
            said = f"It is proposed in this thread already, until {clock(offer.expires_at)}."
            self._books.say(asked.place, asked.key, [words.line(said)], alone=True)
            return ()
        return self.propose(asked, run.host or "", wanted)

    def _back(self, host: str) -> Found:
        results = self._store.experiments.results(host, None, _LAST)
        kept = next((one for one in results if one.phase == "kept"), None)
        if kept is None:
            return [words.line(words.NOTHING_KEPT)]
        try:
            change = reverse(kept.proposal)
        except NotPossible as wrong:
            return [words.line(str(wrong))]
        why = f"it takes back what was kept at {clock(kept.ended_at or kept.began_at)}"
        return Wanted(change=change, goal=kept.proposal.keep.goal, why=why, back=True)
