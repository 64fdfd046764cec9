"""What a change would give, by the step model: today, would be, and what a repair gives for nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bot.followup.change import Change
from bot.followup.imagined import Imagined, imagine
from bot.followup.intent import Intent
from bot.followup.judged import about
from bot.followup.shown import ids, ordered, short
from bot.investigate import Judged
from bot.narrator import Line, Part, Table
from bot.narrator.measured import percent
from bot.narrator.verdict import figures
from bot.narrator.wording import lowered, spaced
from tools.engine import Launch, ModelConfig, ServerLog
from tools.errors import Undecided
from tools.judgement import Confirmed
from tools.known import Known
from tools.nvidia.gpus import Gpus
from tools.physics.interval import Interval
from tools.physics.seen import Seen
from tools.physics.whatif import Today, WouldBe, would_be

_NEARLY_ALL = 0.7  # of a gain, from which on a repair gives nearly all of it
_AS_A_FACTOR = 60.0  # percent, from which on a change is easier read as a factor
_BY = "Differences and prompt rates by the step model; the rest of the step is taken as measured."
_ONLY = (
    "The step model knows links, peer access, how many GPUs share the model, and the accept length"
)


@dataclass(frozen=True)
class _Gain:
    title: str
    gives: WouldBe


def what_if(intent: Intent, end: Judged) -> Iterator[Part]:
    """Tell what a change would give to decode and prefill, or why that cannot be said."""
    change = Change.of(intent.text)
    if not change:
        yield from _of_the_findings(intent, end)
        return
    known = Known(end.evidence)
    seen = Seen.of(known.get)
    cited = ordered(
        one for kind in (Launch, ServerLog, ModelConfig, Gpus) for one in ids(end.evidence, kind)
    )
    try:
        today = Today.of(seen)
        imagined = imagine(change, today, seen)
    except Undecided as why:
        yield Line("text", f"I cannot work that out: {why.why}.", cited)
        return
    if imagined.refusal:
        yield Line("text", imagined.refusal, cited)
        return
    yield from _told(imagined, today, seen, cited)


def _told(imagined: Imagined, today: Today, seen: Seen, cited: tuple[str, ...]) -> Iterator[Part]:
    gives = would_be(today, imagined.deployment)
    repaired = _repaired(today, seen) if imagined.of_the_link else None
    if repaired and imagined.is_the_repair:
        repaired = None
    yield Line("text", f"{imagined.title}: {_in_short(today, gives)}.", cited)
    if repaired:
        yield from _against_the_repair(gives, repaired)
    columns = [_Gain(lowered(imagined.title), gives), *([repaired] if repaired else [])]
    yield _table(today, columns)
    for remark in imagined.remarks:
        yield Line("text", remark)
    yield Line("said", f"{_BY} {_modelled(today)}".strip())


def _in_short(today: Today, gives: WouldBe) -> str:
    rates = f"{gives.tok_s.mid:.0f} instead of {today.tok_s:.0f} tok/s"
    parts = [f"decode {_change(gives.decode_pct)}, {rates}"]
    if gives.prefill_pct and today.prefill_tok_s:
        changes = any(gives.prefill_pct)
        told = f"{_change(gives.prefill_pct)} against today's {today.prefill_tok_s:,.0f} tok/s"
        parts.append(f"prefill {told}" if changes else "prefill stays as it is")
    return "; ".join(parts)


def _change(pct: Interval) -> str:
    """Write a change in percent, or from some size on as a factor: 2.2x (1.9 to 2.5)."""
    if pct.mid >= _AS_A_FACTOR:
        low, mid, high = (f"{1 + part / 100:.1f}" for part in pct)
        return f"{mid}x ({low} to {high})"
    told = percent(pct.rounded())
    return told.split(" (")[0] if pct.lo == pct.hi else told


def _against_the_repair(gives: WouldBe, repaired: _Gain) -> Iterator[Line]:
    """Say what of a gain the repair of the slow link gives for nothing."""
    better = repaired.gives
    more = [f"decode {_over(gives.tok_s.mid, better.tok_s.mid)}"]
    if gives.prefill_tok_s and better.prefill_tok_s:
        new, old = gives.prefill_tok_s.mid, better.prefill_tok_s.mid
        more.append(f"prefill {_over(new, old)}, {new:,.0f} instead of {old:,.0f} tok/s")
    share = _share(better, gives)
    if share is not None and share >= 1:
        verdict = "The repair alone gives more."
    elif share is not None and share >= _NEARLY_ALL:
        verdict = "From today's link it looks like more, but the repair gives you nearly all of that for nothing."
    else:
        verdict = "Repair the link first, then look again."
    yield Line("text", f"Against {repaired.title} it is {' and '.join(more)}. {verdict}")


def _over(one: float, other: float) -> str:
    pct = (one / other - 1) * 100
    return f"{pct:+.1f} %".replace("-", "−")


def _share(repaired: WouldBe, gives: WouldBe) -> float | None:
    pairs = [(repaired.decode_pct.mid, gives.decode_pct.mid)]
    if repaired.prefill_pct and gives.prefill_pct:
        pairs.append((repaired.prefill_pct.mid, gives.prefill_pct.mid))
    shares = [part / whole if whole > 0 else 2.0 for part, whole in pairs if part > 0]
    return min(shares, default=None)


def _repaired(today: Today, seen: Seen) -> _Gain | None:
    now = today.deployment
    good = seen.link(repaired=True) if now.tp > 1 else now.link
    if good.raw_gb_s <= now.link.raw_gb_s:
        return None
    return _Gain(f"a healthy {good.name}", would_be(today, today.over(good)))


def _table(today: Today, gains: list[_Gain]) -> Table:
    rows = [
        (
            "decode step (ms)",
            f"{today.step_ms:.1f}",
            *(_span(one.gives.step_ms, 1) for one in gains),
        ),
        ("decode (tok/s)", f"{today.tok_s:.0f}", *(_span(one.gives.tok_s, 1) for one in gains)),
    ]
    if today.prefill_tok_s and all(one.gives.prefill_tok_s for one in gains):
        rates = [_span(one.gives.prefill_tok_s, 0) for one in gains if one.gives.prefill_tok_s]
        rows.append(("prefill (tok/s)", f"{today.prefill_tok_s:,.0f}", *rates))
    return Table(("", "today", *(one.title for one in gains)), tuple(rows))


def _span(values: Interval, digits: int) -> str:
    low, mid, high = (f"{value:,.{digits}f}" for value in values)
    return mid if low == high else f"{mid} ({low} to {high})"


def _modelled(today: Today) -> str:
    parts = [
        "" if today.step_measured else "today's step",
        "" if today.prefill_measured else "today's prompt rate",
    ]
    told = " and ".join(part for part in parts if part)
    return f"Not measured but modelled: {told}." if told else ""


def _of_the_findings(intent: Intent, end: Judged) -> Iterator[Line]:
    """Say what the rules know of a change that the step model does not."""
    true = [
        one for one in about(end.verdict, intent) if isinstance(one, Confirmed) and figures(one)
    ]
    if not true:
        yield Line(
            "text",
            f"I cannot say what “{short(intent.text)}” would give: {_ONLY[0].lower()}{_ONLY[1:]}, and no"
            " finding of this case puts a figure to it. A measurement before and after would.",
        )
        return
    yield Line("text", f"{_ONLY}; of this the findings of this case say:")
    for one in true:
        statement = spaced(one.finding.statement.rstrip("."))
        yield Line("item", f"{statement}. Today it costs {figures(one)}.", one.evidence)
