"""A host is looked at: known looks are not asked again, each round is kept, the end is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bot.audience import Audience
from bot.experiment.memory import tried
from bot.investigate import Judged, Learned, conclude, investigate
from bot.letter import Letter
from bot.narrator import Explanation, Line, Part
from bot.narrator.changed import changed
from bot.narrator.proposed import written
from bot.planner import Planner, Playbook
from bot.proposal.wanted import Wanted
from bot.question import Question
from bot.settings import Settings
from bot.source.look import SourceLook
from bot.store import Run, Store
from bot.store.run import RunState
from bot.work import told
from bot.work.agents import Agents, nobody
from bot.work.ends import End, Ends
from bot.work.looks import judged_by, question_of, seen, silent
from bot.work.pairs import is_for_a_comparison
from bot.work.stops import Stops, Watch
from tools.case import Case
from tools.change import Change
from tools.errors import CaseError
from tools.evidence import Evidence
from tools.host import Host
from tools.probes import PROBES
from tools.rules import RULES

if TYPE_CHECKING:
    from bot.agent.agent import Agent

Reach = Callable[[str, Settings], Host]
Names = Callable[[str], str]
_OF_A_MODEL = "a model suggests it; nothing that was seen proves it"
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
        agents: Agents = nobody,
        meanwhile: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._store, self._settings = store, settings
        self._audience, self._ends, self._stops = audience, ends, stops
        self._host_of, self._names = host_of, names
        self._agents, self._meanwhile = agents, meanwhile

    def carry_out(self, run: Run) -> None:
        """Look, judge and tell. What goes wrong with the host is an end like any other."""
        name = run.host or ""
        question, (known, before) = question_of(run, self._settings), self._known(run)
        host = self._host_of(name, self._settings)
        self._audience.began(run, len(known))
        try:
            with self._stops.watching(run.id, host) as watch:
                with self._meanwhile():  # DNS and OpenSSH are asked, which may take seconds
                    agent = self._agents(name, question.port)
                planner = self._planner(agent, name, watch)
                end = self._look(run, question, host, planner, known, before, watch)
                explanation = self._explained(agent, question, end, planner, watch)
        finally:
            host.close()
        if explanation and (more := explanation.exchanges_kept()):
            exchanges = [*before, *planner.exchanges_kept(), *more]
            self._keep(run, host.name, question, seen(end.evidence), exchanges)
        self._ends.end(
            run,
            lambda one: self._end(one, end, watch.by, explanation if one.id == run.id else None),
        )
        if not watch.by:
            self._suggest(run, planner.changes())

    def _suggest(self, run: Run, changes: Sequence[Change]) -> None:
        """Have the first change that a model would try proposed to people, once."""
        if not changes or run.host is None:
            return
        wanted = Wanted(change=changes[0], why=_OF_A_MODEL)
        said = f"A model would try this on {run.host}: {written(changes[0])}. I prepare a proposal."
        with self._store.together():
            made = self._store.runs.add(
                f"run:{run.id}:agent",
                "proposal",
                host=run.host,
                port=run.port,
                channel=run.channel,
                thread=run.thread,
                user=run.user,
                text=said,
                message=wanted.model_dump_json(),
                about=run.id,
            )
            if made:
                self._store.letters.add(told.first_reply(made, said))
        if made:
            self._ends.enqueue(made)

    def _known(self, run: Run) -> tuple[list[Evidence], list[dict[str, Any]]]:
        """Return the looks that were taken before a restart, and what a model was told by then."""
        try:
            case = self._store.cases.load(run.id)
            return (case.evidence(PROBES), case.exchanges) if case else ([], [])
        except CaseError:
            return [], []  # another version wrote it: ask anew

    def _look(
        self,
        run: Run,
        question: Question,
        host: Host,
        planner: Planner,
        known: Sequence[Evidence],
        before: Sequence[dict[str, Any]],
        watch: Watch,
    ) -> Judged:
        looks, kept = list(known), len(known)
        scope = self._settings.host(run.host or "").scope()
        source = SourceLook(scope, port=question.port)
        events = investigate(
            question, planner, host, known=known, stopped=watch.asked, source=source
        )
        for event in events:
            if isinstance(event, Learned):
                looks.append(event.look)
            elif len(looks) > kept or (isinstance(event, Judged) and planner.exchanges_kept()):
                kept = len(looks)
                exchanges = [*before, *planner.exchanges_kept()]
                self._keep(run, host.name, question, looks, exchanges)
            self._audience.tell(run, event)
            if isinstance(event, Judged):
                return event
        raise AssertionError("an investigation ends with a verdict")

    def _planner(self, agent: Agent | None, name: str, watch: Watch) -> Planner:
        scope = self._settings.host(name).scope()
        playbook = Playbook(PROBES, RULES, scope)
        if agent is None:
            return playbook
        return agent.planner(playbook, scope, stopped=watch.asked, meanwhile=self._meanwhile)

    def _explained(
        self,
        agent: Agent | None,
        question: Question,
        end: Judged,
        planner: Planner,
        watch: Watch,
    ) -> Explanation | None:
        """Have the verdict explained; of a host that said nothing, or was left, there is nothing to explain."""
        if agent is None or watch.by or silent(seen(end.evidence)):
            return None
        return agent.explain(question, end, planner, stopped=watch.asked, meanwhile=self._meanwhile)

    def _keep(
        self,
        run: Run,
        name: str,
        question: Question,
        looks: Sequence[Evidence],
        exchanges: Sequence[dict[str, Any]],
    ) -> None:
        if not silent(looks):  # of a host that does not answer nothing is kept, and all asked again
            case = Case.of(name, question.text, "captured", looks, exchanges)
            self._store.cases.save(run.id, case)

    def _end(self, run: Run, end: Judged, by: str | None, explanation: Explanation | None) -> End:
        """Say how a run ends by these looks: the one that took them, or one that joined it."""
        looks = seen(end.evidence)
        if by:
            return self._stopped(run, looks, by)
        if looks and silent(looks):
            trouble = looks[0].trouble or _UNSEEN
            return End(run, "failed", [told.trouble_letter(run, trouble, _TODO)])
        own = replace(conclude(question_of(run, self._settings), looks), parted=end.parted)
        return self._told(run, own, "done", self._changes(run, own), explanation)

    def _stopped(self, run: Run, looks: Sequence[Evidence], by: str) -> End:
        answered = sum(not silent([look]) for look in looks)
        words = told.stopped(self._names(by), answered)
        if not answered:
            return End(run, "stopped", [told.trouble_letter(run, words)])
        own = conclude(question_of(run, self._settings), looks)
        return self._told(run, own, "stopped", [Line("lead", words)])

    def _told(
        self,
        run: Run,
        own: Judged,
        state: RunState,
        before: Sequence[Part],
        explanation: Explanation | None = None,
    ) -> End:
        question = question_of(run, self._settings)
        letters: Sequence[Letter] = ()
        if state != "done" or not is_for_a_comparison(self._store, run):
            letters = told.verdict_letters(
                run, question, own, before=before, after=self._tried(run), explanation=explanation
            )
        return End(run, state, letters, own.verdict.category, own.verdict.headline)

    def _tried(self, run: Run) -> Sequence[Part]:
        """Cite what was tried on this host before."""
        if run.host is None:
            return ()
        return tuple(tried(self._store.experiments.results(run.host, None, 10), host=run.host))

    def _changes(self, run: Run, now: Judged) -> Sequence[Part]:
        earlier = self._store.runs.get(run.about) if run.about else None
        before = judged_by(self._store, earlier, self._settings) if earlier else None
        if earlier is None or before is None:
            return ()
        age_s = run.asked_at - (earlier.ended_at or earlier.asked_at)
        return tuple(changed(before, now, age_s))
