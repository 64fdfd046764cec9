"""A host is looked at: known looks are not asked again, each round is kept, the end is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bot.audience import Audience
from bot.investigate import Judged, Learned, conclude, investigate
from bot.narrator import Line, Part
from bot.narrator.changed import changed
from bot.planner import Playbook
from bot.question import Question
from bot.settings import Settings
from bot.store import Run, Store
from bot.store.run import RunState
from bot.work import told
from bot.work.chart import alt_of
from bot.work.ends import End, Ends
from bot.work.looks import judged_by, question_of, seen, silent
from bot.work.stops import Stops, Watch
from tools.case import Case
from tools.errors import CaseError
from tools.evidence import Evidence
from tools.host import Host
from tools.probes import PROBES
from tools.rules import RULES

Reach = Callable[[str, Settings], Host]
Names = Callable[[str], str]
_UNSEEN = "Nothing of it could be seen."
_TODO = "When that is put right, press “Check again”."


class Hosts:
    """Carries out runs of kind host."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        audience: Audience,
        ends: Ends,
        stops: Stops,
        host_of: Reach,
        names: Names,
    ) -> None:
        self._store, self._settings = store, settings
        self._audience, self._ends, self._stops = audience, ends, stops
        self._host_of, self._names = host_of, names

    def carry_out(self, run: Run) -> None:
        """Look, judge and tell. What goes wrong with the host is an end like any other."""
        name = run.host or ""
        question, known = question_of(run, self._settings), self._known(run)
        host = self._host_of(name, self._settings)
        self._audience.began(run, len(known))
        try:
            with self._stops.watching(run.id, host) as watch:
                end = self._look(run, question, host, known, watch)
        finally:
            host.close()
        self._ends.end(run, lambda one: self._end(one, end, watch.by))

    def _known(self, run: Run) -> list[Evidence]:
        try:
            case = self._store.cases.load(run.id)
            return case.evidence(PROBES) if case else []
        except CaseError:
            return []  # another version wrote it: ask anew

    def _look(
        self, run: Run, question: Question, host: Host, known: Sequence[Evidence], watch: Watch
    ) -> Judged:
        playbook = Playbook(PROBES, RULES, self._settings.host(host.name).scope())
        looks, kept = list(known), len(known)
        events = investigate(question, playbook, host, known=known, stopped=watch.asked)
        for event in events:
            if isinstance(event, Learned):
                looks.append(event.look)
            elif len(looks) > kept:
                kept = len(looks)
                self._keep(run, host.name, question, looks)
            self._audience.tell(run, event)
            if isinstance(event, Judged):
                return event
        raise AssertionError("an investigation ends with a verdict")

    def _keep(self, run: Run, name: str, question: Question, looks: Sequence[Evidence]) -> None:
        if not silent(looks):  # of a host that does not answer nothing is kept, and all asked again
            self._store.cases.save(run.id, Case.of(name, question.text, "captured", looks))

    def _end(self, run: Run, end: Judged, by: str | None) -> End:
        """Say how a run ends by these looks: the one that took them, or one that joined it."""
        looks = seen(end.evidence)
        if by:
            return self._stopped(run, looks, by)
        if looks and silent(looks):
            trouble = looks[0].trouble or _UNSEEN
            return End(run, "failed", [told.trouble_letter(run, trouble, _TODO)])
        own = conclude(question_of(run, self._settings), looks)
        return self._told(run, own, "done", self._changes(run, own))

    def _stopped(self, run: Run, looks: Sequence[Evidence], by: str) -> End:
        answered = sum(not silent([look]) for look in looks)
        words = told.stopped(self._names(by), answered)
        if not answered:
            return End(run, "stopped", [told.trouble_letter(run, words)])
        own = conclude(question_of(run, self._settings), looks)
        return self._told(run, own, "stopped", [Line("lead", words)])

    def _told(self, run: Run, own: Judged, state: RunState, before: Sequence[Part]) -> End:
        question, alt = question_of(run, self._settings), alt_of(own.verdict.headroom)
        letters = told.verdict_letters(run, question, own, before=before, alt=alt)
        return End(run, state, letters, own.verdict.category, own.verdict.headline)

    def _changes(self, run: Run, now: Judged) -> Sequence[Part]:
        earlier = self._store.runs.get(run.about) if run.about else None
        before = judged_by(self._store, earlier, self._settings) if earlier else None
        if earlier is None or before is None:
            return ()
        age_s = run.asked_at - (earlier.ended_at or earlier.asked_at)
        return tuple(changed(before, now, age_s))
