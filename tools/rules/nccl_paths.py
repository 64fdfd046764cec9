"""The path that NCCL took: sockets instead of RDMA, a library missing, a machine misread."""

from __future__ import annotations

from collections.abc import Sequence

from tools.engine import Arguments, Benchmark, Environment, Launch, ServerLog
from tools.errors import Undecided
from tools.linux.machine import Machine, RdmaPort
from tools.nvidia.nccl import NcclLog
from tools.rule import Aspect, Cleared, Effect, Finding, Interval, Outcome, rule

DECODE: Interval = (-60.0, -30.0, -10.0)  # +50 to +200 us for each all-reduce
PREFILL: Interval = (-95.0, -75.0, -50.0)  # a factor 3 to 20
SOURCE = "factors published for collectives over TCP against RDMA; coarse"
_PORTS_DOWN = (
    "Bring the RDMA ports up first: cable and module, the port of the switch, and for InfiniBand a subnet"
    " manager (opensm); ibstat must say Active.",
    "Then read 'via NET/IB' in the log of a start with NCCL_DEBUG=INFO.",
)
MISREAD_GB_S = 1.0  # no link between GPUs is so slow: the search gave up on this machine
SLOWS: frozenset[Aspect] = frozenset({"decode", "prefill", "ttft", "throughput"})


@rule(cause="nccl_socket_fallback")
def sockets_instead_of_rdma(
    nccl: NcclLog,
    launch: Launch | None,
    log: ServerLog | None,
    environment: Environment | None,
    benchmark: Benchmark | None,
    machine: Machine | None,
) -> Outcome:
    """NCCL runs over TCP sockets between machines."""
    if nccl.network != "Socket" and "NET/Socket" not in nccl.paths:
        return Cleared(f"NCCL's network is {nccl.network or 'not in use'}", (nccl,))
    if _inside(nccl, Arguments(launch, None, log)):
        return Cleared("the group stays inside one machine, where no network is used", (nccl,))
    if _pipeline_only(Arguments(launch, None, log)):
        return Cleared("only pipeline stages cross the network, which move little")
    if nccl.ibverbs_missing:
        return Cleared("it follows from the missing RDMA library", (nccl,))
    if environment and environment.values.get("NCCL_IB_DISABLE", "") in ("1", "true"):
        return Cleared("it follows from NCCL_IB_DISABLE", (environment,))
    where = f" over {nccl.interface}" if nccl.interface else ""
    between = "NET/Socket" in nccl.paths
    measured = _measured(benchmark)
    ports = machine.rdma if machine else ()
    down = bool(ports) and not any(port.state == "Active" for port in ports)
    return Finding(
        f"NCCL uses TCP sockets{where}, not RDMA; an IPoIB name such as ib0 would not change"
        f" that.{measured}{_of_ports(ports)}",
        shown_by=(nccl, benchmark) if benchmark and measured else (nccl,),
        confidence=0.92
        if "RDMA works" in measured or (between and ports)
        else 0.85
        if between
        else 0.7,
        slows=SLOWS,
        effect=Effect(DECODE, PREFILL, SOURCE),
        remedy=_PORTS_DOWN if down else (),
        quotes=("Using network Socket",) if nccl.network == "Socket" else ("via NET/Socket",),
    )


@rule(cause="rdma_lib_missing")
def rdma_library_missing(nccl: NcclLog, launch: Launch | None, log: ServerLog | None) -> Outcome:
    """The RDMA library is missing in the container, so NCCL falls back to sockets."""
    if not nccl.ibverbs_missing:
        return Cleared("NCCL does not miss libibverbs", (nccl,))
    args = Arguments(launch, None, log)
    if nccl.network == "IB" or _inside(nccl, args):
        return Cleared("no network is used between the GPUs of this group", (nccl,))
    if _pipeline_only(args):
        return Cleared("only pipeline stages cross the network, which move little")
    return Finding(
        "NCCL cannot open libibverbs, so it uses TCP sockets although an RDMA card may be up.",
        shown_by=(nccl,),
        confidence=0.9 if nccl.network == "Socket" else 0.75,
        slows=SLOWS,
        effect=Effect(DECODE, PREFILL, SOURCE),
        quotes=("Failed to open libibverbs.so[.1]",),
    )


@rule(cause="nccl_topology_misdetected")
def machine_misread(nccl: NcclLog) -> Outcome:
    """NCCL takes the paths of this machine for far slower than they are."""
    rate = nccl.graph_bw_gb_s
    if rate is None:
        raise Undecided(
            "NCCL's search of the machine was not logged",
            settle="NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=GRAPH, and read 'bw' and 'nChannels'",
            suspicion=0.02,
        )
    if rate > MISREAD_GB_S:
        return Cleared(f"NCCL's search found {rate:g} GB/s", (nccl,))
    if not any(path.startswith("P2P") for path in nccl.paths):
        raise Undecided(
            f"NCCL's search ends at {rate:g} GB/s, and no channel over peer access was seen",
            settle="all_reduce_perf -b 8K -e 64M as it is, and with NCCL_MIN_NCHANNELS=8",
            suspicion=0.4,
        )
    few = f" and {nccl.graph_channels} channels" if nccl.graph_channels else ""
    return Finding(
        f"NCCL's search ends at {rate:g} GB/s{few} although every channel runs over peer access:"
        " it underrates this machine and picks the slow way for small messages.",
        shown_by=(nccl,),
        confidence=0.8,
        slows=frozenset({"decode", "throughput"}),
        effect=Effect(
            decode_pct=(-15.0, -8.0, -2.0), source="1.5 to 1.9 x on small messages, rtx6kpro"
        ),
        remedy=("Try NCCL_MIN_NCHANNELS=8, then a graph file (NCCL_GRAPH_FILE) or a newer NCCL.",),
        verify="all_reduce_perf -b 8K -e 1M before and after",
        quotes=(f"bw {rate:g}/{rate:g}",),
    )


@rule(cause="pipeline_parallel_low_comm")
def pipeline_moves_little(launch: Launch, nccl: NcclLog | None, log: ServerLog | None) -> Outcome:
    """Pipeline stages move so little that the network between them cannot be the limit."""
    args = Arguments(launch, None, log)
    stages = args.count("pp_size") or 1
    if stages == 1:
        return Cleared("there is one pipeline stage", (launch,))
    if (args.tp or 1) > 1:
        raise Undecided(
            "tensor parallelism runs as well; whether it crosses machines is not told",
            settle="which ranks share a machine; NCCL_DEBUG=INFO for 'via NET'",
            suspicion=0.1,
        )
    if nccl is None or nccl.network is None:
        raise Undecided(
            f"{stages} stages without tensor parallelism; nothing tells of the network",
            settle="throughput at twice the batch; the stages' idle time in a profile",
            suspicion=0.25,
        )
    return Finding(
        f"{stages} pipeline stages without tensor parallelism send one activation (tokens x hidden"
        f" x 2 bytes) for each micro-batch: a faster network changes nothing, {nccl.network} or"
        " not.",
        confidence=0.6,
        slows=frozenset({"throughput", "decode"}),
        remedy=(
            "More requests in flight, so that no stage waits for the other.",
            "Tensor parallelism inside a machine, pipeline stages between machines.",
        ),
        verify="throughput over the number of requests; the network's own counters",
        quotes=args.flags("pp_size", "tp_size"),
    )


def _measured(benchmark: Benchmark | None) -> str:
    """Say what tests of the network reached, if there were any."""
    rdma = benchmark.rdma_gbit_s if benchmark else None
    tcp = benchmark.tcp_gbit_s if benchmark else None
    said = f" RDMA works between these machines: a test reached {rdma:.0f} Gbit/s." if rdma else ""
    return said + (f" TCP reached {tcp:.1f} Gbit/s." if tcp else "")


def _of_ports(ports: Sequence[RdmaPort]) -> str:
    """Say what the machine's own list of RDMA ports adds."""
    if not ports:
        return ""
    up = [port.name for port in ports if port.state == "Active"]
    if up:
        return f" The RDMA port {up[0]} is up and unused."
    first = ports[0]
    why = f", its link {first.physical}" if first.physical else ""
    return f" No RDMA port is up: {first.name} is {first.state}{why}."


def _inside(nccl: NcclLog, args: Arguments) -> bool:
    """Say whether the group is known to stay inside one machine."""
    if nccl.paths:
        return not any(path.startswith("NET") for path in nccl.paths)
    if any("shared memory" in line.lower() for line in nccl.errors):
        return True  # it was to be the path, and only one machine shares it
    return args.nodes == 1 and args.seen


def _pipeline_only(args: Arguments) -> bool:
    return (args.count("pp_size") or 1) > 1 and args.tp == 1


RULES = (
    sockets_instead_of_rdma,
    rdma_library_missing,
    machine_misread,
    pipeline_moves_little,
)
