"""What the step model says of a change, or why it cannot say anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from tools.change import Change, Predicted
from tools.engine import Launch, ServerInfo, ServerLog
from tools.engine.launch import Value
from tools.errors import Undecided
from tools.known import Known
from tools.physics.deployment import Deployment
from tools.physics.interval import Interval
from tools.physics.prefill import CHUNK, RATE_ERROR, prefill_rate
from tools.physics.seen import Seen
from tools.physics.whatif import Today, would_be

_BY = "by the step model"


def predicted(change: Change, known: Known) -> Predicted:
    """Return the gain in percent of today's rates; `why` says by what, or why there is none."""
    if change.env or change.unset_env:
        return Predicted(why="what a variable does is not modelled")
    before = Seen.of(known.get)
    after = _changed(before, change)
    try:
        today = Today.of(before)
        then = _moved(today.deployment, before.deployment(), after.deployment())
        if (
            then.draft_forwards != today.deployment.draft_forwards
            or then.verify_tokens != today.deployment.verify_tokens
        ):
            raise Undecided("how many drafts your prompts would then accept is not known")
        chunk = after.chunk or CHUNK
        if then == today.deployment and chunk == today.chunk:
            return Predicted(why="the step model does not know what this flag does")
        return _told(today, then, chunk)
    except Undecided as why:
        return Predicted(why=why.why)


def _told(today: Today, then: Deployment, chunk: int) -> Predicted:
    gives = would_be(today, then)
    decode = gives.decode_pct if then != today.deployment else None
    prefill = _chunked(today, then, chunk) if chunk != today.chunk else gives.prefill_pct
    return Predicted(decode_pct=_plain(decode), prefill_pct=_plain(prefill), why=_BY)


def _chunked(today: Today, then: Deployment, chunk: int) -> Interval:
    """Return what chunks of another size give a cold prompt; arithmetic and links each within their error."""
    old, new = prefill_rate(today.deployment, today.chunk), prefill_rate(then, chunk)

    def gain(arithmetic: float) -> float:
        was = (old.compute_ms * arithmetic + old.links_ms) / old.chunk
        will = (new.compute_ms * arithmetic + new.links_ms) / new.chunk
        return (was / will - 1) * 100

    ends = sorted((gain(1 - RATE_ERROR), gain(1 + RATE_ERROR)))
    return Interval(ends[0], gain(1.0), ends[1]).rounded()


def _moved(today: Deployment, before: Deployment, after: Deployment) -> Deployment:
    """Return today's deployment, as measured, with what the change alone makes different."""
    names = [one.name for one in fields(Deployment)]
    moved = {
        name: getattr(after, name)
        for name in names
        if getattr(before, name) != getattr(after, name)
    }
    return replace(today, **moved)


def _changed(seen: Seen, change: Change) -> Seen:
    """Return what would be seen of the server with the change."""
    launch = seen.launch or Launch(flags={})
    flags = _turned(launch.flags or {}, change)
    told: dict[str, Any] = {"launch": launch.model_copy(update={"flags": flags})}
    if isinstance(seen.info, ServerInfo):
        effective = tuple(_turned(one, change) for one in seen.info.effective)
        told["info"] = seen.info.model_copy(
            update={"resolved": _turned(seen.info.resolved, change), "effective": effective}
        )
    if isinstance(seen.log, ServerLog) and seen.log.resolved:
        told["log"] = seen.log.model_copy(update={"resolved": _turned(seen.log.resolved, change)})
    return replace(seen, **told)


def _turned(values: Mapping[str, Value], change: Change) -> dict[str, Value]:
    kept = {name: value for name, value in values.items() if name not in change.unset}
    return {**kept, **change.set}


def _plain(pct: Interval | None) -> tuple[float, float, float] | None:
    if pct is None:
        return None
    low, mid, high = pct.rounded()
    return low, mid, high
