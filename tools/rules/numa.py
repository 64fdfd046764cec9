"""Memory and threads on the far NUMA node, and whether that matters."""

from __future__ import annotations

import re
from collections import Counter

from tools.engine import Launch, ServerInfo, ServerLog
from tools.engine.parallel import argument
from tools.errors import Undecided
from tools.linux.machine import Machine, Process, Processes
from tools.nvidia.nccl import NcclLog
from tools.nvidia.topology import Topology
from tools.rule import Cleared, Effect, Finding, Outcome, rule

FAR_PCT = 10.0  # of all pages; bound servers stay below 1
MOSTLY = 0.8  # of a process' memory on one node
_RANK = re.compile(r"(?:DP|TP|rank)[_ ]?(\d+)")
_WORKER = re.compile(r"sglang|vllm|python|worker|sched", re.IGNORECASE)
_OFFLOAD = ("cpu_offload_gb", "enable_hierarchical_cache", "hicache_ratio", "swap_space", "offload")
_SETTLE = "the same run bound to the GPU's node (numactl, --numa-node), everything else unchanged"


def _node(row: Process) -> str | None:
    """Return the node that holds nearly all of a process' memory."""
    total = sum(row.numa_mib.values())
    best = max(row.numa_mib, key=row.numa_mib.__getitem__, default=None)
    return best if best and total and row.numa_mib[best] >= MOSTLY * total else None


def _gpu_nodes(topology: Topology | None) -> dict[int, str]:
    """Return the CPU node of each GPU: the first of "0,2-17" (Grace names memory nodes after it)."""
    found = {}
    for gpu, said in (topology.numa if topology else {}).items():
        number, node = re.search(r"\d+", gpu), re.match(r"\d+", said.strip())
        if number and node:
            found[int(number[0])] = node[0]
    return found


def _own_nodes(topology: Topology | None, home: str) -> frozenset[str]:
    """Return all nodes of the GPUs whose CPU node is `home`: "0,2-17" names their memory too."""
    found = {home}
    for said in (topology.numa if topology else {}).values():
        if re.match(rf"{home}(?!\d)", said.strip()):
            for first, last in re.findall(r"(\d{1,4})(?:-(\d{1,4}))?", said):
                found |= {str(node) for node in range(int(first), int(last or first) + 1)}
    return frozenset(found)


def _remote(processes: Processes, topology: Topology | None) -> list[str]:
    """Return what lies on a node without its GPU, as sentences."""
    rows = [(row, node) for row in processes.rows if (node := _node(row))]
    nodes = _gpu_nodes(topology)
    if not rows or not nodes:
        return []
    only = nodes[min(nodes)] if len(set(nodes.values())) == 1 else None
    words, unnamed = [], []
    for row, node in rows:
        rank = _RANK.search(row.name or "") or _RANK.search(row.command or "")
        home = nodes.get(int(rank[1])) if rank else None
        if home is None and _WORKER.search(row.name or ""):
            home = only
        if home is None:
            unnamed.append(node)
        elif node not in _own_nodes(topology, home):
            words.append(f"{row.name} ({row.pid}): memory on node {node}, its GPU on node {home}")
    have, want = Counter(unnamed), Counter(nodes.values())
    if len(unnamed) == len(nodes) and only is None:
        over = {node: count - want[node] for node, count in have.items() if count > want[node]}
        words += [
            f"{count} of {len(unnamed)} workers too many on node {n}" for n, count in over.items()
        ]
    return words


def _offloads(launch: Launch | None, log: ServerLog | None, info: ServerInfo | None) -> str | None:
    """Return the argument that makes host memory part of every step; None if none is known."""
    for name in _OFFLOAD:
        value = argument((name,), launch, log, info)
        if value not in (None, False, 0, 0.0, "0", "0.0", "False"):
            return f"{name}={value}"
    return None


@rule(cause="numa_remote")
def memory_on_the_far_node(
    processes: Processes,
    topology: Topology | None,
    launch: Launch | None,
    log: ServerLog | None,
    info: ServerInfo | None,
    nccl: NcclLog | None,
) -> Outcome:
    """A rank's host memory lies on the other NUMA node, and every step reads it."""
    if not any(row.numa_mib for row in processes.rows):
        raise Undecided(
            "where the processes' memory lies is not told",
            settle="numastat -p of each rank, nvidia-smi topo -m",
            suspicion=0.03,
        )
    remote = _remote(processes, topology)
    if not remote:
        return Cleared("each rank's memory lies on its GPU's node")
    offload = _offloads(launch, log, info)
    staged = bool(nccl and any(path.startswith("SHM") for path in nccl.paths))
    if not (offload or staged):
        if _direct(topology, nccl) and _told(launch, log, info):
            return Cleared("weights and cache are in video memory, and the GPUs speak directly")
        raise Undecided(
            f"{remote[0]}; whether a step reads it is not told", settle=_SETTLE, suspicion=0.2
        )
    return Finding(
        statement=f"{remote[0]}, and every step uses host memory ({offload or 'NCCL over SHM'}).",
        confidence=0.85 if offload else 0.65,
        slows=frozenset(("decode", "prefill", "throughput", "ttft")),
        effect=Effect((-30.0, -10.0, -2.0), (-20.0, -12.0, -5.0), "an estimate, not measured here"),
        quotes=tuple(remote[:4]),
    )


def _told(launch: Launch | None, log: ServerLog | None, info: ServerInfo | None) -> bool:
    """Say whether an offload would have been seen: in the arguments, or in the engine's log."""
    return bool((launch and launch.flags is not None) or info or (log and log.lines))


def _direct(topology: Topology | None, nccl: NcclLog | None) -> bool:
    if topology and topology.words() and all(word.startswith("NV") for word in topology.words()):
        return True
    return bool(nccl and nccl.paths and all(path.startswith("P2P") for path in nccl.paths))


@rule(cause="numa_remote_harmless")
def far_memory_unused(
    processes: Processes,
    topology: Topology,
    launch: Launch | None,
    log: ServerLog | None,
    info: ServerInfo | None,
    nccl: NcclLog | None,
) -> Outcome:
    """Host memory lies on the far node, and no step reads it."""
    remote = _remote(processes, topology)
    if not remote or _offloads(launch, log, info) or not _direct(topology, nccl):
        return None
    if not _told(launch, log, info):
        raise Undecided(
            f"{remote[0]}; whether weights or cache are offloaded to it is not told",
            settle="the server's command line (cpu offload, hierarchical cache)",
            suspicion=0.2,
        )
    eager = log.said("graph_off") if log else ()
    return Finding(
        statement=(
            f"{remote[0]}; untidy, and harmless: without CPU offload decode runs from video memory,"
            " and the GPUs speak directly."
        ),
        confidence=0.6 if eager else 0.75,
        benign=True,
        verify="A/B with numactl binding: expect under 3 %",
        quotes=tuple(remote[:4]),
    )


@rule(cause="numa_remote")
def a_node_without_memory(machine: Machine) -> Outcome:
    """One node has no memory of its own, or programs take theirs from the other node."""
    bare = [
        node for node, mib in machine.numa_mib.items() if not mib and machine.numa_cpus.get(node)
    ]
    if bare and any(machine.numa_mib.values()):
        raise Undecided(
            f"node {bare[0]} has cores ({machine.numa_cpus[bare[0]]}) and no memory: whatever runs there"
            " reads from the other socket",
            settle="dmidecode -t memory: modules in the slots of both processors; nvidia-smi topo -m: the"
            " GPUs' node",
            suspicion=0.3,
        )
    if machine.numa_far_pct is None:
        return Cleared("every node has memory") if len(machine.numa_mib) > 1 else None
    if machine.numa_far_pct < FAR_PCT:
        return Cleared(f"{machine.numa_far_pct:g} % of all pages since boot went to the other node")
    raise Undecided(
        f"{machine.numa_far_pct:.0f} % of all pages since boot went to programs of the other node; whose,"
        " is not told",
        settle="numastat -p of each rank, nvidia-smi topo -m",
        suspicion=0.15,
    )


RULES = (memory_on_the_far_node, far_memory_unused, a_node_without_memory)
