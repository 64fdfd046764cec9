"""What a confirmed cause costs this deployment: the state as it runs against the one without the cause.

Rules find a cause by facts and have an estimate for deployments of which too little is known; where
model, GPUs, link and load are known, the step model's own difference goes before it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from tools.errors import Undecided
from tools.linux.machine import Machine
from tools.physics.as_measured import as_measured
from tools.physics.deployment import HOST_MS, Deployment
from tools.physics.effect import Cost, effect, link_effect
from tools.physics.graphs_off import graphs_off_cost
from tools.physics.interval import Interval
from tools.physics.link import Link
from tools.physics.losses import link_loss
from tools.physics.prefill import CHUNK
from tools.physics.seen import Get, Seen
from tools.physics.slow_host import slow_host_cost
from tools.physics.slower_link import INPUT_ALONE

States = tuple[Deployment, Deployment]  # without the cause, and with it
P2_SHARE = 0.96  # of the highest memory clock: what CUDA runs at anyway
_WITHOUT_GRAPHS = frozenset(
    ("cuda_graph_disabled", "cuda_graph_bs_exceeded", "cuda_graph_dp_global_limit")
)
_OWN_LINK = frozenset(("pcie_width_narrow",))  # priced as seen at the GPUs, where that is slow
_SLOW_HOST = frozenset(("cpu_governor_powersave", "cpu_contention", "host_cpu_slow"))
ECC_SHARE = 1 / 1.06  # of the bandwidth of GDDR6 is left with ECC on; vendor's figure


def cost_of(cause: str, get: Get, times_slower: float | None = None) -> Cost | None:
    """Return what a cause of the catalogue costs; None where the model has no say in it.

    `times_slower` is how many times slower than it should be a rule found the link between the GPUs.
    """
    price = _priced_by(cause, times_slower)
    if price is None:
        return None
    try:
        return price(Seen.of(get), get)
    except Undecided:
        return None


def _priced_by(cause: str, times_slower: float | None) -> Callable[[Seen, Get], Cost | None] | None:
    if times_slower is not None or cause in _OWN_LINK:
        return lambda seen, _: _slow_link(cause, seen, times_slower)
    if cause in _WITHOUT_GRAPHS:
        return lambda seen, _: graphs_off_cost(_as_it_runs(seen)[0], seen)
    if cause in _SLOW_HOST:
        return lambda seen, get: slow_host_cost(*_as_it_runs(seen), get(Machine))
    if states := _STATES.get(cause):
        return lambda seen, _: _between(states, seen)
    return None


def _between(states: Callable[[Deployment, Seen], States | None], seen: Seen) -> Cost | None:
    now, step_ms = _as_it_runs(seen)
    pair = states(now, seen)
    if pair is None or pair[0] == pair[1]:
        return None
    return effect(*pair, step_ms=step_ms, chunk=seen.chunk or CHUNK)


def _slow_link(cause: str, seen: Seen, times: float | None) -> Cost | None:
    as_seen = link_loss(seen) if cause in _OWN_LINK else None
    return as_seen or (_slower_link(seen, times) if times else None)


def _slower_link(seen: Seen, times: float) -> Cost | None:
    """Price a slow part of the way between GPUs that their own links do not show."""
    now, step_ms = _as_it_runs(seen)
    if now.tp == 1:
        return None
    if now.link.nvlink:
        return Cost(
            Interval.exactly(0.0), *INPUT_ALONE, "the GPUs exchange over NVLink: input alone"
        )
    good = seen.link(repaired=True)
    bad = replace(good, raw_gb_s=good.raw_gb_s / times, name=f"{good.name} at 1/{times:.2g}")
    return link_effect(now, good, bad, step_ms=step_ms, chunk=seen.chunk or CHUNK)


def _as_it_runs(seen: Seen) -> tuple[Deployment, float | None]:
    now = seen.deployment()
    try:
        found = seen.measured()
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
