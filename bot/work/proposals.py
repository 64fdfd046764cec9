"""A proposal is made: the server is looked at, and what may be approved is shown; or why nothing is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from pydantic import ValidationError

from bot.approvals import LIVES_S, Approvals
from bot.audience import Audience
from bot.experiment.memory import tried
from bot.letter import Letter
from bot.narrator import Line
from bot.offers import card, decided
from bot.proposal import NotPossible, Wanted, propose
from bot.settings import Settings
from bot.store import Offer, Run, Store
from bot.work import told
from bot.work.ends import End, Ends
from bot.work.hosts import Names, Reach
from bot.work.stops import Stops
from tools.change import Proposal
from tools.errors import HostError

_MOST = 200  # earlier experiments that are looked through
_STOPPED = "Stopped: nothing is proposed, and nothing was changed."
_UNREAD = "Another version wrote down what was asked for, and I cannot read it: ask once more."


class Proposals:
    """Carries out runs of kind proposal. Nothing is changed by it; a person decides on what it shows."""

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
        """Look, and tell what is proposed; what cannot be is an end like any other."""
        try:
            wanted = Wanted.model_validate_json(run.message)
        except ValidationError:
            self._end(run, [_not_possible(run, NotPossible(_UNREAD))])
            return
        try:
            proposal = self._made(run, wanted)
        except NotPossible as why:
            self._end(run, [_not_possible(run, why)])
            return
        if proposal is None:
            stopped = told.trouble_letter(run, _STOPPED, again=False)
            self._ends.end(run, lambda one: End(one, "stopped", [stopped]))
            return
        before = self._store.proposals.pending_on(proposal.host, proposal.port)
        offer = self._store.proposals.add(
            run.id, proposal, user=run.user, channel=run.channel, thread=run.thread, lives_s=LIVES_S
        )
        shown = self._card(offer, wanted)
        over = [one for one in (before,) if one is not None and one.id != offer.id]
        gone = [letter for one in over if (letter := decided(self._store, one, self._approvals))]
        self._end(run, [shown, *gone])

    def _made(self, run: Run, wanted: Wanted) -> Proposal | None:
        """Return the proposal; None where somebody stopped it."""
        name = run.host or ""
        scope = dict(self._settings.host(name).scope()) | ({"port": run.port} if run.port else {})
        host = self._host_of(name, self._settings)
        self._audience.began(run, 0)
        try:
            with self._stops.watching(run.id, host) as watch:
                try:
                    made = propose(
                        host, wanted, scope, lambda event: self._audience.tell(run, event)
                    )
                except HostError:
                    if watch.asked():
                        return None
                    raise
                return None if watch.asked() else made
        finally:
            host.close()

    def _card(self, offer: Offer, wanted: Wanted) -> Letter:
        by = self._names(offer.user) or "somebody here"
        proposal = offer.proposal
        if proposal is None:
            raise AssertionError("this run proposed one change")
        letter = card(offer, self._approvals.outcome(offer), by, wanted.why)
        past = tried(
            self._store.experiments.results(None, None, _MOST),
            host=proposal.host,
            model=proposal.model,
            version=proposal.version,
            change=proposal.change,
        )
        return letter.model_copy(update={"parts": (*letter.parts[:-1], *past, letter.parts[-1])})

    def _end(self, run: Run, letters: Sequence[Letter]) -> None:
        self._ends.end(run, lambda one: End(one, "done", letters))


class Anew:
    """Proposes a change again, where the host is another one than was approved."""

    def __init__(self, store: Store, enqueue: Callable[[Run], None]) -> None:
        self._store, self._enqueue = store, enqueue

    def __call__(self, run: Run, proposal: Proposal) -> Sequence[Letter]:
        """Accept the work for it, once, and return what the thread is told."""
        about = self._store.runs.get(run.about) if run.about else None
        if about and about.kind == "campaign":
            return ()  # the plan goes on without it, and its ledger says so
        wanted = Wanted(change=proposal.change, goal=proposal.keep.goal)
        key = f"anew:{run.id}"
        made = self._store.runs.add(
            key,
            "proposal",
            host=proposal.host,
            port=proposal.port,
            channel=run.channel,
            thread=run.thread,
            user=run.user,
            text=f"propose it again for {proposal.host}",
            message=wanted.model_dump_json(),
            about=run.id,
        ) or self._store.runs.by_key(key)
        if made is None or made.ended:
            return ()
        self._enqueue(made)
        said = (
            f"The server on {proposal.host} is not the one that was approved any more, so nothing was done. "
            "I look again, and propose it anew."
        )
        return [told.first_reply(made, said)]


def _not_possible(run: Run, why: NotPossible) -> Letter:
    return Letter(
        key=f"run:{run.id}:verdict",
        kind="answer",
        channel=run.channel,
        thread=run.thread,
        run=run.id,
        parts=tuple(_told(why)),
    )


def _told(why: NotPossible) -> Iterator[Line]:
    yield Line("verdict", str(why))
    if why.steps:
        yield Line("heading", "By hand")
        yield from (Line("test", one) for one in why.steps)
