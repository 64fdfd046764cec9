"""What a difference between two states of one deployment costs, in ms and in percent of the rate.

Only differences count here, so host and kernels cancel. Link differences were right within
+18 / -25 % on the four pairs of tools/knowledge/links.json (RTX 3090 and 5060 Ti, 4-bit 27B); on
other cards a predicted difference is taken as good to a factor of 0.6 to 1.75.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tools.errors import Undecided
from tools.knowledge.links import link_data
from tools.physics.deployment import Deployment
from tools.physics.interval import Interval
from tools.physics.link import Link
from tools.physics.prefill import CHUNK, RATE_ERROR, prefill_rate
from tools.physics.spread import LINK_DOWN, LINK_UP
from tools.physics.step import decode_step

_FAR_DOWN, _FAR_UP = 0.4, 0.75  # of a predicted difference, on cards that no pair measured
_PART = 0.35  # of a difference of memory or host: one part of a step, not the sum that was fitted
_BULK = 0.07  # large copies are known better: 86 to 89 % of raw, published


@dataclass(frozen=True)
class Cost:
    """What a state costs against a better one; negative percent is a loss of rate."""

    decode_ms: Interval  # added to each step
    decode_pct: Interval
    prefill_pct: Interval | None
    source: str


def link_effect(
    deployment: Deployment,
    good: Link,
    bad: Link,
    *,
    step_ms: float | None = None,
    chunk: int = CHUNK,
) -> Cost:
    """Return what the link `bad` costs against the link `good`; `step_ms` is the measured step."""
    return effect(deployment.over(good), deployment.over(bad), step_ms=step_ms, chunk=chunk)


def effect(
    normal: Deployment, now: Deployment, *, step_ms: float | None = None, chunk: int = CHUNK
) -> Cost:
    """Return what the state `now` costs against the state `normal`."""
    fast, slow = decode_step(normal), decode_step(now)
    predicted = slow.ms.mid - fast.ms.mid
    if normal.link == now.link:
        added = Interval.around(predicted, down=_PART, up=_PART)
    else:
        added = difference_ms(now, predicted)
    took = (
        max(step_ms, slow.ms.lo) if step_ms else slow.ms.mid
    )  # a step without the fault tells less
    base = max(took - added.mid, 0.05 * took)
    share = normal.batch * normal.accept_len / (now.batch * now.accept_len)
    losses = [(base / (base + ms) / share - 1) * 100 for ms in (added.hi, added.mid, added.lo)]
    return Cost(
        decode_ms=added,
        decode_pct=Interval(*losses).rounded(),
        prefill_pct=_prefill_pct(normal, now, chunk),
        source=_source(now),
    )


def slower_by(added: Interval, base_ms: float, source: str) -> Cost:
    """Return what milliseconds that are added to each step cost, against the step without them."""
    base = max(base_ms, 1e-3)
    losses = ((base / (base + ms) - 1) * 100 for ms in (added.hi, added.mid, added.lo))
    return Cost(added, Interval(*losses).rounded(), None, source)


def difference_ms(d: Deployment, predicted: float) -> Interval:
    """Return a predicted difference in ms with what it may be."""
    measured = {pair["gpu"] for pair in link_data()["pairs"]}
    if d.gpu.name in measured:  # predicted / measured was within 1 - DOWN and 1 + UP
        ends = sorted((predicted / (1 + LINK_UP), predicted / (1 - LINK_DOWN)))
        return Interval(ends[0], predicted, ends[1])
    return Interval.around(predicted, down=_FAR_DOWN, up=_FAR_UP)


def _prefill_pct(normal: Deployment, now: Deployment, chunk: int) -> Interval | None:
    try:
        fast, slow = prefill_rate(normal, chunk), prefill_rate(now, chunk)
    except Undecided:
        return None

    def loss(arithmetic: float, links: float) -> float:
        before = fast.compute_ms * arithmetic + fast.links_ms * links
        after = slow.compute_ms * arithmetic + slow.links_ms * links
        return (before / after - 1) * 100

    corners = [loss(1 / (1 + a * RATE_ERROR), 1 + b * _BULK) for a in (-1, 1) for b in (-1, 1)]
    return Interval(min(corners), loss(1.0, 1.0), max(corners)).rounded()


def _source(d: Deployment) -> str:
    bits = round(d.checkpoint.weight_bytes * 8)
    what = f"this model with {bits}-bit weights, TP {d.tp}, {d.gpu.name}"
    return f"the step model for {what}; not measured on this host"


def repaired(deployment: Deployment, gen: int, width: int) -> Deployment:
    """Return the deployment with its PCIe link at another generation and width."""
    good = Link.pcie(gen, width, p2p=deployment.link.p2p, custom=deployment.link.custom)
    return replace(deployment, link=good)
