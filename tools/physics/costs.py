"""What a confirmed cause costs this deployment: the state as it runs against the one without the cause.

Rules find a cause by facts and have an estimate for deployments of which too little is known; where
model, GPUs, link and load are known, the step model's own difference goes before it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from tools.errors import Undecided
from tools.physics.as_measured import as_measured
from tools.physics.deployment import HOST_MS, Deployment
from tools.physics.effect import Cost, effect
from tools.physics.link import Link
from tools.physics.losses import link_loss
from tools.physics.prefill import CHUNK
from tools.physics.seen import Get, Seen
from tools.physics.under_load import measured

States = tuple[Deployment, Deployment]  # without the cause, and with it
P2_SHARE = 0.96  # of the highest memory clock: what CUDA runs at anyway
ECC_SHARE = 1 / 1.06  # of the bandwidth of GDDR6 is left with ECC on; vendor's figure


def cost_of(cause: str, get: Get) -> Cost | None:
    """Return what a cause of the catalogue costs; None where the model has no say in it."""
    states = _STATES.get(cause)
    if states is None and cause != "pcie_width_narrow":
        return None
    try:
        seen = Seen.of(get)
        if states is None:
            return link_loss(seen)
        now, step_ms = _as_it_runs(seen)
        pair = states(now, seen)
    except Undecided:
        return None
    if pair is None or pair[0] == pair[1]:
        return None
    return effect(*pair, step_ms=step_ms, chunk=seen.chunk or CHUNK)


def _as_it_runs(seen: Seen) -> tuple[Deployment, float | None]:
    now = seen.deployment()
    try:
        found = measured(seen.log, seen.burst)
        now = as_measured(now, found)
    except Undecided:
        return now, None
    return now, now.batch * now.accept_len / found.tok_s * 1e3


def _peer_access(now: Deployment, _: Seen) -> States | None:
    if now.tp == 1 or now.link.nvlink:
        return None
    return (
        now.over(replace(now.link, p2p=True, custom=True)),
        now.over(replace(now.link, p2p=False, custom=False)),
    )


def _custom(now: Deployment, _: Seen) -> States | None:
    if now.tp == 1 or not (now.link.nvlink or (now.tp == 2 and now.link.p2p)):
        return None
    link = now.link
    return now.over(replace(link, custom=True)), now.over(replace(link, custom=False))


def _overlap(now: Deployment, _: Seen) -> States:
    on, off = ("spec_v2", "spec_v1") if now.draft_forwards else ("overlap", "no_overlap")
    return replace(now, host_ms=HOST_MS[on]), replace(now, host_ms=HOST_MS[off])


def _bridge(now: Deployment, _: Seen) -> States | None:
    card = now.gpu.nvlink
    if card is None or now.tp == 1 or now.link.nvlink:
        return None
    return now.over(Link.nv(card.both_ways_gb_s / 2, custom=now.link.custom)), now


def _memory_clock(now: Deployment, seen: Seen) -> States | None:
    shares = [
        one.mem_mhz / best
        for one in (seen.gpus.samples if seen.gpus else ())
        if one.busy and one.mem_mhz and (best := one.mem_max_mhz or now.gpu.mem_max_mhz)
    ]
    if not shares or min(shares) >= P2_SHARE:
        return None
    return now, replace(now, bandwidth=now.bandwidth * min(shares) / P2_SHARE)


def _ecc(now: Deployment, _: Seen) -> States:
    return now, replace(now, bandwidth=now.bandwidth * ECC_SHARE)


_STATES: Mapping[str, Callable[[Deployment, Seen], States | None]] = {
    "p2p_denied_by_driver": _peer_access,
    "nccl_p2p_disable": _peer_access,
    "custom_allreduce_off": _custom,
    "overlap_off_spec_v1": _overlap,
    "nvlink_inactive": _bridge,
    "mem_clock_low": _memory_clock,
    "ecc_on_gddr6": _ecc,
}
