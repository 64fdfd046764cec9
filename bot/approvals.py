"""Who approves what: one claim of exactly what was shown, and the run that carries it out; sync."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Literal

from bot.store import Offer, Run, Store

LIVES_S = 30 * 60.0  # of a proposal: what a person saw of the host is not older when they approve
Names = Callable[[str], str]
Decision = Literal["approved", "declined"]


class Approvals:
    """Decides on proposals, inside the transaction of who calls; rights are looked at before.

    A click counts where the proposal is pending, in its time, and what was shown is what is kept:
    the claim is one statement of the database, and the run it begins has a key of its own, so that
    of any number of clicks, on any number of replicas, one carries it out.
    """

    def __init__(self, store: Store, names: Names, now: Callable[[], float]) -> None:
        self._store, self._names, self._now = store, names, now

    def approve(self, offer: Offer, shown: str, user: str, channel: str, thread: str) -> Run | str:
        """Return the run that carries it out; or a sentence on why there is none."""
        if (why := self._why_not(offer, shown)) is not None:
            return why
        if (busy := self._busy(offer)) is not None:  # of this very one, where a click came before
            return self._why_not(self._again(offer), shown) or busy
        if not self._store.proposals.approve(offer.id, shown, user):
            return self._why_not(self._again(offer), shown) or "That has been decided meanwhile."
        run = self._store.runs.add(
            f"offer:{offer.id}:experiment",
            "campaign" if offer.plan else "experiment",
            host=offer.host,
            port=offer.port,
            channel=channel,
            thread=thread,
            user=user,
            text=f"carry out proposal {offer.id}",
            about=offer.run,
        )
        if run is None:
            raise AssertionError("a proposal is claimed once, and so its run is new")
        self._store.proposals.begun(offer.id, run.id)
        return run

    def decline(self, offer: Offer, shown: str, user: str) -> str | None:
        """Take it off the table; or return a sentence on why that changes nothing."""
        if (why := self._why_not(offer, shown)) is not None:
            return why
        if not self._store.proposals.decline(offer.id, user):
            return self._why_not(self._again(offer), shown) or "That has been decided meanwhile."
        return None

    def outcome(self, offer: Offer) -> str:
        """Say what became of a proposal, for its card."""
        who = self._names(offer.decided_by or "") or offer.decided_by or "somebody"
        when = f"{clock(offer.decided_at or self._now())}"
        match offer.state:
            case "approved":
                return f"Approved by {who} at {when}. It is being carried out in this thread."
            case "declined":
                return f"Declined by {who} at {when}. Nothing was changed."
            case "replaced":
                return (
                    f"Replaced by a newer proposal for this server at {when}. Nothing was changed."
                )
            case "expired":
                return f"Expired at {clock(offer.expires_at)}: nobody approved it. Nothing was changed."
            case _:
                return f"Expires at {clock(offer.expires_at)}."

    def _busy(self, offer: Offer) -> str | None:
        """Say that somebody else's change is under way there; None: nothing is."""
        holder = self._store.experiments.holder(offer.host, offer.port)
        if holder is not None:
            return (
                f"{offer.host}:{offer.port} is being changed by another experiment (run {holder}): "
                "approve this when that has ended."
            )
        where = (offer.host.lower(), offer.port)
        for run in self._store.runs.open():
            if run.kind == "campaign" and ((run.host or "").lower(), run.port) == where:
                return (
                    f"A plan is being carried out on {offer.host}:{offer.port}: approve this when that has ended, "
                    "or say “stop” in its thread."
                )
        return None

    def _again(self, offer: Offer) -> Offer:
        return self._store.proposals.get(offer.id) or offer

    def _why_not(self, offer: Offer, shown: str) -> str | None:
        """Return why a click on this proposal changes nothing; None where it counts."""
        if not shown == offer.digest == offer.body.digest:
            return "That button is not of this proposal: what it shows is not what I keep. Nothing was done."
        who = self._names(offer.decided_by or "") or offer.decided_by or "somebody"
        when = clock(offer.decided_at or offer.expires_at)
        match offer.state:
            case "approved":
                return f"{who} approved this at {when} already: it is carried out once."
            case "declined":
                return f"{who} declined this at {when}. Propose it again if it is wanted after all."
            case "replaced":
                return "There is a newer proposal for this server: this one counts no more."
            case "expired":
                return _EXPIRED
        return _EXPIRED if offer.expires_at <= self._now() else None


_EXPIRED = (
    "This proposal has expired: the host may have changed since. Propose it again, and I look anew."
)


def clock(at: float) -> str:
    """Write a time of today as people read it."""
    return f"{datetime.fromtimestamp(at, UTC):%H:%M} UTC"
