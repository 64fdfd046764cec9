"""How the model is spread: over slow links, over too many GPUs, over ranks that stand idle."""

from __future__ import annotations

from statistics import median

from tools.engine import Arguments, Launch, ServerInfo, ServerLog
from tools.errors import Undecided
from tools.knowledge.gpus import gpu_named
from tools.knowledge.links import pcie_gb_s
from tools.nvidia.gpus import Gpus, GpuSample
from tools.nvidia.nccl import AllReduceTest, NcclLog
from tools.nvidia.topology import Nvlinks, Topology
from tools.physics.bounds import GIB
from tools.rule import Cleared, Effect, Finding, Outcome, rule

FLAT = 0.15  # spread of the bus bandwidth over large messages: bandwidth, not calls, is the limit
LARGE = 4 << 20  # bytes
LITTLE, FULL = 0.15, 0.80  # average traffic as share of the raw link
FEW, SEEN = 2, 0.5  # requests of one rank; share of the ranks that must have spoken
ROOM = 0.8  # of a card's memory that weights may take, so that a cache fits beside them


@rule(cause="tp_on_slow_link")
def collectives_at_link_speed(
    test: AllReduceTest, topology: Topology | None, gpus: Gpus | None, nccl: NcclLog | None
) -> Outcome:
    """All-reduces of large messages run at the full rate of a link that is slow by nature."""
    large = [rate for size, rate in sorted(test.busbw_gb_s.items()) if size >= LARGE]
    if len(large) < 3:
        raise Undecided("too few large messages were measured", suspicion=0.02)
    words = topology.words() if topology else frozenset()
    if words and all(word.startswith("NV") for word in words):
        return Cleared("all pairs have NVLink", (topology,) if topology else ())
    usual = median(large)
    if max(large) - min(large) > FLAT * usual:
        return Cleared("the bus bandwidth still grows with the message: calls cost, too", (test,))
    if detour := _detour(nccl):
        return Cleared(f"{detour}, so the rate is that of a detour and not the link's", (test,))
    low = [s for s in (gpus.busy() if gpus else ()) if _below(s)]
    if low:
        return Cleared("a link runs below what card and slot can do, which is judged apart")
    path = " across the sockets (SYS)" if "SYS" in words else ""
    return Finding(
        f"The bus bandwidth is flat at {min(large):.1f} to {max(large):.1f} GB/s for large"
        f" messages: all-reduces are bound by the links{path}, and those run at their full rate."
        " No setting of NCCL makes them faster.",
        confidence=0.75,
        slows=frozenset({"prefill", "ttft", "throughput"}),
        category="at_ceiling",
        quotes=tuple(f"{size} B: {rate:g} GB/s" for size, rate in sorted(test.busbw_gb_s.items()))[
            -3:
        ],
    )


def _detour(nccl: NcclLog | None) -> str:
    """Say which better way NCCL was kept from; empty where nothing is known of one."""
    if nccl is None:
        return ""
    level = nccl.env.get("NCCL_P2P_LEVEL", "").upper()
    denied = nccl.env.get("NCCL_P2P_DISABLE", "0") not in ("", "0") or level in ("LOC", "0")
    if denied and any(path.startswith("SHM") for path in nccl.paths):
        return "a variable keeps NCCL from peer access"
    return "NCCL may not use GPUDirect RDMA" if nccl.gdr is False else ""


@rule(cause="tp_on_slow_link")
def traffic_against_the_link(
    gpus: Gpus, launch: Launch | None, log: ServerLog | None, info: ServerInfo | None
) -> Outcome:
    """Tensor parallelism needs more than the PCIe link of one GPU gives."""
    args = Arguments(launch, info, log)
    if args.tp == 1:
        return Cleared("one GPU sends nothing to a peer")
    shares = [share for sample in gpus.samples if (share := _share(sample, gpus)) is not None]
    if not shares:
        raise Undecided(
            "traffic on the link was not measured",
            settle="nvidia-smi dmon -s t under load, against the raw rate of the link",
            suspicion=0.05,
        )
    most = max(shares)
    if most < LITTLE:
        return Cleared(f"the busiest link carries {most:.0%} of its raw rate", (gpus,))
    if most >= FULL:
        return Finding(
            f"A link carries {most:.0%} of its raw rate over whole seconds: it is the limit.",
            confidence=0.75,
            slows=frozenset({"prefill", "ttft", "decode", "throughput"}),
            effect=Effect(
                prefill_pct=(-50.0, -30.0, -10.0), source="step model, share of the links"
            ),
        )
    raise Undecided(
        f"the busiest link carries {most:.0%} of its raw rate on average; all-reduces are bursts"
        " between computing, so the link may be at its full rate about that share of the time",
        settle="the share of all-reduce time in an nsys profile of one cold prompt; or prefill"
        " tok/s with pipeline stages instead of tensor parallelism",
        suspicion=0.4,
    )


@rule(cause="wrong_tp_size")
def split_without_need(
    topology: Topology,
    nccl: NcclLog | None,
    nvlinks: Nvlinks | None,
    launch: Launch | None,
    log: ServerLog | None,
    gpus: Gpus | None,
) -> Outcome:
    """A model that fits on one card is split over several, whose small all-reduces cost more."""
    args, words = Arguments(launch, None, log), topology.words()
    if args.tp == 1 or (args.tp is None and len(topology.gpus) < 2):
        return Cleared("the model is not split", (topology,))
    room = _fits(log, gpus, args.tp)
    if room is False:
        return Cleared("the weights do not fit on one card", (log, gpus) if log and gpus else ())
    nvlink = bool(words) and all(word.startswith("NV") for word in words)
    healthy = nvlink and not any(one.active is False for one in (nvlinks.links if nvlinks else ()))
    peer = bool(nccl) and any(path.startswith("P2P") for path in (nccl.paths if nccl else ()))
    if room or (healthy and peer):
        whole = "the weights would fit on one card" if room else "links and peer access are healthy"
        raise Undecided(
            f"{whole}; whether one card alone is faster was not measured",
            settle="tok/s with --tp-size 1 at the same batch; else all_reduce_perf -b 8K -e 64K and"
            " the time of each all-reduce in nsys",
            suspicion=0.35 if healthy and peer else 0.15,
        )
    raise Undecided("whether the model would fit on one card is not known", suspicion=0.03)


@rule(cause="dp_attention_low_load")
def ranks_without_work(log: ServerLog, launch: Launch | None, info: ServerInfo | None) -> Outcome:
    """DP attention spreads a few requests over many ranks, most of which idle or pad."""
    args = Arguments(launch, info, log)
    ranks = args.count("dp_size") or 1
    if ranks < 2 or not args.on("enable_dp_attention"):
        return Cleared("there is no DP attention over several ranks", (log,))
    by_rank: dict[str, list[int]] = {}
    for line in log.decode:
        if line.running is not None and line.rank.startswith("DP"):
            by_rank.setdefault(line.rank.split()[0], []).append(line.running)
    if len(by_rank) < max(2, SEEN * ranks):
        raise Undecided(
            f"lines of {len(by_rank)} of {ranks} ranks were seen",
            settle="#running-req in the Decode lines of all ranks at the same time",
            suspicion=0.2,
        )
    loads = {rank: median(found) for rank, found in by_rank.items()}
    busy = [rank for rank, load in loads.items() if load > FEW]
    if len(busy) > len(loads) / 2:
        return Cleared(f"{len(busy)} of {len(loads)} ranks decode more than {FEW} requests", (log,))
    idle = sum(load == 0 for load in loads.values())
    return Finding(
        f"{idle} of {len(loads)} ranks decode nothing and none of most more than {FEW} requests:"
        " DP attention pays with large batches only, here every step waits for ranks that pad.",
        shown_by=(log,),
        confidence=0.8,
        slows=frozenset({"decode", "throughput"}),
        effect=Effect(decode_pct=(-60.0, -40.0, -20.0), source="SGLang 2882; coarse"),
        quotes=tuple(f"{rank}: #running-req {load:g}" for rank, load in sorted(loads.items())),
    )


def _below(sample: GpuSample) -> bool:
    possible = sample.gen_possible
    return bool(possible and sample.link_gen and sample.link_gen < possible)


def _share(sample: GpuSample, gpus: Gpus) -> float | None:
    """Return the traffic of a look as share of the raw rate of the link of that GPU."""
    told = [one for one in (sample.rx_mb_s, sample.tx_mb_s) if one is not None]
    same = [s for s in gpus.samples if s.index == sample.index and s.link_gen and s.link_width]
    if not told or not same:
        return None
    raw = pcie_gb_s(same[-1].link_gen or 0, same[-1].link_width or 0)
    return max(told) / 1e3 / raw if raw else None


def _fits(log: ServerLog | None, gpus: Gpus | None, tp: int | None) -> bool | None:
    name = gpus.names[0] if gpus and gpus.names else None
    gpu = gpu_named(name) if name else None
    if not (log and log.weights_gb and gpu and tp):
        return None
    return log.weights_gb * GIB * tp < ROOM * gpu.mem_gb


RULES = (
    collectives_at_link_speed,
    traffic_against_the_link,
    split_without_need,
    ranks_without_work,
)
