"""An approved plan is carried out, a step a run: each begins the next change, or tells the ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.audience import Audience
from bot.narrator import Line
from bot.narrator.proposed import written
from bot.proposal.wanted import NotPossible
from bot.settings import Settings
from bot.store import Offer, Run, Store
from bot.store.run import RunKind, RunState
from bot.tuning.campaign import Try, ended, left_out
from bot.tuning.ledger import of_campaign, summary
from bot.tuning.planning import anew
from bot.tuning.tuning import Tuning
from bot.work import told
from bot.work.ends import End, Ends
from bot.work.hosts import Names, Reach
from bot.work.so_far import Entry, SoFar
from bot.work.stops import Stops, Watch
from tools.change import Plan, Proposal
from tools.errors import HostError, ToolsError
from tools.host import Host

_EDITED = (
    "This plan is not the one that was approved any more, so nothing was done. Ask for it once more"
)


class _Stopped(Exception):
    """Somebody asked for an end while the next change was being prepared."""


@dataclass(frozen=True)
class _Step:
    """One step: the run it is, the plan it belongs to, as approved."""

    run: Run
    offer: Offer
    plan: Plan


class Campaigns:
    """Carries out runs of kind campaign. A step may be begun again at any moment: what it begins, it begins once.

    The change itself is an experiment like any other, approved with the plan; the next step waits for
    its end, so that a crash between two steps loses nothing. `now` is in seconds since the epoch.
    """

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
        self._store, self._settings, self._audience = store, settings, audience
        self._ends, self._stops = ends, stops
        self._host_of, self._names = host_of, names

    def carry_out(self, run: Run) -> None:
        """Begin the next change, or tell what was tried. Raises ToolsError where there is no such plan."""
        so_far = SoFar.of(run, self._store)
        offer = self._store.proposals.get(so_far.offer)
        plan = offer.plan if offer and offer.state == "approved" else None
        if offer is None or plan is None or offer.digest != plan.digest:
            raise ToolsError(_EDITED)
        step = _Step(run, offer, plan)
        host = self._host_of(run.host or "", self._settings)
        try:
            with self._stops.watching(run.id, host) as watch:
                left: SoFar | None = so_far
                while left is not None:
                    left = self._next_or_lost(step, left, host, watch)
        finally:
            host.close()

    def _next_or_lost(self, step: _Step, so_far: SoFar, host: Host, watch: Watch) -> SoFar | None:
        try:
            return self._next(step, so_far, host)
        except HostError as lost:
            if watch.asked():  # what was asked was cut by that
                return so_far
            why = f"The host does not answer: {str(lost).rstrip('.')}."
            self._tell(step, so_far, so_far.tries(step.plan, self._store), why)
            return None

    def _next(self, step: _Step, so_far: SoFar, host: Host) -> SoFar | None:
        """Leave the next change out, and return what is left; None: this step is over."""
        plan, tries = step.plan, so_far.tries(step.plan, self._store)
        spent_s = self._store.now() - so_far.began_at
        if why := self._stopped(step, so_far) or ended(plan, tries, spent_s):
            self._tell(step, so_far, tries, why)
            return None
        try:
            proposal = anew(host, plan.proposals[len(tries)], self._scope(step))
        except NotPossible as no:
            return so_far.and_then(Entry(why=str(no)))
        if not so_far.entries and proposal.identity != plan.proposals[0].identity:
            self._plan_anew(step)
            return None
        if why_not := left_out(plan, tries, proposal):
            return so_far.and_then(Entry(why=why_not))
        return None if self._began(step, so_far, proposal) else so_far

    def _began(self, step: _Step, so_far: SoFar, proposal: Proposal) -> bool:
        """Begin a change, and let the next step wait for it. False: somebody asked for an end meanwhile."""
        try:
            with self._store.together():
                child = self._accepted(step, so_far, proposal)
        except _Stopped:
            return False
        if child is not None:
            self._audience.letters()
            self._ends.enqueue(child)
        return True

    def _accepted(self, step: _Step, so_far: SoFar, proposal: Proposal) -> Run | None:
        """Write it down, in one transaction; None: another process has done this step."""
        run, store, number = step.run, self._store, len(so_far.entries) + 1
        if not store.runs.end(run.id, "done"):
            return None
        if self._asked_to_stop(run):
            raise _Stopped
        change = written(proposal.change)
        child = self._add(run, f"offer:{step.offer.id}:try:{number}", "experiment",
                          text=f"carry out change {number} of plan {step.offer.id}")  # fmt: skip
        store.proposals.add_within(step.offer, run.id, proposal, child.id)
        waits = so_far.and_then(Entry(run=child.id))
        self._add(run, f"offer:{step.offer.id}:step:{number}", "campaign",
                  message=waits.model_dump_json(), joins=child)  # fmt: skip
        said = f"Change {number} of {len(step.plan.proposals)} on {proposal.host}: {change}."
        first = told.first_reply(child, said)
        more = Line("text", "Stop takes it back, and ends the plan.")
        store.letters.add(first.model_copy(update={"parts": (*first.parts, more)}))
        by = step.offer.decided_by or run.user
        outcome = f"accepted (run {child.id}), proposal digest {proposal.digest[:12]}"
        store.audit.note(by, run.channel, "try of a plan", change, outcome, proposal.host)
        return child

    def _add(
        self,
        run: Run,
        key: str,
        kind: RunKind,
        *,
        message: str = "",
        text: str = "",
        joins: Run | None = None,
    ) -> Run:
        """Accept what follows a step, in its thread and for who approved it."""
        made = self._store.runs.add(
            key,
            kind,
            host=run.host,
            port=run.port,
            channel=run.channel,
            thread=run.thread,
            user=run.user,
            text=text,
            message=message,
            joins=joins.id if joins else None,
            about=run.id,
            state="joined" if joins else "waiting",
        )
        if made is None:
            raise AssertionError("a step is ended once, and so what follows it is new")
        return made

    def _plan_anew(self, step: _Step) -> None:
        """Make another plan, for the server that is there now."""
        tuning = Tuning(goal=step.plan.goal, budget_s=step.plan.budget_s)
        said = (
            f"The server on {step.plan.host} is not the one that was approved any more, so nothing was done. "
            "I look again, and plan anew."
        )
        with self._store.together():
            if not self._store.runs.end(step.run.id, "done"):
                return
            made = self._add(
                step.run, f"anew:{step.run.id}", "plan", message=tuning.model_dump_json()
            )
            self._store.letters.add(told.first_reply(made, said))
        self._audience.letters()
        self._ends.enqueue(made)

    def _tell(self, step: _Step, so_far: SoFar, tries: Sequence[Try], why: str) -> None:
        letter = told.answer_letter(step.run, tuple(of_campaign(step.plan.goal, tries, why)))
        stopped = bool(self._stopped(step, so_far))
        person = bool(tries) and tries[-1].end == "needs a person"
        state: RunState = "failed" if person else "stopped" if stopped else "done"
        self._ends.end(step.run, lambda one: End(one, state, [letter], headline=summary(tries)))

    def _stopped(self, step: _Step, so_far: SoFar) -> str:
        last = so_far.last(self._store)
        by = self._asked_to_stop(step.run) or (last.stop_by if last else None)
        return f"Stopped by {self._names(by) or by}." if by else ""

    def _asked_to_stop(self, run: Run) -> str | None:
        return self._store.runs.stop_asked([run.id]).get(run.id)

    def _scope(self, step: _Step) -> Mapping[str, object]:
        """Return where the server is, as it was asked for when the plan was made."""
        planned = self._store.runs.get(step.offer.run)
        port = planned.port if planned else step.run.port
        scope = dict(self._settings.host(step.plan.host).scope())
        return scope | ({"port": port} if port else {})
