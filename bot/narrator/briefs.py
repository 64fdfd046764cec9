"""What came back of a look, in one line: the figures that a person would read out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import singledispatch
from statistics import median

from tools.engine import (
    Benchmark,
    Environment,
    Launch,
    LogMatches,
    Metrics,
    ModelConfig,
    ServerInfo,
    ServerLog,
    SourceLines,
)
from tools.linux.kernel import KernelLog
from tools.linux.machine import Machine, Processes
from tools.linux.pci import PciLinks
from tools.nvidia.gpus import Gpus
from tools.nvidia.nccl import NcclLog
from tools.nvidia.topology import Nvlinks, Topology
from tools.probe import Facts

_SHOWN = 3


@singledispatch
def brief(facts: Facts) -> str:  # noqa: ARG001 - the answer for kinds that have none of their own
    """Say in one short line what was learned; empty where there is nothing to read out."""
    return ""


@brief.register
def _(facts: Launch) -> str:
    flags = len(facts.flags) if facts.flags is not None else None
    parts = [facts.engine or "", facts.version or "", f"pid {facts.pid}" if facts.pid else ""]
    parts += [
        f"{flags} arguments asked for" if flags is not None else "",
        f"in {facts.container}" if facts.container else "",
        f"unit {facts.unit}" if facts.unit else "",
        f"port {facts.port}" if facts.port else "",
    ]
    beside = f"; beside it {_some(list(facts.others))} (HOST:PORT chooses)" if facts.others else ""
    return _joined(parts) + beside


@brief.register
def _(facts: ServerInfo) -> str:
    ranks = len(facts.effective)
    return _joined([
        f"{len(facts.resolved)} arguments as resolved",
        f"{ranks} scheduler{'s' if ranks != 1 else ''} tell{'' if ranks != 1 else 's'} what runs" if ranks else "",
        f"accept length {facts.accept_len:.2f} since start" if facts.accept_len else "",
    ])  # fmt: skip


@brief.register
def _(facts: ServerLog) -> str:
    steady = facts.steady()
    rate = f"median {median(line.tok_s or 0 for line in steady):.1f} tok/s" if steady else ""
    graphs = Counter(line.graph for line in facts.decode)
    in_graph = (
        f"{graphs[True]} of {len(facts.decode)} in a CUDA graph"
        if graphs[True] or graphs[False]
        else ""
    )
    accepted = [line.accept_len for line in steady if line.accept_len]
    return _joined([
        f"{len(facts.decode)} decode and {len(facts.prefill)} prefill lines",
        in_graph,
        rate,
        f"accept length {median(accepted):.2f}" if accepted else "",
        f"{len(facts.notices)} notices" if facts.notices else "",
        f"{facts.unexplained_count} lines not understood" if facts.unexplained_count else "",
    ])  # fmt: skip


@brief.register
def _(facts: Gpus) -> str:
    busy = facts.busy()
    names = Counter(name.removeprefix("NVIDIA ") for name in facts.names)
    links = {
        f"Gen{s.link_gen} x{s.link_width}"
        for s in (busy or facts.samples)
        if s.link_gen and s.link_width
    }
    return _joined([
        ", ".join(f"{n}x {name}" for name, n in names.items()),
        f"{len(facts.samples)} samples, {len(busy)} at work" if len(facts.samples) > len(facts.by_gpu()) else "",
        ", ".join(sorted(links)) + (" under load" if busy else " idle") if links else "",
        _span("utilisation", [s.util_pct for s in busy], "%"),
        _span("memory clock", [s.mem_mhz for s in busy], "MHz"),
        _span("power", [s.power_w for s in busy], "W"),
        f"driver {facts.driver}" if facts.driver else "",
    ])  # fmt: skip


@brief.register
def _(facts: PciLinks) -> str:
    hops = [
        f"{d.bdf.removeprefix('0000:')} Gen{d.link_gen} x{d.link_width}"
        for d in facts.devices
        if d.link_gen
    ]
    return _some(hops)


@brief.register
def _(facts: Topology) -> str:
    kinds = Counter(pair.word for pair in facts.links)
    peers = Counter(pair.word for pair in facts.p2p)
    return _joined([
        ", ".join(f"{word} {n}x" for word, n in kinds.items()),
        "peer access " + ", ".join(f"{word} {n}x" for word, n in peers.items()) if peers else "",
    ])  # fmt: skip


@brief.register
def _(facts: Nvlinks) -> str:
    lanes, told = len({(one.gpu, one.link) for one in facts.links}), facts.active()
    errors = [one.errors for one in facts.links if one.errors is not None]
    return _joined([
        f"{sum(told.values())} of {len(told)} NVLinks active" if told else f"{lanes or 'no'} NVLinks",
        f"{sum(errors)} errors since the driver was loaded" if errors else "",
    ])  # fmt: skip


@brief.register
def _(facts: KernelLog) -> str:
    xids = Counter(line.code for line in facts.xids)
    return _joined([
        ", ".join(f"Xid {code} {n}x" for code, n in xids.items()) or "no Xid",
        f"{len(facts.aer)} PCIe error reports" if facts.aer else "no PCIe errors",
        f"{len(facts.io_page_faults)} IOMMU faults" if facts.io_page_faults else "",
        f"{facts.oom_kills} process(es) killed for want of memory" if facts.oom_kills else "",
    ])  # fmt: skip


@brief.register
def _(facts: Machine) -> str:
    governors = "/".join(facts.governors)
    throttled = facts.throttled_delta
    return _joined([
        facts.cpu_model or "",
        f"{facts.cpus} CPUs" if facts.cpus else "",
        f"governor {governors}" if governors else "",
        f"limited to {facts.quota_cpus:g} CPUs" if facts.quota_cpus else "no CPU limit" if facts.quota_told else "",
        f"throttled {throttled} times in {facts.window_s:g} s" if throttled is not None and facts.window_s else "",
        facts.virt if facts.virt and facts.virt != "none" else "",
        f"on {facts.guest_of}" if facts.guest_of else "",
    ])  # fmt: skip


@brief.register
def _(facts: Processes) -> str:
    busiest = sorted(
        (row for row in facts.rows if row.cpu_pct), key=lambda row: -(row.cpu_pct or 0)
    )
    return _some([f"{row.name or row.pid} {row.cpu_pct:.0f} %" for row in busiest])


@brief.register
def _(facts: Metrics) -> str:
    over = f", counters over {facts.window_s:.1f} s" if facts.window_s else ""
    return f"{len(facts.gauges)} gauges{over}"


@brief.register
def _(facts: ModelConfig) -> str:
    mixed = (
        f"{facts.linear_layers} linear + {facts.full_attention_layers} full attention"
        if facts.linear_layers
        else ""
    )
    return _joined([
        facts.architecture or "",
        f"{facts.layers} layers" if facts.layers else "",
        mixed,
        f"hidden {facts.hidden}" if facts.hidden else "",
        f"{facts.experts} experts" if facts.experts else "",
        facts.quantization or facts.dtype or "",
    ])  # fmt: skip


@brief.register
def _(facts: SourceLines) -> str:
    places = [f"{line.path}:{line.line}" for line in facts.found]
    where = f"nowhere in {facts.version}" if facts.version else "nowhere"
    return f"{facts.needle}: {_some(places) or where}"


@brief.register
def _(facts: Environment) -> str:
    return (
        _some([f"{name}={value}" for name, value in facts.values.items()])
        or "nothing that bears on speed"
    )


@brief.register
def _(facts: LogMatches) -> str:
    return f"{facts.count if facts.count is not None else len(facts.lines)} lines hold {facts.needle!r}"


@brief.register
def _(facts: NcclLog) -> str:
    paths = ", ".join(f"{path} {n}x" for path, n in facts.paths.items())
    return _joined(
        [facts.version or "", f"network {facts.network}" if facts.network else "", paths]
    )


@brief.register
def _(facts: Benchmark) -> str:
    return _joined([
        f"{facts.output_tok_s:g} tok/s out" if facts.output_tok_s else "",
        f"mean TTFT {facts.ttft_mean_ms:g} ms" if facts.ttft_mean_ms else "",
        f"P99 ITL {facts.itl_p99_ms:g} ms" if facts.itl_p99_ms else "",
    ])  # fmt: skip


def _joined(parts: Iterable[str]) -> str:
    return ", ".join(part for part in parts if part)


def _some(parts: list[str]) -> str:
    more = f" and {len(parts) - _SHOWN} more" if len(parts) > _SHOWN else ""
    return ", ".join(parts[:_SHOWN]) + more


def _span(name: str, values: Iterable[float | None], unit: str) -> str:
    told = sorted(value for value in values if value is not None)
    if not told:
        return ""
    span = f"{told[0]:g}" if told[0] == told[-1] else f"{told[0]:g} to {told[-1]:g}"
    return f"{name} {span} {unit}"
