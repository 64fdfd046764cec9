"""Peer access between GPUs: refused, redirected, translated, or across sockets."""

from __future__ import annotations

from tools.engine import Environment, Launch, ServerInfo, ServerLog
from tools.engine.parallel import tp_size
from tools.errors import Undecided
from tools.knowledge.gpus import gpu_named
from tools.nvidia.gpus import Gpus
from tools.nvidia.nccl import AllReduceTest, NcclLog
from tools.nvidia.topology import Pair, Topology
from tools.rule import Cleared, Effect, Finding, Outcome, rule

_SHM_EFFECT = Effect((-11.0, -6.0, -2.0), (-50.0, -38.0, -12.0), "the step model, P2P off, TP 2")
_SETTLE = "nvidia-smi topo -p2p r, and the server once with NCCL_DEBUG=INFO: via P2P or via SHM?"
_LARGE_BYTES = 4 << 20  # from here an all-reduce is bound by bandwidth, not by calls
_FLAT = 0.12  # spread of bus bandwidth over sizes that still counts as one plateau


def _nvlinked(topology: Topology | None) -> bool:
    return bool(topology and any(word.startswith("NV") for word in topology.words()))


def _staged(nccl: NcclLog | None) -> bool:
    return bool(nccl and any(path.startswith("SHM") for path in nccl.paths))


def _switched_off(environment: Environment | None, nccl: NcclLog | None) -> bool:
    values = (environment.values if environment else {}) | (nccl.env if nccl else {})
    return values.get("NCCL_P2P_DISABLE") not in (None, "", "0")


def _refused(topology: Topology) -> tuple[Pair, ...]:
    return tuple(pair for pair in topology.p2p if pair.word not in ("OK", "X"))


def _between_groups(topology: Topology) -> bool:
    """Say whether granted pairs form groups and every refused pair joins two of them."""
    granted = [pair for pair in topology.p2p if pair.word == "OK"]
    group = {name: name for pair in topology.p2p for name in (pair.a, pair.b)}
    for pair in granted:
        old, new = group[pair.b], group[pair.a]
        group = {name: new if home == old else home for name, home in group.items()}
    return bool(granted) and all(group[pair.a] != group[pair.b] for pair in _refused(topology))


def _geforce(gpus: Gpus | None) -> bool | None:
    """Say whether the stock driver refuses peer access for these products; None if not known."""
    products = [gpu_named(name) for name in gpus.names] if gpus else []
    if not products or not all(products):
        return True if gpus and any("GeForce" in name for name in gpus.names) else None
    return any(product is not None and not product.pcie_p2p for product in products)


@rule(cause="p2p_denied_by_driver")
def peer_access_refused(
    topology: Topology,
    gpus: Gpus | None,
    nccl: NcclLog | None,
    log: ServerLog | None,
    launch: Launch | None,
    info: ServerInfo | None,
    environment: Environment | None,
) -> Outcome:
    """The driver refuses peer access between the GPUs of one group."""
    if len(topology.gpus) == 1 or tp_size(launch, log, info) == 1:
        return Cleared("one GPU serves alone")
    if _nvlinked(topology):
        return Cleared("the GPUs are joined by NVLink, which grants peer access")
    refused = _refused(topology)
    if not topology.p2p:
        return _not_asked(gpus, nccl, environment)
    if not refused:
        return Cleared("peer access is OK between all pairs")
    if _switched_off(environment, nccl):
        raise Undecided("NCCL_P2P_DISABLE is set as well", settle=_SETTLE, suspicion=0.1)
    cells = tuple(f"{pair.a}-{pair.b} {pair.word}" for pair in refused)
    if _between_groups(topology):
        raise Undecided(
            f"peer access is refused between groups alone ({cells[0]}), as across two sockets",
            settle="nvidia-smi topo -m: do those pairs cross sockets (SYS)?",
            suspicion=0.1,
        )
    stock = ", as the stock driver does for all GeForce cards; no flag brings it"
    return Finding(
        statement=f"The driver refuses peer access: {', '.join(cells[:3])}{stock if _geforce(gpus) else ''}.",
        confidence=0.9 if _staged(nccl) else 0.75,
        slows=frozenset(("decode", "prefill", "ttft", "throughput")),
        effect=_SHM_EFFECT,
        quotes=cells[:6],
    )


def _not_asked(gpus: Gpus | None, nccl: NcclLog | None, environment: Environment | None) -> Outcome:
    if any(path.startswith("P2P") for path in (nccl.paths if nccl else ())) and not _staged(nccl):
        return Cleared("NCCL uses P2P on every channel")
    by_design = " GeForce cards have none without NVLink;" if _geforce(gpus) else ""
    staged = _staged(nccl) and not _switched_off(environment, nccl)
    raise Undecided(
        f"the peer-access matrix was not asked;{by_design} NCCL"
        f" {'stages through host memory' if staged else 'says nothing of it'}",
        settle=_SETTLE,
        suspicion=0.3 if staged else 0.08,
    )


@rule(cause="p2p_false_grant")
def peer_copies_arrive_wrong(test: AllReduceTest, nccl: NcclLog | None) -> Outcome:
    """Peer access is granted, and what arrives is wrong."""
    if test.wrong is None:
        raise Undecided(
            "the test did not check values", settle="all_reduce_perf -c 1", suspicion=0.02
        )
    if not test.wrong:
        return Cleared("every value of the all-reduce test came out right")
    paths = nccl.paths if nccl else {}
    staged = bool(paths) and not any(path.startswith("P2P") for path in paths)
    return Finding(
        statement=f"{test.wrong} values of an all-reduce came out wrong: peer copies cannot be trusted.",
        confidence=0.5 if staged else 0.9,  # without peer access another part is at fault
        slows=frozenset(("crash", "start")),
        quotes=(f"#wrong {test.wrong}",),
    )


@rule(cause="bar1_small")
def aperture_too_small(gpus: Gpus, topology: Topology | None) -> Outcome:
    """The PCI aperture (BAR1) is too small for peer access."""
    small = [one for one in gpus.samples if one.bar1_mib is not None and one.bar1_mib <= 256]
    if not any(one.bar1_mib is not None for one in gpus.samples):
        raise Undecided("no look tells BAR1", settle="nvidia-smi -q -d MEMORY", suspicion=0.02)
    if not small:
        return Cleared("BAR1 is larger than 256 MiB")
    if len(gpus.by_gpu()) < 2 or (topology and topology.p2p and not _refused(topology)):
        return Cleared("BAR1 is 256 MiB, and peer access works or is not needed")
    if _geforce(gpus) is False:
        return Cleared("BAR1 is 256 MiB, with which professional cards do peer access")
    raise Undecided(
        "BAR1 is 256 MiB; with the patched modules that would prevent peer access",
        settle=_SETTLE,
        suspicion=0.12,
    )


@rule(cause="p2p_cross_socket")
def group_crosses_sockets(
    topology: Topology, gpus: Gpus | None, nccl: NcclLog | None, test: AllReduceTest | None
) -> Outcome:
    """The group of GPUs crosses CPU sockets, where NCCL does not use peer access by itself."""
    words = topology.words()
    if words and all(word.startswith("NV") for word in words):
        return Cleared("the GPUs are joined by NVLink")
    if "SYS" not in words:  # NODE is between two host bridges of one NUMA node
        return Cleared("no pair of GPUs is told to cross a socket") if words else None
    plateau = _plateau(test)
    if plateau and _links_are_up(gpus):
        return Finding(
            statement=(
                "The group crosses the CPU sockets (SYS), and the all-reduce is bound by bandwidth"
                f" there: flat at {plateau:.1f} GB/s, with every link at its full generation."
            ),
            confidence=0.75,
            category="at_ceiling",
            slows=frozenset(("prefill", "ttft", "throughput", "decode")),
            remedy=("Keep a group within one socket: two replicas, or pipeline over the sockets.",),
            quotes=(f"bus bandwidth flat at {plateau:.1f} GB/s from 4 MB up", "topo: SYS"),
        )
    if nccl and any(path.startswith(("SHM", "NET")) for path in nccl.paths):
        return Finding(
            statement="The group crosses CPU sockets (SYS), and NCCL stages through host memory.",
            confidence=0.6,
            slows=frozenset(("decode", "prefill", "ttft", "throughput")),
            effect=Effect(
                (-9.0, -4.0, -1.0), (-40.0, -25.0, -10.0), "rtx6kpro, 44 against 65 tok/s"
            ),
            quotes=tuple(f"NCCL: {path} {count}" for path, count in nccl.paths.items()),
        )
    if nccl and nccl.paths:
        return Cleared("NCCL uses P2P across the sockets")
    raise Undecided(
        "the group crosses sockets (SYS); how NCCL passes them is not told",
        settle="the server once with NCCL_DEBUG=INFO: via P2P, SHM or NET between the sockets?",
        suspicion=0.15,
    )


def _plateau(test: AllReduceTest | None) -> float | None:
    """Return the bus bandwidth of large messages if it is one plateau, in GB/s."""
    large = [rate for size, rate in test.busbw_gb_s.items() if size >= _LARGE_BYTES] if test else []
    if len(large) < 3 or min(large) < (1 - _FLAT) * max(large):
        return None
    return max(large)


def _links_are_up(gpus: Gpus | None) -> bool:
    busy = [one for one in gpus.busy() if one.link_gen and one.gen_possible] if gpus else []
    return bool(busy) and all(one.link_gen == one.gen_possible for one in busy)


RULES = (
    peer_access_refused,
    peer_copies_arrive_wrong,
    aperture_too_small,
    group_crosses_sockets,
)
