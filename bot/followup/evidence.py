"""Which looks a person wants to see: by id, by what they look at, or all."""

from __future__ import annotations

from collections.abc import Sequence

from bot.followup.intent import Intent
from bot.followup.shown import short
from bot.investigate import Judged
from bot.narrator import Line, title
from bot.narrator.briefs import brief
from tools.engine import Claim
from tools.evidence import Evidence

# Words for a look, and the probes that are meant.
_WORDS: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("nvidia-smi", "gpu", "samples"), ("ReadGpus", "SampleGpus")),
    (("nvlink",), ("ReadNvlinks",)),
    (("lspci", "pcie", "link"), ("ReadPcieLinks",)),
    (("dmesg", "kernel"), ("ReadKernelLog",)),
    (("topo",), ("ReadTopology",)),
    (("metrics",), ("ReadMetrics",)),
    (("env",), ("ReadEnvironment",)),
    (("launch", "command line"), ("ReadLaunch",)),
    (("server args", "server_info", "arguments"), ("ReadServerInfo", "ReadLaunch")),
    (("config",), ("ReadModelConfig",)),
    (("source",), ("ReadSourceLines",)),
    (("process", "top"), ("ReadProcesses",)),
    (("machine", "lscpu"), ("ReadMachine",)),
)  # fmt: skip
_TOLD = 6  # looks that are told in a line each


def evidence(intent: Intent, end: Judged) -> tuple[list[Line], tuple[str, ...] | None]:
    """Return what is said, and the ids of the looks to attach: none means all, None means no file."""
    looks = [one for one in end.evidence if one.output is not None]
    if not looks:
        return [Line("text", "This case holds no raw answers.")], None
    if not intent.looks and not intent.text:
        return [Line("text", f"The raw answers of all {len(looks)} looks, without secrets.")], ()
    chosen = _chosen(intent, end.evidence)
    missing = [name for name in intent.looks if name not in {one.id for one in end.evidence}]
    said = [
        Line("text", f"There is no {name}: the looks are E1 to {end.evidence[-1].id}.")
        for name in missing
    ]
    if intent.text and not chosen:
        said.append(Line("text", f"No look of this case is {short(intent.text)}."))
    for one in chosen[:_TOLD]:
        said += _told(one)
    with_text = tuple(one.id for one in chosen if one.output is not None and one.output.stdout)
    return said, with_text or None


def _chosen(intent: Intent, every: Sequence[Evidence]) -> list[Evidence]:
    if intent.looks:
        return [one for one in every if one.id in intent.looks]
    names = next((probes for words, probes in _WORDS if any(w in intent.text for w in words)), ())
    return [one for one in every if one.title in names]


def _told(one: Evidence) -> list[Line]:
    name = title(one.probe)
    if isinstance(one.facts, Claim):
        name = "What was said in the question"
    said = one.trouble or (brief(one.facts) if one.facts else "")
    return [
        Line("trouble" if one.trouble else "look", f"{name}: {said}" if said else name, (one.id,))
    ]
