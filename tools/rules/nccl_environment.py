"""NCCL variables that somebody set: peer access off, shared memory off, algorithm forced, RDMA off."""

from __future__ import annotations

from tools.engine import Arguments, Environment, Launch, ServerInfo, ServerLog
from tools.errors import Undecided
from tools.nvidia.nccl import NcclLog
from tools.nvidia.topology import Nvlinks, Topology
from tools.rule import Aspect, Cleared, Effect, Finding, Interval, Outcome, rule

# Step model, 27B on two GPUs, Gen4: NCCL through host memory instead of peer access costs decode
# 6 % (bf16) to 11 % (int4) and prefill 38 %; with NVLink more.
NO_P2P_DECODE: Interval = (-15.0, -6.0, -1.0)
NO_P2P_PREFILL: Interval = (-45.0, -30.0, -10.0)
STEP_MODEL = "step model for two GPUs; 12 to 38 % of prefill published"
TRUE = frozenset({"1", "true", "yes", "y", "on"})
DENYING_LEVELS = frozenset({"LOC", "0"})
SLOWS: frozenset[Aspect] = frozenset({"decode", "prefill", "ttft", "throughput"})
_ASK = "tr '\\0' '\\n' < /proc/PID/environ | grep -E '^(NCCL|SGLANG|CUDA|VLLM)_'"


@rule(cause="nccl_p2p_disable")
def peer_access_switched_off(
    environment: Environment,
    topology: Topology | None,
    nvlinks: Nvlinks | None,
    launch: Launch | None,
    log: ServerLog | None,
    info: ServerInfo | None,
) -> Outcome:
    """A variable forbids NCCL the peer access that the GPUs have."""
    return _peer_access(environment, topology, nvlinks, Arguments(launch, info, log), log)


@rule(cause="nccl_p2p_disable")
def peer_access_off_says_nccl(
    nccl: NcclLog,
    environment: Environment | None,
    topology: Topology | None,
    nvlinks: Nvlinks | None,
    launch: Launch | None,
    log: ServerLog | None,
    info: ServerInfo | None,
) -> Outcome:
    """NCCL itself names a variable that forbids it peer access."""
    if environment is not None:
        return Cleared("the variables themselves were seen", (environment,))
    seen = Environment(values=nccl.env)
    return _peer_access(seen, topology, nvlinks, Arguments(launch, info, log), log)


def _peer_access(
    environment: Environment,
    topology: Topology | None,
    nvlinks: Nvlinks | None,
    args: Arguments,
    log: ServerLog | None,
) -> Outcome:
    said = _p2p_variable(environment)
    if not said:
        return Cleared("no NCCL variable forbids peer access")
    if args.tp == 1 and (args.count("pp_size") or 1) == 1:
        return Cleared("one GPU has no peer")
    words = topology.words() if topology else frozenset()
    nvlink = any(word.startswith("NV") for word in words) or _joined(nvlinks)
    if said.endswith("LEVEL=NVL") and nvlink:
        return Cleared("NCCL_P2P_LEVEL=NVL allows it over NVLink, which these GPUs have")
    if not nvlink and _denied(topology):
        return Cleared("the driver grants these GPUs no peer access anyway")
    if not nvlink and not (topology and topology.p2p):
        raise Undecided(
            f"{said} is set; whether peer access would work was not asked",
            settle="nvidia-smi topo -p2p r; unset the variable and compare one cold 8k prompt",
            suspicion=0.4,
        )
    return _no_p2p(said, args, log, nvlink=nvlink, still=_still(nvlinks))


@rule(cause="nccl_shm_disable")
def shared_memory_switched_off(environment: Environment, nccl: NcclLog | None) -> Outcome:
    """NCCL may not use shared memory, so GPUs of one machine talk over sockets."""
    if not _on(environment, "NCCL_SHM_DISABLE"):
        return Cleared("NCCL_SHM_DISABLE is not set", (environment,))
    paths = nccl.paths if nccl else {}
    if paths and not any(path.startswith("NET") for path in paths):
        return Cleared("the channels run over peer access", (nccl,) if nccl else ())
    if not paths:
        raise Undecided(
            "NCCL_SHM_DISABLE is set; which path NCCL took instead was not seen",
            settle="start once with NCCL_DEBUG=INFO and read 'via P2P' or 'via NET'",
            suspicion=0.4,
        )
    return Finding(
        "NCCL_SHM_DISABLE=1 sends the traffic between GPUs of one machine over the network stack.",
        confidence=0.85,
        slows=SLOWS,
        effect=Effect((-60.0, -30.0, -15.0), (-90.0, -80.0, -60.0), "own estimate; coarse"),
        quotes=("NCCL_SHM_DISABLE=1", *(f"via {path}" for path in paths)),
    )


@rule(cause="nccl_algo_proto_forced")
def algorithm_forced(environment: Environment, log: ServerLog | None) -> Outcome:
    """A variable forces one algorithm or protocol on NCCL, good for one message size only."""
    proto = environment.values.get("NCCL_PROTO", "").strip()
    algo = environment.values.get("NCCL_ALGO", "").strip()
    if not (proto or algo):
        return Cleared("neither NCCL_PROTO nor NCCL_ALGO is set", (environment,))
    if not _one(proto) and not _one(algo):
        return Cleared("the variables leave NCCL a choice", (environment,))
    custom, low = bool(log and log.graph_addresses), proto.upper()
    if custom and low != "LL":
        return Cleared("the engine's own all-reduce serves the small messages of decode")
    decode: Interval = (-1.0, 0.0, 0.0) if custom or low.startswith("LL") else (-6.0, -3.0, 0.0)
    prefill: Interval = (-40.0, -20.0, -10.0) if low == "LL" else (-10.0, 0.0, 0.0)
    said = " and ".join(
        f"{name}={value}" for name, value in (("NCCL_PROTO", proto), ("NCCL_ALGO", algo)) if value
    )
    return Finding(
        f"{said} is set: Simple makes small messages two to three times slower, LL halves the rate"
        " of large ones.",
        confidence=0.75,
        slows=frozenset({"prefill", "ttft"} if low == "LL" else {"decode", "throughput"}),
        effect=Effect(
            decode, prefill, "own estimate; LL 1.5 to 1.9 x published for small messages"
        ),
        quotes=(said,),
    )


@rule(cause="nccl_ib_disable_multinode")
def rdma_switched_off(
    environment: Environment, launch: Launch | None, log: ServerLog | None, nccl: NcclLog | None
) -> Outcome:
    """NCCL_IB_DISABLE keeps a group that spans machines off RDMA."""
    if not _on(environment, "NCCL_IB_DISABLE"):
        return Cleared("NCCL_IB_DISABLE is not set", (environment,))
    args, paths = Arguments(launch, None, log), nccl.paths if nccl else {}
    inside = paths and not any(path.startswith("NET") for path in paths)
    if args.nodes == 1 or inside:
        return Cleared("NCCL_IB_DISABLE changes nothing inside one machine", (environment,))
    if args.nodes is None and not paths:
        raise Undecided(
            "NCCL_IB_DISABLE is set; over how many machines the group spans is not told",
            settle="read --nnodes on the command line, and 'via NET/...' in NCCL's log",
            suspicion=0.25,
        )
    return Finding(
        "NCCL_IB_DISABLE=1 makes a group over several machines use TCP instead of RDMA.",
        confidence=0.8,
        slows=SLOWS,
        effect=Effect((-60.0, -30.0, -10.0), (-90.0, -75.0, -50.0), "own estimate; coarse"),
        quotes=("NCCL_IB_DISABLE=1",),
    )


def _on(environment: Environment, name: str) -> bool:
    return environment.values.get(name, "").strip().lower() in TRUE


def _one(value: str) -> bool:
    return bool(value) and "," not in value and not value.startswith("^")


def _p2p_variable(environment: Environment) -> str:
    if _on(environment, "NCCL_P2P_DISABLE"):
        return f"NCCL_P2P_DISABLE={environment.values['NCCL_P2P_DISABLE']}"
    level = environment.values.get("NCCL_P2P_LEVEL", "").strip().upper()
    return f"NCCL_P2P_LEVEL={level}" if level in DENYING_LEVELS or level == "NVL" else ""


def _denied(topology: Topology | None) -> bool:
    words = {pair.word.upper() for pair in topology.p2p} if topology else set()
    return bool(words) and "OK" not in words


def _joined(nvlinks: Nvlinks | None) -> bool:
    """Say whether two GPUs or more have NVLinks that are up."""
    return len({gpu for (gpu, _), up in nvlinks.active().items() if up}) > 1 if nvlinks else False


def _still(nvlinks: Nvlinks | None) -> bool:
    """Say whether the data counters of NVLink were read twice and did not move."""
    counts: dict[tuple[int, int], set[int]] = {}
    for one in nvlinks.links if nvlinks else ():
        if one.tx_kib is not None:
            counts.setdefault((one.gpu, one.link), set()).add(one.tx_kib)
    readings = {one.reading for one in nvlinks.links} if nvlinks else set()
    return len(readings) > 1 and bool(counts) and all(len(seen) == 1 for seen in counts.values())


def _no_p2p(
    said: str, args: Arguments, log: ServerLog | None, *, nvlink: bool, still: bool
) -> Finding:
    custom = bool(log and log.graph_addresses) and not args.on("disable_custom_all_reduce")
    proof = "; their data counters stand still under load" if still else ""
    gpus = f"GPUs that have NVLink{proof}" if nvlink else "GPUs whose driver grants peer access"
    kept = " The engine's own all-reduce stays on, so decode loses little." if custom else ""
    return Finding(
        f"{said} is set on {gpus}: tensor-parallel traffic goes through host memory.{kept}",
        confidence=0.95 if still else 0.85,
        slows=SLOWS - {"decode"} if custom else SLOWS,
        effect=Effect((-1.0, 0.0, 0.0) if custom else NO_P2P_DECODE, NO_P2P_PREFILL, STEP_MODEL),
        remedy=(
            f"Ask why it was set (often after a hang), then unset {said.split('=')[0]}.",
            "Restart, and compare some answers with known ones before it serves again.",
        ),
        verify="NCCL_DEBUG=INFO shows 'via P2P'; NVLink counters move under load",
        quotes=(said,),
    )


RULES = (
    peer_access_switched_off,
    peer_access_off_says_nccl,
    shared_memory_switched_off,
    algorithm_forced,
    rdma_switched_off,
)
