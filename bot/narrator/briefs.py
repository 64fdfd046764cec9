"""What came back of a look, in one line: the figures that a person would read out."""

from __future__ import annotations

import re
from collections import Counter
from functools import singledispatch
from statistics import median

from bot.narrator.host_brief import rarely_told
from bot.narrator.links import hops_of, links_of
from bot.narrator.wording import joined, some, span
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
    Trials,
)
from tools.linux.kernel import KernelLog
from tools.linux.machine import Machine, Processes
from tools.linux.pci import PciLinks
from tools.nvidia.gpus import Gpus
from tools.nvidia.nccl import AllReduceTest, NcclLog
from tools.nvidia.topology import Nvlinks, Topology
from tools.probe import Facts

_KIND = re.compile(r"For(?:ConditionalGeneration|CausalLM)$")


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
    beside = f"; beside it {some(list(facts.others))} (HOST:PORT chooses)" if facts.others else ""
    return joined(parts) + beside


@brief.register
def _(facts: Trials) -> str:
    runs = [arm.label for trial in facts.trials for arm in trial.arms]
    together = len(facts.together)
    return joined([
        f"{len(runs)} runs: {some(list(dict.fromkeys(runs)))}" if runs else "",
        f"{together} copies, alone or at once" if together else "",
    ])  # fmt: skip


@brief.register
def _(facts: ServerInfo) -> str:
    ranks = len(facts.effective)
    return joined([
        f"{len(facts.resolved)} as resolved",
        f"{ranks} scheduler{'s' if ranks != 1 else ''} tell{'' if ranks != 1 else 's'} what runs" if ranks else "",
        f"accept length {facts.accept_len:.2f} since start" if facts.accept_len else "",
    ])  # fmt: skip


@brief.register
def _(facts: ServerLog) -> str:
    steady = facts.steady()
    rate = f"median {median(line.tok_s or 0 for line in steady):.1f} tok/s" if steady else ""
    graphs = Counter(line.graph for line in facts.decode)
    decode = f"{len(facts.decode) or 'no'} decode"
    if graphs[True] or graphs[False]:
        every = graphs[True] == len(facts.decode)
        decode += f" ({'all' if every else graphs[True] or 'none'} in a CUDA graph)"
    accepted = [line.accept_len for line in steady if line.accept_len]
    return joined([
        f"{decode} and {len(facts.prefill) or 'no'} prefill lines",
        rate,
        f"accept length {median(accepted):.2f}" if accepted else "",
        "" if steady or not facts.notices else f"{len(facts.notices)} of note",
        f"{facts.unexplained_count} lines not understood" if facts.unexplained_count else "",
    ])  # fmt: skip


@brief.register
def _(facts: Gpus) -> str:
    busy = facts.busy()
    names = Counter(name.removeprefix("NVIDIA ") for name in facts.names)
    many = len(facts.samples) > len(facts.by_gpu())
    told = any(sample.busy is not None for sample in facts.samples)
    return joined([
        ", ".join(f"{n}x {name}" for name, n in names.items()),
        f"{len(facts.samples)} samples" if many else "",
        f"{len(busy)} at work" if many and told else "",
        links_of(facts),
        span("utilisation", [s.util_pct for s in busy], "%"),
        span("memory", [s.mem_mhz for s in busy], "MHz"),
        span("", [s.power_w and round(s.power_w) for s in busy], "W"),
        f"driver {facts.driver}" if facts.driver and not facts.window_s else "",
    ])  # fmt: skip


@brief.register
def _(facts: PciLinks) -> str:
    return hops_of(facts)


@brief.register
def _(facts: Topology) -> str:
    kinds = Counter(pair.word for pair in facts.links)
    peers = Counter(pair.word for pair in facts.p2p)
    return joined([
        ", ".join(f"{n}x {word}" for word, n in kinds.items()),
        "peer access " + ", ".join(f"{n}x {word}" for word, n in peers.items()) if peers else "",
    ])  # fmt: skip


@brief.register
def _(facts: Nvlinks) -> str:
    lanes, told = len({(one.gpu, one.link) for one in facts.links}), facts.active()
    errors = [one.errors for one in facts.links if one.errors is not None]
    return joined([
        f"{sum(told.values())} of {len(told)} active" if told else f"{lanes or 'none'}",
        f"{sum(errors)} errors since the driver was loaded" if errors else "",
    ])  # fmt: skip


@brief.register
def _(facts: KernelLog) -> str:
    xids = Counter(line.code for line in facts.xids)
    return joined([
        ", ".join(f"Xid {code} {n}x" for code, n in xids.items()) or "no Xid",
        f"{len(facts.aer)} PCIe error reports" if facts.aer else "no PCIe errors",
        f"{len(facts.io_page_faults)} IOMMU faults" if facts.io_page_faults else "",
        f"{facts.oom_kills} process(es) killed for want of memory" if facts.oom_kills else "",
    ])  # fmt: skip


@brief.register
def _(facts: Machine) -> str:
    governors = "/".join(facts.governors)
    throttled = facts.throttled_delta
    return joined([
        facts.cpu_model or "",
        f"{facts.cpus} CPUs" if facts.cpus else "",
        f"governor {governors}" if governors else "",
        f"limited to {facts.quota_cpus:g} CPUs" if facts.quota_cpus else "no CPU limit" if facts.quota_told else "",
        f"throttled {throttled} times in {facts.window_s:.0f} s" if throttled and facts.window_s else "",
        facts.virt if facts.virt and facts.virt != "none" else "",
        f"on {facts.guest_of}" if facts.guest_of else "",
        f"shared memory {facts.shm_total_mib:.0f} MiB" if facts.shm_total_mib else "",
        *(() if facts.cpu_model or facts.cpus else rarely_told(facts)),
    ])  # fmt: skip


@brief.register
def _(facts: Processes) -> str:
    busiest = sorted(
        (row for row in facts.rows if row.cpu_pct), key=lambda row: -(row.cpu_pct or 0)
    )
    stacks = len(facts.stacks)
    of = len({one.pid for one in facts.stacks})
    return joined([
        some([f"{row.name or row.pid} {row.cpu_pct:.0f} %" for row in busiest]),
        f"the calls of {stacks} threads in {of} process{'es' if of > 1 else ''}" if stacks else "",
    ])  # fmt: skip


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
    return joined([
        _KIND.sub("", facts.architecture or ""),
        f"{facts.layers} layers" if facts.layers else "",
        mixed,
        f"{facts.experts} experts" if facts.experts else "",
        facts.quantization or facts.dtype or "",
    ])  # fmt: skip


@brief.register
def _(facts: SourceLines) -> str:
    if not facts.found:
        return f"{facts.needle} is named nowhere{f' in {facts.version}' if facts.version else ''}"
    count = len(facts.found)
    return f"{facts.needle} is named in {count} place{'s' if count > 1 else ''}"


@brief.register
def _(facts: Environment) -> str:
    return (
        some([f"{name}={value}" for name, value in facts.values.items()])
        or "nothing that bears on speed"
    )


@brief.register
def _(facts: LogMatches) -> str:
    return f"{facts.count if facts.count is not None else len(facts.lines)} lines hold {facts.needle!r}"


@brief.register
def _(facts: NcclLog) -> str:
    paths = ", ".join(f"{path} {n}x" for path, n in facts.paths.items())
    return joined([facts.version or "", f"network {facts.network}" if facts.network else "", paths])


@brief.register
def _(facts: AllReduceTest) -> str:
    best = max(facts.busbw_gb_s.values(), default=None)
    return joined([
        f"{facts.gpus} GPUs" if facts.gpus else "",
        f"up to {best:.1f} GB/s on the bus" if best else "",
        f"{facts.wrong} values wrong" if facts.wrong else "",
        (f"it ended with {facts.error}" if facts.error else "it did not finish")
        if facts.finished is False
        else "",
    ])  # fmt: skip


@brief.register
def _(facts: Benchmark) -> str:
    return joined([
        facts.rate,
        f"mean TTFT {facts.ttft_mean_ms:g} ms" if facts.ttft_mean_ms else "",
        f"P99 ITL {facts.itl_p99_ms:g} ms" if facts.itl_p99_ms else "",
        f"RDMA {facts.rdma_gbit_s:g} Gbit/s" if facts.rdma_gbit_s else "",
        f"TCP {facts.tcp_gbit_s:g} Gbit/s" if facts.tcp_gbit_s else "",
    ])  # fmt: skip
