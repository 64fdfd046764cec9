"""The engine's own all-reduce: off by flag, by refusal, silently, or in the wrong place."""

from __future__ import annotations

from tools.engine import Arguments, Environment, Launch, ServerInfo, ServerLog
from tools.errors import Undecided
from tools.nvidia.topology import Topology
from tools.rule import Cleared, Effect, Finding, Interval, Outcome, rule

# 10 -> 20 us for each all-reduce where P2P works: -2 to -4 % (27B, two GPUs, step model); +6.5 %
# reported on 2x A6000 with NVLink; more GPUs and smaller models lose more. Prefill uses NCCL anyway.
LOSS: Interval = (-8.0, -4.0, -2.0)
LOSS_MANY: Interval = (
    -20.0,
    -10.0,
    -3.0,
)  # 92-97 against 117 tok/s on 4x V100 with the gate lifted
LOSS_SOURCE = "step model for two GPUs; one published pair for four"
SILENT = (0, 5, 12)  # V2 became the default there and does not fall back without full NVLink
ONE_SHOT_LOSS: Interval = (-16.0, -8.0, -4.0)  # rtx6kpro, pcie-oneshot-allreduce.md


@rule(cause="custom_allreduce_off")
def custom_all_reduce_refused(
    log: ServerLog,
    launch: Launch | None,
    info: ServerInfo | None,
    topology: Topology | None,
    environment: Environment | None,
) -> Outcome:
    """The engine refuses its own all-reduce, so that small messages go through NCCL."""
    args = Arguments(launch, info, log)
    if args.tp == 1:
        return Cleared("one GPU needs no all-reduce", (log,))
    if log.graph_addresses:
        return Cleared(
            f"custom all-reduce works: {log.graph_addresses} graph addresses were registered",
            (log,),
        )
    texts = [notice.text for notice in log.said("custom_ar_off", "collective")]
    texts = [
        t for t in texts if "disabled" in t.lower() and "allreduce" in t.lower().replace("-", "")
    ]
    if texts:
        return _refused(texts, topology)
    if _silent(args, log, topology, environment):
        return _silently_lost()
    if log.started or log.captures:
        return Cleared("the start-up refuses no custom all-reduce", (log,))
    raise Undecided(
        "this part of the log does not hold the start-up",
        settle="grep -i 'allreduce is disabled\\|graph addresses' in the serve log",
        suspicion=0.03,
    )


@rule(cause="custom_allreduce_off")
def custom_all_reduce_off_by_flag(
    launch: Launch, log: ServerLog | None, info: ServerInfo | None, topology: Topology | None
) -> Outcome:
    """A flag switches the engine's own all-reduce off."""
    args = Arguments(launch, info, log)
    if not args.asked_on("disable_custom_all_reduce"):
        return Cleared("--disable-custom-all-reduce is not set", (launch,))
    if args.tp == 1:
        return Cleared("one GPU needs no all-reduce", (launch,))
    if _by_design(args, topology):
        return Cleared("more than two GPUs without NVLink get none anyway", (launch,))
    return _finding(
        "--disable-custom-all-reduce is set: every small all-reduce of decode goes through NCCL.",
        ("Remove --disable-custom-all-reduce, unless it was set for wrong results.",),
        ("--disable-custom-all-reduce",),
        0.7,
        LOSS,
    )


@rule(cause="oneshot_allreduce_cross_socket")
def one_shot_across_sockets(
    topology: Topology, log: ServerLog | None, launch: Launch | None
) -> Outcome:
    """The PCIe one-shot all-reduce is on in a group of GPUs that spans two sockets."""
    args = Arguments(launch, None, log)
    texts = [n.text for n in log.notices] + list(log.unexplained) if log else []
    said = [t for t in texts if "oneshot" in t.lower().replace("-", "") and "enabled" in t.lower()]
    asked = args.flags("enable_pcie_oneshot_allreduce")
    if not (said or asked):
        return Cleared("the PCIe one-shot all-reduce is not switched on")
    if not _crosses_sockets(topology, args.tp):
        return Cleared("the group stays on one socket, where it gains 5 to 11 %", (topology,))
    return Finding(
        "The PCIe one-shot all-reduce is on for a group that crosses the sockets (SYS): its"
        " barrier over the socket link is slower than NCCL, the more so the longer the context.",
        confidence=0.75,
        slows=frozenset({"decode", "throughput"}),
        effect=Effect(decode_pct=ONE_SHOT_LOSS, source="rtx6kpro, published A/B on 8 GPUs"),
        remedy=(
            "Remove --enable-pcie-oneshot-allreduce, or limit it to about 48 KB, and measure.",
            "Keep each tensor-parallel group on one socket.",
        ),
        verify="A/B of that one flag at context 0, 16k and 32k",
        quotes=(*asked, *said[:1]),
    )


def _refused(texts: list[str], topology: Topology | None) -> Outcome:
    text, low = texts[0], texts[0].lower()
    if "spans across nodes" in low:
        return Cleared("the group spans machines, where there is none by design")
    if "more than two pcie-only" in low:
        return _finding(
            "With more than two GPUs on PCIe alone the engine refuses its own all-reduce by"
            " design, so about two small all-reduces for each layer and token go through NCCL.",
            (
                "Two replicas of half the GPUs (--dp-size 2) if the model fits, or cards with"
                " NVLink.",
                "Measure NCCL at 4 to 32 KB inside a graph before anything is patched.",
            ),
            texts[:1],
            0.75,
            LOSS_MANY,
        )
    if "world size" in low:
        return _finding(
            f"This count of GPUs has no custom all-reduce: {text}",
            ("Use 2, 4, 6 or 8 GPUs for each tensor-parallel group.",),
            texts[:1],
            0.75,
            LOSS,
        )
    return _no_p2p(texts, topology)


def _no_p2p(texts: list[str], topology: Topology | None) -> Outcome:
    words = {pair.word.upper() for pair in topology.p2p} if topology else set()
    if words - {"OK"}:
        return Cleared(
            "it follows from peer access that the driver denies", (topology,) if topology else ()
        )
    if words:
        return _finding(
            "The engine says that peer access is missing, and the driver grants it: a stale"
            " result of its test in ~/.cache/sglang keeps the custom all-reduce off.",
            ("Delete ~/.cache/sglang/gpu_p2p_access_cache_for_*.json and restart.",),
            texts[:1],
            0.7,
            LOSS,
        )
    raise Undecided(
        "the engine refuses its own all-reduce for want of peer access; the driver was not asked",
        settle=(
            "nvidia-smi topo -p2p r; if it says OK, delete ~/.cache/sglang/gpu_p2p_access_cache*"
        ),
        suspicion=0.3,
    )


def _silent(
    args: Arguments, log: ServerLog, topology: Topology | None, environment: Environment | None
) -> bool:
    chosen = (environment.values if environment else {}).get("SGLANG_OPT_USE_CUSTOM_ALL_REDUCE_V2")
    pcie = topology is not None and not any(w.startswith("NV") for w in topology.words())
    return args.version == SILENT and args.tp == 2 and pcie and bool(log.captures) and chosen != "0"


def _silently_lost() -> Finding:
    return _finding(
        "0.5.12 drops the custom all-reduce silently on a pair without NVLink: graphs were"
        " captured and no graph address was registered.",
        (
            "Start with SGLANG_OPT_USE_CUSTOM_ALL_REDUCE_V2=0 in the environment.",
            "0.5.13 falls back by itself.",
        ),
        (),
        0.8,
        LOSS,
    )


def _by_design(args: Arguments, topology: Topology | None) -> bool:
    pcie = topology is not None and not any(w.startswith("NV") for w in topology.words())
    return pcie and (args.tp or 0) > 2


def _crosses_sockets(topology: Topology, tp: int | None) -> bool:
    group = set(topology.gpus[:tp] if tp else topology.gpus)
    inside = [p for p in topology.links if not group or (p.a in group and p.b in group)]
    return any(pair.word == "SYS" for pair in inside)


def _finding(
    statement: str,
    remedy: tuple[str, ...],
    quotes: list[str] | tuple[str, ...],
    confidence: float,
    loss: Interval,
) -> Finding:
    return Finding(
        statement,
        confidence=confidence,
        slows=frozenset({"decode", "throughput"}),
        effect=Effect(decode_pct=loss, source=LOSS_SOURCE),
        category="config",
        remedy=remedy,
        risk="A restart; compare some answers before and after.",
        verify="'Registering N cuda graph addresses' in the log, and no refusal",
        quotes=tuple(quotes),
    )


RULES = (custom_all_reduce_refused, custom_all_reduce_off_by_flag, one_shot_across_sockets)
