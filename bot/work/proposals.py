"""A proposal is made: the server is looked at, and what may be approved is shown; or why nothing is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from pydantic import ValidationError

from bot.experiment.memory import tried
from bot.letter import Letter
from bot.narrator import Line
from bot.proposal import NotPossible, Wanted, propose
from bot.store import Offer, Run, Store
from bot.work import told
from bot.work.offering import UNREAD, Offering
from tools.change import Proposal

_MOST = 200  # earlier experiments that are looked through
_STOPPED = "Stopped: nothing is proposed, and nothing was changed."


class Proposals:
    """Carries out runs of kind proposal. Beside each stands what came of the same change before."""

    def __init__(self, offering: Offering, store: Store) -> None:
        self._offering, self._store = offering, store

    def carry_out(self, run: Run) -> None:
        """Look, and tell what is proposed; what cannot be is an end like any other."""
        try:
            wanted = Wanted.model_validate_json(run.message)
        except ValidationError:
            self._offering.end(run, [_not_possible(run, NotPossible(UNREAD))])
            return
        try:
            made = self._offering.made(
                run, lambda host, scope, tell: propose(host, wanted, scope, tell)
            )
        except NotPossible as why:
            self._offering.end(run, [_not_possible(run, why)])
            return
        if made is None:
            self._offering.stopped(run, _STOPPED)
            return
        proposal = made
        self._offering.show(run, made, lambda offer: self._card(offer, proposal, wanted))

    def _card(self, offer: Offer, proposal: Proposal, wanted: Wanted) -> Letter:
        letter = self._offering.card(offer, wanted.why)
        past = tried(
            self._store.experiments.results(None, None, _MOST),
            host=proposal.host,
            model=proposal.model,
            version=proposal.version,
            change=proposal.change,
        )
        return letter.model_copy(update={"parts": (*letter.parts[:-1], *past, letter.parts[-1])})


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
