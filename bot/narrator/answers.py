"""What is excluded, as a person would be answered: first what they suspect, by name, then the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.narrator.line import Line
from bot.narrator.wording import raised, spaced
from tools.judgement import RuledOut
from tools.verdict import Interest

TOPICS = {
    "cuda_graph_disabled": "CUDA graphs",
    "piecewise_graph_off": "Prefill graphs",
    "prefix_cache_off": "Prefix cache",
    "custom_allreduce_off": "All-reduce",
    "pcie": "PCIe",
    "p2p": "Peer access",
    "nvlink": "NVLink",
    "nccl": "NCCL",
    "power": "Power",
    "thermal": "Heat",
    "host_cpu": "CPU",
    "numa": "NUMA",
    "speculative": "Speculation",
    "attention": "Attention",
    "kernel": "Kernels",
    "compute": "Arithmetic",
    "memory": "GPU memory",
    "gpu": "Sharing",
    "client": "Client",
    "measurement": "Measurement",
    "host_mem": "Host memory",
    "storage": "Disks",
    "driver": "Driver",
    "engine": "The engine",
    "virtualization": "Guest",
}
_OF_A_TOPIC = 3
_OTHERS_SHOWN = 4


def not_the_cause(ruled_out: Sequence[RuledOut], asked: Interest) -> Iterator[Line]:
    """Tell what answers a suspicion under its name, then the graver causes; count the rest."""
    worded = list({one.why: one for one in reversed(ruled_out) if one.why}.values())[::-1]
    topics: dict[str, list[RuledOut]] = {}
    for one in worded:
        if topic := _topic(one, asked):
            topics.setdefault(topic, []).append(one)
    others = [one for one in worded if not _topic(one, asked)][:_OTHERS_SHOWN]
    if ruled_out:
        yield Line("heading", "Not the cause, and why")
    told = len(others)
    for topic, group in topics.items():
        shown = group[:_OF_A_TOPIC]
        told += len(shown)
        yield Line("item", f"{topic}: {_joined('; ', shown)}.")
    if others:
        text = _joined(" · ", others)
        yield Line("item", f"{raised(text)}.")
    if left := len(ruled_out) - told:
        many = "hypotheses are" if left > 1 else "hypothesis is"
        yield Line("said", f"{left} more {many} excluded by what was seen; --json lists them.")


def _topic(one: RuledOut, asked: Interest) -> str:
    cause = one.rule.cause
    found = next((name for name in (cause.id, cause.layer) if name in asked.suspects), "")
    return TOPICS.get(found, "")


def _joined(sign: str, shown: Sequence[RuledOut]) -> str:
    """Join reasons, each with the looks that show it: "no quota is set (E3 E11)"."""
    return sign.join(
        f"{spaced(one.why.rstrip('.'))}{' (' + ' '.join(one.evidence) + ')' if one.evidence else ''}"
        for one in shown
    )
