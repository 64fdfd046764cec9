"""What would X give: the changes that a deployment could have, each against today."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tools.errors import Undecided
from tools.physics.checkpoint import Checkpoint
from tools.physics.deployment import HOST_MS, Deployment
from tools.physics.interval import Interval
from tools.physics.link import Link
from tools.physics.seen import Seen
from tools.physics.whatif import Today, would_be

LEAST_PCT = 1.0  # of either rate; less is not worth a line
_EASIER = 0.5  # of an accept length: prompts that are easier to draft
_BATCH = 4


@dataclass(frozen=True)
class Gain:
    """A change and what it gives, in percent of today's rates; positive is faster."""

    change: str
    decode_pct: Interval
    prefill_pct: Interval | None = None

    def as_json(self) -> dict[str, object]:
        """Return it as the report prints it."""
        prefill = self.prefill_pct.rounded() if self.prefill_pct else None
        return {
            "change": self.change,
            "decode_pct": self.decode_pct.rounded(),
            "prefill_pct": prefill,
        }


def gains(today: Today, seen: Seen) -> tuple[Gain, ...]:
    """Return what each change would give, the largest first; without those that give nothing."""
    told = []
    for change, after in _changes(today.deployment, seen):
        try:
            gives = would_be(today, after)
        except Undecided:
            continue
        prefill = gives.prefill_pct if gives.prefill_pct and any(gives.prefill_pct) else None
        gain = Gain(change, gives.decode_pct, prefill)
        if _best(gain) >= LEAST_PCT:
            told.append(gain)
    return tuple(sorted(told, key=_best, reverse=True))


def _best(gain: Gain) -> float:
    return max(gain.decode_pct.mid, gain.prefill_pct.mid if gain.prefill_pct else 0.0)


def _changes(now: Deployment, seen: Seen) -> Iterator[tuple[str, Deployment]]:
    if now.tp > 1:
        yield from _links(now, seen)
    yield from _formats(now, seen)
    if now.draft_forwards and now.accept_len + _EASIER <= now.draft_forwards + 1:
        easier = now.accept_len + _EASIER
        yield f"prompts of an accept length of {easier:.2g}", replace(now, accept_len=easier)
    if not now.graph:
        yield "CUDA graphs on", replace(now, graph=True)
    for slow, fast in (("spec_v1", "spec_v2"), ("no_overlap", "overlap")):
        if now.host_ms == HOST_MS[slow]:
            yield "the overlap schedule on", replace(now, host_ms=HOST_MS[fast])
    yield (
        f"{_BATCH} times the streams (all together)",
        replace(now, batch=now.batch * _BATCH),
    )


def _links(now: Deployment, seen: Seen) -> Iterator[tuple[str, Deployment]]:
    try:
        good = seen.link(repaired=True)
    except Undecided:
        good = now.link
    if good.raw_gb_s > now.link.raw_gb_s:
        yield f"the link repaired to {good.name}", now.over(good)
    if now.link.nvlink:
        return
    if not now.link.p2p:
        peer = replace(now.link, p2p=True, custom=True)
        yield "peer access between the GPUs", now.over(peer)
    elif not now.link.custom and now.tp == 2:
        yield "the engine's own all-reduce", now.over(replace(now.link, custom=True))
    if card := now.gpu.nvlink:
        bridge = Link.nv(card.both_ways_gb_s / 2, custom=True)
        yield "an NVLink bridge", now.over(bridge)


def _formats(now: Deployment, seen: Seen) -> Iterator[tuple[str, Deployment]]:
    if seen.config is None or now.checkpoint.weight_bytes < 2 or now.checkpoint.expert_bytes:
        return
    for name, told in (("fp8", "8-bit weights"), ("int4", "4-bit weights")):
        packed = replace(
            Checkpoint.of(seen.config, quantization=name), state_gb=now.checkpoint.state_gb
        )
        yield f"{told} (quality is yours to judge)", replace(now, checkpoint=packed)
