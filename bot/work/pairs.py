"""A comparison and the looks that are taken for it: their keys begin with the key of the comparison."""

from __future__ import annotations

from bot.store import Run, Store

_SEAM = "#"  # between the key of what was asked and the host that is looked at for it


def key_of(asked: str, host: str) -> str:
    """Return the key of a look at one of several hosts that one message asks about."""
    return f"{asked}{_SEAM}{host}"


def asked_by(run: Run) -> str:
    """Return the key of the message that a look was asked by."""
    return run.key.split(_SEAM)[0]


def looks_for(store: Store, run: Run) -> list[Run]:
    """Return the looks that are taken for a comparison, in the order in which they were asked for."""
    there = store.runs.in_thread(run.channel, run.thread)
    return [
        one
        for one in there
        if one.kind == "host" and one.key != run.key and asked_by(one) == run.key
    ]


def is_for_a_comparison(store: Store, run: Run) -> bool:
    """Say whether a look is taken for a comparison, which tells what came of it."""
    asked = asked_by(run)
    if run.kind != "host" or asked == run.key:
        return False
    comparison = store.runs.by_key(asked)
    return comparison is not None and comparison.kind == "followup"


def awaited(store: Store, run: Run) -> Run | None:
    """Return what a comparison still has to wait for: a look of its own, or the one that this joined."""
    still = next((one for one in looks_for(store, run) if not one.ended), None)
    if still is None or still.joins is None:
        return still
    other = store.runs.get(still.joins)
    return other if other and not other.ended else None
