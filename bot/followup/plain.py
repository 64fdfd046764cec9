"""The verdict in plain words, for somebody who is new to it."""

from __future__ import annotations

from collections.abc import Iterator

from bot.investigate import Judged
from bot.narrator import CATEGORIES, Line
from bot.narrator.wording import spaced
from tools.physics.headroom import Headroom

_SERVING = (
    "A language model answers in two phases. Prefill reads the whole prompt at once: that is arithmetic. Decode"
    " then writes one token after another, and for each of them reads all weights from the GPU's memory."
)
_FAILING_MEMORY = (
    "A GPU checks its memory for errors. It corrects small ones by itself; those that it cannot correct stop the"
    " program, and a bad row of memory is replaced by a spare one at the next reset."
)
# What a layer of the catalogue is, for whoever has never heard of it.
_LAYERS = {
    "pcie": "PCIe is the road between a GPU and the machine, and between GPUs that have no other. Its generation"
    " (Gen1 to Gen5) is the speed limit, its width (x16) the number of lanes. GPUs that share a model exchange"
    " results after every layer, so a slow road holds up both phases, and prefill most, as it carries most.",
    "p2p": "Peer access lets one GPU read another's memory directly. Without it every exchange takes a detour"
    " through the machine's own memory.",
    "nvlink": "NVLink is a fast cable between GPUs, beside PCIe. If it is down they use the slower road.",
    "nccl": "NCCL is the library by which GPUs exchange results. A variable can force it onto a slow path.",
    "power": "A GPU slows its clocks when it may not draw more power.",
    "thermal": "A GPU slows its clocks when it is too hot.",
    "memory": "Decode is bound by how fast a GPU reads its memory: that sets a ceiling that no setting lifts.",
    "host_cpu": "Between two steps the CPU prepares the next one. If it is slow or held back, the GPU waits.",
    "numa": "A machine with two processors has near and far memory; far is slower.",
    "host_mem": "When the machine runs out of memory it moves pages to disk, which is far slower.",
    "gpu": "A GPU that serves somebody else as well has less left for this server.",
    "driver": "The driver is the software between the GPU and everything else.",
    "sglang": "The engine has many settings; some are set by itself, and one can cost much.",
    "speculative": "Speculation lets a small model guess some tokens ahead, which the large one checks at once."
    " The accept length says how many are right on average; easy text gives more.",
    "attention": "Attention looks back at all earlier tokens, so long chats make each step longer.",
    "client": "What is sent, and how many requests at once, sets the rate as much as the server does.",
    "measurement": "A rate can be counted in several ways, and some of them do not mean what they seem to.",
    "kernel": "A kernel is a program that runs on the GPU; a generic one is slower than one made for it.",
    "start": "The server does not start with what it was given.",
}  # fmt: skip


def plain(end: Judged) -> Iterator[Line]:
    """Tell what is slow and why, without a word that has to be known before."""
    verdict = end.verdict
    yield Line("text", _SERVING)
    if verdict.cause is None:
        yield Line(
            "text",
            f"Here I could not decide what slows it: {spaced(verdict.headline.rstrip('.'))}.",
        )
        return
    best = verdict.findings[0]
    layer = best.rule.cause.layer
    failing = layer == "memory" and verdict.category == "hardware"
    if told := _FAILING_MEMORY if failing else _LAYERS.get(layer):
        yield Line("text", told)
    statement = spaced(best.finding.statement.rstrip("."))
    yield Line("text", f"Here: {statement}. ({CATEGORIES[verdict.category]})", best.evidence)
    effect = best.finding.effect
    for name, what, pct in (
        ("prefill", "reading a prompt", effect.prefill_pct),
        ("decode", "writing the answer", effect.decode_pct),
    ):
        if pct and pct[1] <= -0.5:
            longer = (1 / (1 + pct[1] / 100) - 1) * 100
            yield Line(
                "item",
                f"So {what} ({name}) takes about {longer:.0f} % longer than it should.",
                best.evidence,
            )
    if verdict.headroom:
        yield _ceiling(verdict.headroom)
    remedy = best.finding.remedy or best.rule.cause.remedy
    if remedy and remedy[0] != "none":
        yield Line("text", f"What to do first: {spaced(remedy[0].rstrip('.'))}.")


def _ceiling(room: Headroom) -> Line:
    return Line(
        "item",
        f"It writes {room.measured_tok_s:.0f} tokens a second. The most that this model can do on these GPUs is about"
        f" {room.ceiling_tok_s.mid:.0f}, so it is at {room.share_pct:.0f} % of that.",
    )
