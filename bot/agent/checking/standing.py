"""Every line that code tells of an investigation: the verdict, its story, the arithmetic, each look."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from bot.agent.checking.ground import Ground, Kind
from bot.followup.plain import plain
from bot.investigate import Judged
from bot.narrator import CATEGORIES, Line, Table, look, title
from bot.narrator import verdict as story
from bot.narrator.briefs import brief
from bot.narrator.measured import measured
from bot.narrator.verdict import figures as costs
from bot.narrator.verdict import sure
from bot.narrator.wording import spaced, unnamed
from tools.engine import Claim, Launch, ModelConfig, ServerInfo, ServerLog
from tools.evidence import Evidence
from tools.judgement import Confirmed
from tools.linux.pci import PciLinks
from tools.nvidia.gpus import Gpus, GpuSample
from tools.physics.headroom import Headroom
from tools.rule import Interval
from tools.verdict import Verdict

_BREAK = re.compile(r"(?<=[a-z\d)%”\"'])\.\s+(?=[A-Z\d—–-])|\s·\s")
_INLINE = re.compile(r" \((E\d+(?: E\d+)*)\)(?:;|,)?")
_WORKED_FROM = (ServerLog, Gpus, PciLinks, ModelConfig, Launch, ServerInfo, Claim)
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
        *_verdict(end.verdict),
        *_story(end.verdict),
        *_worked_out(end),
        *(one for each in end.evidence for one in _look(each)),
        *_deployed(end),
        *_plainly(end),
        *(Ground(text, "figure") for text in more),
    ]
    parts = [
        Ground(part, one.kind, one.looks) for one in every for part in _parts(one.text) if part
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


def _parts(text: str) -> list[str]:
    return [part.strip() for part in _BREAK.split(" ".join(text.split()))]


def _verdict(verdict: Verdict) -> Iterator[Ground]:
    best = verdict.findings[0] if verdict.findings and verdict.cause else None
    cited = frozenset(best.evidence) if best else frozenset[str]()
    yield Ground(f"{CATEGORIES[verdict.category]}: {spaced(verdict.headline)}", "cause", cited)
    yield Ground(f"The verdict is {verdict.category}", "cause", cited)
    if best:
        trust = f"Confidence {sure(verdict.confidence)} ({verdict.confidence:.2f} of 1)"
        yield Ground(trust, "cause", cited)
    for one in verdict.findings:
        yield from _finding(one, "cause" if one is best else "true")
    for one in verdict.asides:
        yield from _finding(one, "benign")
    for gone in verdict.ruled_out:
        looks = frozenset(gone.evidence)
        if gone.why:
            yield Ground(spaced(gone.why), "look", looks)
        yield Ground(f"Excluded by what was seen: {gone.rule.hypothesis}", "excluded", looks)
    for still in verdict.unchecked:
        told = f"Could not check whether {still.rule.hypothesis.rstrip('.')}: {spaced(still.why)}"
        how = f". To check: {still.how}" if still.how else ""
        yield Ground(told + how, "open", frozenset(still.evidence))
    if verdict.next_test:
        yield Ground(unnamed(verdict.next_test), "todo")
    excluded, still_open = len(verdict.ruled_out), len(verdict.unchecked)
    yield Ground(f"{excluded} hypotheses are excluded by what was seen", "figure")
    yield Ground(f"{still_open} hypotheses are open, they could not be checked", "figure")


def _finding(one: Confirmed, kind: Kind) -> Iterator[Ground]:
    finding, cause, looks = one.finding, one.rule.cause, frozenset(one.evidence)
    yield Ground(spaced(finding.statement), kind, looks)
    yield Ground(one.rule.hypothesis, kind, looks)
    for quote in finding.quotes:
        yield Ground(quote, kind, looks)
    for phase, pct in (
        ("decode", finding.effect.decode_pct),
        ("prefill", finding.effect.prefill_pct),
    ):
        if pct and any(pct):
            yield from _cost(phase, pct, looks, kind)
    if told := costs(one):
        yield Ground(f"It costs {told}", kind, looks)
    for step in (*finding.remedy, *cause.remedy):
        yield Ground(spaced(step), "todo", looks)
    for name, texts in (
        ("Risk", (finding.risk, cause.risk)),
        ("Verify", (finding.verify, cause.verify)),
    ):
        yield from (Ground(f"{name}: {spaced(text)}", "todo", looks) for text in texts if text)


def _cost(phase: str, pct: Interval, looks: frozenset[str], kind: Kind) -> Iterator[Ground]:
    if pct[1] < 0:
        for decimals in (0, 1):
            yield Ground(f"It costs {phase} about {-pct[1]:.{decimals}f} %", kind, looks)
            low, high = (f"{-pct[end]:.{decimals}f}" for end in (2, 0))
            yield Ground(f"It costs {phase} {low} to {high} %", kind, looks)


def _worked_out(end: Judged) -> Iterator[Ground]:
    """Yield what the headroom tells; a sentence on it cites what it was worked out from."""
    looks = frozenset(look.id for look in end.evidence if isinstance(look.facts, _WORKED_FROM))
    if end.verdict.headroom:
        yield from (replace(one, looks=looks) for one in _headroom(end.verdict.headroom))


def _headroom(room: Headroom) -> Iterator[Ground]:
    for text in room.sentences():
        yield Ground(text, "figure")
    for name, ms in room.terms:
        yield Ground(f"Of a decode step {name} takes {ms.mid:.1f} ms", "figure")
    for part in measured(room):
        if isinstance(part, Table):
            yield from _cells(part)
        elif " · " not in part.text:
            yield Ground(part.text, "figure")
    if room.claimed_tok_s and room.claimed_tok_s > room.ceiling_tok_s.mid:
        for form in ("It will not be {} tok/s", "{} tok/s is not reachable", "{} is not reachable"):
            yield Ground(f"{form.format(f'{room.claimed_tok_s:g}')} on these prompts", "figure")
    yield Ground(f"A decode step takes {room.step_ms:.1f} ms as measured", "figure")
    yield Ground(f"Decode is at {room.share_pct:.0f} % of the ceiling", "figure")
    yield Ground(f"The accept length is {room.accept_len:.2f}", "figure")
    yield Ground(f"Decode runs at {room.measured_tok_s:.1f} tok/s", "figure")


def _cells(part: Table) -> Iterator[Ground]:
    for name, *cells in part.rows:
        what, _, unit = name.partition(" (")
        unit = f" {unit.rstrip(')')}" if unit else ""
        for head, cell in zip(part.head[1:], cells, strict=False):
            if cell:
                own = "" if "%" in cell or "ms" in cell or "tok" in cell else unit
                low = re.sub(r"^(\S+) (\(.*\))$", rf"\1{own}, \2{own}", cell)
                yield Ground(f"{what} {head} {low if low != cell else cell + own}", "figure")


def _look(one: Evidence) -> Iterator[Ground]:
    looks = frozenset({one.id})
    name = title(one.probe)
    yield Ground(f"{name}: {one.trouble}" if one.trouble else name, "look", looks)
    if one.facts is not None:
        told = brief(one.facts) or "; ".join(line.text for line in look(one))
        yield Ground(f"{name}: {spaced(told)}", "look", looks)
    if isinstance(one.facts, Gpus):
        yield from (Ground(text, "look", looks) for text in _cards(one.facts))


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
    if len(served.gpus) > 1:
        yield Ground(f"{len(served.gpus)} GPUs", "figure")
        yield Ground(f"All {len(served.gpus)} cards", "figure")


def _plainly(end: Judged) -> Iterator[Ground]:
    """Yield what a newcomer is told; what stands there of this host is cited."""
    for line in plain(end):
        kind: Kind = "true" if line.cites else "figure" if line.kind == "item" else "words"
        yield Ground(line.text, kind, frozenset(line.cites))
