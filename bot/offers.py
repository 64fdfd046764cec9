"""The card of a proposal or a plan, as letters: when it is made, and again when it is decided."""

from __future__ import annotations

from collections.abc import Iterator

from bot.approvals import Approvals
from bot.letter import Letter
from bot.narrator import Line, Part
from bot.narrator.proposed import in_short, proposed
from bot.store import Offer, Store
from bot.tuning import ledger
from tools.change import Plan, Proposal


def card(offer: Offer, outcome: str, by: str, why: str = "") -> Letter:
    """Return the letter that shows a proposal for approval; `by` is what who asked is called."""
    parts = (*_shown(offer.body, why), Line("said", f"Asked for by {by}. {outcome}"))
    return Letter(
        key=key_of(offer),
        kind="answer",
        channel=offer.channel,
        thread=offer.thread,
        run=offer.run,
        parts=parts,
        buttons=("approve", "decline"),
        shown=offer.digest,
        asks=ledger.in_short(offer.body) if isinstance(offer.body, Plan) else in_short(offer.body),
    )


def _shown(body: Proposal | Plan, why: str) -> Iterator[Part]:
    return ledger.of_plan(body) if isinstance(body, Plan) else proposed(body, why)


def decided(store: Store, offer: Offer, approvals: Approvals) -> Letter | None:
    """Return the letter by which the card says what became of it, without buttons."""
    before = store.letters.get(key_of(offer))
    now = store.proposals.get(offer.id)
    if before is None or now is None or now.state == "pending":
        return None
    parts = (*before.parts[:-1], Line("lead", approvals.outcome(now)))
    told = {"key": f"{key_of(offer)}:{now.state}", "edits": key_of(offer), "parts": parts}
    return before.model_copy(update={**told, "buttons": (), "shown": "", "asks": ""})


def expire(store: Store, approvals: Approvals) -> int:
    """Let proposals that nobody decided expire; their cards say so. Return how many."""
    with store.together():
        gone = store.proposals.expire()
        for offer in gone:
            if letter := decided(store, offer, approvals):
                store.letters.add(letter)
    return len(gone)


def key_of(offer: Offer) -> str:
    """Return the key of a proposal's card."""
    return f"offer:{offer.id}:card"
