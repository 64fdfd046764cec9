"""Memory of the NUMA nodes, as numactl --hardware and numastat print it."""

from __future__ import annotations

import re
from typing import Any

from tools.linux.lscpu import ranges
from tools.linux.quantity import number

Told = dict[str, Any]
# numactl 2.0.11 to 2.0.19; its tools are not translated
_CPUS = re.compile(r"^node (\d{1,4}) cpus:((?: \d{1,4})*) *$", re.MULTILINE)
_SIZE = re.compile(r"^node (\d{1,4}) size: (\d{1,9}) MB *$", re.MULTILINE)
_HEAD = re.compile(r"^ {2,40}((?:node\d{1,4} *)+)$", re.MULTILINE)
_COUNTS = re.compile(r"^(numa_hit|other_node) +([\d ]+)$", re.MULTILINE)
_SYSTEM = re.compile(r"^Per-node system memory usage \(in MBs\):$", re.MULTILINE)
_TOTAL = re.compile(r"^MemTotal +([\d. ]+)$", re.MULTILINE)
_NODES = re.compile(r"Node (\d{1,4})")
_ENOUGH = 100_000  # pages; of fewer a share says nothing


def read_numa(text: str) -> Told:
    """Return nodes with their CPUs and memory, and how many pages came from the far node."""
    return {
        name: value
        for name, value in (_hardware(text) | _statistics(text) | _system(text)).items()
        if value is not None
    }


def _hardware(text: str) -> Told:
    cpus = {node: ranges(map(int, listed.split())) for node, listed in _CPUS.findall(text)}
    sizes = {node: float(mib) for node, mib in _SIZE.findall(text)}
    if not cpus and not sizes:
        return {}
    return {
        "numa_nodes": len(cpus.keys() | sizes.keys()),
        "numa_cpus": {node: listed for node, listed in cpus.items() if listed} or None,
        "numa_mib": sizes or None,
    }


def _statistics(text: str) -> Told:
    """Plain numastat: pages that a node's memory gave to programs of another node, since boot."""
    head = _HEAD.search(text)
    if head is None:
        return {}
    counts = {name: [int(word[:20]) for word in row.split()] for name, row in _COUNTS.findall(text)}
    nodes = len(head[1].split())
    hits, others = counts.get("numa_hit", []), counts.get("other_node", [])
    if len(hits) != nodes or len(others) != nodes:
        return {}
    far = round(100 * sum(others) / sum(hits), 2) if sum(hits) >= _ENOUGH else None
    return {"numa_nodes": nodes, "numa_far_pct": far}


def _system(text: str) -> Told:
    found = _SYSTEM.search(text)
    if found is None:
        return {}
    body = text[found.end() : found.end() + 20_000]
    nodes, total = _NODES.findall(body.split("\n---")[0].split("MemTotal")[0]), _TOTAL.search(body)
    if total is None or not nodes:
        return {}
    mib = [number(word) for word in total[1].split()][: len(nodes)]
    return {
        "numa_nodes": len(nodes),
        "numa_mib": dict(zip(nodes, mib, strict=False)) if None not in mib else None,
    }
