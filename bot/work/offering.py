"""What a person may approve: it is made by looking at a host, and shown in the place of one that waits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from bot.approvals import LIVES_S, Approvals
from bot.audience import Audience
from bot.investigate import Event
from bot.letter import Letter
from bot.offers import card, decided
from bot.proposal import NotPossible
from bot.settings import Settings
from bot.store import Offer, Run, Store
from bot.work import told
from bot.work.ends import End, Ends
from bot.work.hosts import Names, Reach
from bot.work.stops import Stops
from tools.change import Plan, Proposal
from tools.errors import HostError
from tools.host import Host

M = TypeVar("M", Proposal, Plan)
Make = Callable[[Host, Mapping[str, Any], Callable[[Event], None]], M]
UNREAD = "Another version wrote down what was asked for, and I cannot read it: ask once more."


class Offering:
    """One look at a host, and one card. Nothing is changed by it; a person decides on what it shows."""

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

    def made(self, run: Run, make: Make[M]) -> M | None:
        """Return what `make` makes of the run's host; None where somebody stopped it."""
        name = run.host or ""
        scope = dict(self._settings.host(name).scope()) | ({"port": run.port} if run.port else {})
        host = self._host_of(name, self._settings)
        self._audience.began(run, 0)
        try:
            with self._stops.watching(run.id, host) as watch:
                try:
                    made = make(host, scope, lambda event: self._audience.tell(run, event))
                except (HostError, NotPossible):
                    if watch.asked():
                        return None
                    raise
                return None if watch.asked() else made
        finally:
            host.close()

    def card(self, offer: Offer, why: str = "") -> Letter:
        """Return the card of an offer; `why` is the reason that was given for the wish."""
        by = self._names(offer.user) or "somebody here"
        return card(offer, self._approvals.outcome(offer), by, why)

    def show(self, run: Run, made: Proposal | Plan, letter: Callable[[Offer], Letter]) -> None:
        """Offer it and end the run with its letter; what waited on that server is told as replaced."""
        before = self._store.proposals.pending_on(made.host, made.port)
        offer = self._store.proposals.add(
            run.id, made, user=run.user, channel=run.channel, thread=run.thread, lives_s=LIVES_S
        )
        shown = letter(offer)
        over = [one for one in (before,) if one is not None and one.id != offer.id]
        gone = [other for one in over if (other := decided(self._store, one, self._approvals))]
        self.end(run, [shown, *gone])

    def stopped(self, run: Run, sentence: str) -> None:
        """End the run as somebody stopped it."""
        letter = told.trouble_letter(run, sentence, again=False)
        self._ends.end(run, lambda one: End(one, "stopped", [letter]))

    def end(self, run: Run, letters: Sequence[Letter]) -> None:
        """End the run with what is told of it."""
        self._ends.end(run, lambda one: End(one, "done", letters))
