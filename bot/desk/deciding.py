"""Approve and Decline: who presses is authorised anew, and one click of all counts; sync."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bot.access import Access, Asker
from bot.approvals import Approvals
from bot.desk import words
from bot.desk.books import Books, Place
from bot.letter import Button
from bot.narrator.proposed import written
from bot.offers import decided, expire
from bot.store import Offer, Run, Store

Names = Callable[[str], str]
_NAMED = "UW"  # how ids of users begin


class Deciding:
    """Decides on proposals. `refusal` asks the workspace, so it is no part of a transaction."""

    def __init__(
        self, store: Store, access: Access, books: Books, approvals: Approvals, names: Names
    ) -> None:
        self._store, self._access, self._books = store, access, books
        self._approvals, self._names = approvals, names

    def refusal(self, button: Button, offer: Offer | None, place: Place) -> str | None:
        """Return why this person may not decide this, from there; None: they may."""
        if offer is None:
            return words.GONE
        asker = Asker(place.user, place.channel)
        if (refused := self._access.refusal(asker, offer.host)) is not None:
            return refused
        if (offer.channel, offer.thread) != (place.channel, place.thread):
            return words.ELSEWHERE
        if self._access.may_approve(asker, offer.host):
            return None
        if button == "decline":
            return None if place.user == offer.user else words.NOT_YOURS
        return words.may_not_approve(offer.host, self._approvers(offer.host))

    def press(
        self, button: Button, offer: Offer, shown: str, place: Place, name: str
    ) -> tuple[Sequence[Run], str]:
        """Decide, inside the transaction of the desk; return what is to be enqueued, and the outcome."""
        if button == "approve":
            made = self._approvals.approve(offer, shown, place.user, offer.channel, offer.thread)
        else:
            made = self._approvals.decline(offer, shown, place.user) or ""
        outcome = "done"
        if isinstance(made, Run):
            self._begun(made, offer, self._names(place.user) or "somebody who may")
            outcome = f"accepted (run {made.id})"
        elif made:
            self._books.say(place, name, [words.line(made)], alone=True)
            outcome = f"refused: {made}"
        expire(self._store, self._approvals)
        if letter := decided(self._store, offer, self._approvals):
            self._store.letters.add(letter)
        return ([made] if isinstance(made, Run) else []), outcome

    def _begun(self, run: Run, offer: Offer, by: str) -> None:
        """Say that it begins: one change in a trail of its own, of a plan each change has one."""
        if offer.proposal is not None:
            what = written(offer.proposal.change)
            self._books.open_trail(run, words.trying(offer.host, what, by))
        elif offer.plan is not None:
            place = Place(run.user, run.channel, run.thread)
            said = words.tuning(offer.host, len(offer.plan.proposals), by)
            self._books.say(place, f"run:{run.id}:begun", said, run=run.id)

    def _approvers(self, host: str) -> list[str]:
        """Return who may approve, by name where they are users that we know, else by kind."""
        told: list[str] = []
        for one in self._access.approvers(host):
            name = self._names(one) if one[0] in _NAMED else ""
            told.append(name or {"S": "a user group", "C": "a channel"}.get(one[0], "somebody"))
        return list(dict.fromkeys(told))
