"""Every line that code tells of an investigation: the verdict, its story, the arithmetic, each look."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from bot.agent.checking.ground import Ground, Kind
from bot.agent.checking.headrooms import worked_out
from bot.agent.checking.verdicts import lines
from bot.followup.plain import plain
from bot.investigate import Judged
from bot.narrator import Line, look, title
from bot.narrator import verdict as story
from bot.narrator.briefs import brief
from bot.narrator.set_by import what_set_it
from bot.narrator.wording import spaced
from tools.engine import Claim, Launch, ModelConfig, ServerInfo, ServerLog
from tools.evidence import Evidence
from tools.linux.pci import PciLinks
from tools.nvidia.gpus import Gpus, GpuSample
from tools.verdict import Verdict

_BREAK = re.compile(r"(?<=[a-z\d)%”\"'])\.\s+(?=[A-Z\d—–-])|\s·\s")
_INLINE = re.compile(r" \((E\d+(?: E\d+)*)\)(?:;|,)?")
_WORKED_FROM = (ServerLog, Gpus, PciLinks, ModelConfig, Launch, ServerInfo, Claim)
_FIRST = "What to do first"  # begins a step among the plain lines
_CHAPTERS: dict[str, Kind] = {
    "What to do": "todo",
    "What to look at next": "todo",
    "The one test that decides": "todo",
    "Also found": "true",
    "True, and not the cause": "benign",
    "Not the cause, and why": "look",
    "Could not check": "open",
}


def grounds(end: Judged, more: Iterable[str] = ()) -> tuple[Ground, ...]:
    """Return every line that code tells of an investigation; `more` are what else we computed."""
    every = [
        *lines(end.verdict),
        *_story(end.verdict),
        *_worked_out(end),
        *(one for each in end.evidence for one in _look(each)),
        *_deployed(end),
        *_plainly(end),
        *(
            Ground(one.text, "true", frozenset(one.cites))
            for one in what_set_it(end.parted)
            if one.kind == "item"
        ),
        *(Ground(text, "figure") for text in more),
    ]
    parts = [replace(one, text=part) for one in every for part in _parts(one.text) if part]
    parts += [
        replace(one, text=told) for one in parts if (told := _of_all(one.text, end)) != one.text
    ]
    return tuple(dict.fromkeys(parts))


def _story(verdict: Verdict) -> Iterator[Ground]:
    """Yield the lines of the story, each by the chapter that it stands in."""
    kind: Kind = "true"
    for part in story(verdict):
        if not isinstance(part, Line):
            continue
        if part.kind == "heading":
            kind = _CHAPTERS.get(part.text, "open")
            continue
        before = 0
        for found in _INLINE.finditer(part.text):
            yield Ground(part.text[before : found.start()], kind, frozenset(found[1].split()))
            before = found.end()
        yield Ground(part.text[before:], kind, frozenset(part.cites))


def _of_all(text: str, end: Judged) -> str:
    """Return a line that names every GPU of the host in the words for all of them."""
    number = len(end.deployment.gpus)
    names = " and ".join(
        filter(None, (", ".join(f"GPU {n}" for n in range(number - 1)), f"GPU {number - 1}"))
    )
    return (
        text.replace(names, "both GPUs" if number == 2 else f"all {number} GPUs")
        if number > 1
        else text
    )


def _parts(text: str) -> list[str]:
    return [part.strip() for part in _BREAK.split(" ".join(text.split()))]


def _worked_out(end: Judged) -> Iterator[Ground]:
    """Yield what the headroom tells; a sentence on it cites what it was worked out from."""
    looks = frozenset(look.id for look in end.evidence if isinstance(look.facts, _WORKED_FROM))
    if end.verdict.headroom:
        yield from (replace(one, looks=looks) for one in worked_out(end.verdict.headroom))


def _look(one: Evidence) -> Iterator[Ground]:
    looks = frozenset({one.id})
    name = title(one.probe)
    yield Ground(f"{name}: {one.trouble}" if one.trouble else name, "look", looks)
    if one.facts is not None:
        told = brief(one.facts) or "; ".join(line.text for line in look(one))
        yield Ground(f"{name}: {spaced(told)}", "look", looks)
    if isinstance(one.facts, Gpus):
        yield from (Ground(text, "look", looks) for text in _cards(one.facts))
        if drawn := [each.power_w for each in one.facts.samples if each.busy and each.power_w]:
            told = f"{min(drawn):.0f} and {max(drawn):.0f} W"
            yield Ground(f"The GPUs draw between {told} under load", "look", looks)


_TOLD: tuple[tuple[str, str, str], ...] = (
    ("util_pct", "utilisation", "%"),
    ("temp_c", "temperature", "C"),
    ("power_w", "power draw", "W"),
    ("power_limit_w", "power limit set", "W"),
    ("sm_mhz", "SM clock", "MHz"),
    ("mem_mhz", "memory clock", "MHz"),
    ("mem_used_mib", "memory used", "MiB"),
)


def _cards(facts: Gpus) -> Iterator[str]:
    told: dict[str, None] = {}
    for sample in facts.samples:
        if sample.index is not None:
            state = "" if sample.busy is None else " under load" if sample.busy else " at rest"
            told.update(dict.fromkeys(_card(sample, f"GPU {sample.index}{state}")))
    return iter(told)


def _card(sample: GpuSample, card: str) -> Iterator[str]:
    for field, name, unit in _TOLD:
        if (value := getattr(sample, field)) is not None:
            yield f"{card}: {name} {value:g} {unit}"
    if sample.link_gen:
        of = f" of Gen{sample.gen_possible}" if sample.gen_possible else ""
        yield f"{card}: link Gen{sample.link_gen} x{sample.link_width or ''}{of}"


def _deployed(end: Judged) -> Iterator[Ground]:
    served = end.deployment
    yield Ground(f"Served: {served}", "figure")
    names = Counter(served.gpus)
    for name, count in names.items():
        yield Ground(f"{count} GPUs {name}", "figure")
        engine = f"{served.engine or 'the engine'} {served.version or ''}"
        told = f"The server runs {engine} with {served.model or 'its model'} on {count} {name}"
        yield Ground(told, "figure")
    if len(served.gpus) > 1:
        yield Ground(f"{len(served.gpus)} GPUs", "figure")
        yield Ground(f"All {len(served.gpus)} cards", "figure")
        yield Ground(f"{len(served.gpus)} PCIe links", "figure")


def _plainly(end: Judged) -> Iterator[Ground]:
    """Yield what a newcomer is told; what stands there of this host is cited."""
    for line in plain(end):
        kind: Kind = "true" if line.cites else "figure" if line.kind == "item" else "words"
        kind = "todo" if line.text.startswith(_FIRST) else kind
        yield Ground(line.text, kind, frozenset(line.cites))
