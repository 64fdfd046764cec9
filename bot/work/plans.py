"""A plan is made: the host is looked at, and the few changes that may be approved as one are shown; or why none."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import ValidationError

from bot.approvals import LIVES_S, Approvals
from bot.audience import Audience
from bot.letter import Letter
from bot.narrator import Line
from bot.offers import card, decided
from bot.proposal import NotPossible
from bot.settings import Settings
from bot.store import Run, Store
from bot.tuning.planning import NothingHelps, plan_for
from bot.tuning.tuning import Tuning
from bot.work import told
from bot.work.ends import End, Ends
from bot.work.hosts import Names, Reach
from bot.work.stops import Stops
from tools.change import Plan
from tools.errors import HostError

_STOPPED = "Stopped: nothing is planned, and nothing was changed."
_UNREAD = "Another version wrote down what was asked for, and I cannot read it: ask once more."


class Plans:
    """Carries out runs of kind plan. Nothing is changed by it; a person decides on what it shows."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        audience: Audience,
        ends: Ends,
        stops: Stops,
        host_of: Reach,
        names: Names,
        approvals: Approvals,
    ) -> None:
        self._store, self._settings = store, settings
        self._audience, self._ends, self._stops = audience, ends, stops
        self._host_of, self._names, self._approvals = host_of, names, approvals

    def carry_out(self, run: Run) -> None:
        """Look, and tell what is planned; that nothing is predicted to help is an end like any other."""
        try:
            plan = self._made(run, Tuning.model_validate_json(run.message))
        except ValidationError:
            self._end(run, [_said(run, _UNREAD)])
            return
        except NothingHelps as why:
            self._end(run, [_said(run, why.sentence, why.left_out)])
            return
        except NotPossible as why:
            self._end(run, [_said(run, str(why))])
            return
        if plan is None:
            stopped = told.trouble_letter(run, _STOPPED, again=False)
            self._ends.end(run, lambda one: End(one, "stopped", [stopped]))
            return
        before = self._store.proposals.pending_on(plan.host, plan.port)
        offer = self._store.proposals.add(
            run.id, plan, user=run.user, channel=run.channel, thread=run.thread, lives_s=LIVES_S
        )
        by = self._names(offer.user) or "somebody here"
        shown = card(offer, self._approvals.outcome(offer), by)
        over = [one for one in (before,) if one is not None and one.id != offer.id]
        gone = [letter for one in over if (letter := decided(self._store, one, self._approvals))]
        self._end(run, [shown, *gone])

    def _made(self, run: Run, tuning: Tuning) -> Plan | None:
        """Return the plan; None where somebody stopped it."""
        name = run.host or ""
        scope = dict(self._settings.host(name).scope()) | ({"port": run.port} if run.port else {})
        host = self._host_of(name, self._settings)
        self._audience.began(run, 0)
        try:
            with self._stops.watching(run.id, host) as watch:
                try:
                    made = plan_for(
                        host,
                        tuning,
                        scope,
                        tuple(self._settings.hosts),
                        lambda event: self._audience.tell(run, event),
                    )
                except (HostError, NotPossible):
                    if watch.asked():
                        return None
                    raise
                return None if watch.asked() else made
        finally:
            host.close()

    def _end(self, run: Run, letters: Sequence[Letter]) -> None:
        self._ends.end(run, lambda one: End(one, "done", letters))


def _said(run: Run, text: str, left_out: Sequence[tuple[str, str]] = ()) -> Letter:
    whys = [Line("item", f"{name}: {why.rstrip('.')}.") for name, why in left_out]
    heading = [Line("heading", "Not tried")] if whys else []
    return told.answer_letter(run, [Line("verdict", text), *heading, *whys])
