"""What was measured against what this hardware can give, and what a claimed rate would need."""

from __future__ import annotations

from collections.abc import Iterator

from bot.narrator.line import Line, Part, Table
from tools.physics.headroom import SLOWER, Headroom
from tools.rule import Interval

_WHOLE_FROM = 10  # percent, from which on a decimal would only look exact


def measured(room: Headroom) -> Iterator[Part]:
    """Tell the headroom as a table, the step as a waterfall, and the claim answered."""
    head = ("link repaired", "at the ceiling", "what the link costs")
    yield Table(("", "measured", *(head if room.link_cost else head[1:2])), tuple(_rows(room)))
    yield Line("text", " ".join(_waterfalls(room)))
    yield from _claim(room)
    answered = bool(room.claimed_tok_s and room.claimed_tok_s > room.ceiling_tok_s.mid)
    untold = room.accept_len != 1 and not answered  # the answer to a claim tells it
    drafts = f" The accept length is {room.accept_len:.2f}." if untold else ""
    yield Line("said", f"Ceiling and costs by the {room.source}.{drafts}")


def _waterfalls(room: Headroom) -> Iterator[str]:
    """Tell where a decode step goes, and a chunk of a cold prompt, apart and in one line."""
    terms = " · ".join(f"{_short(name)} {ms.mid:.1f}" for name, ms in room.terms)
    yield f"A decode step of {room.step_ms:.1f} ms: {terms} ms."
    if room.chunk_ms and room.chunk_tokens:
        terms = " · ".join(f"{_short(name)} {ms.mid:,.0f}" for name, ms in room.prefill_terms)
        took = f"{room.chunk_tokens:,} cold prompt tokens, {room.chunk_ms:,.0f} ms"
        yield f"{took}: {terms} ms.".replace("-", "−")


def _short(name: str) -> str:
    """Name a slow link by itself; the table says what it costs and the verdict what it could be."""
    slow, found, _ = name.partition(SLOWER)
    return f"{slow} (slow)" if found else slow


def percent(interval: Interval) -> str:
    """Write an interval of percents, the middle first: −51 % (−57 to −45)."""
    low, middle, high = map(_signed, interval)
    return f"{middle} % ({low} to {high})"


def _signed(value: float) -> str:
    text = f"{value:+.{0 if abs(value) >= _WHOLE_FROM else 1}f}".removesuffix(".0")
    return "0" if text in ("+0", "-0") else text.replace("-", "−")


def _rows(room: Headroom) -> Iterator[tuple[str, ...]]:
    cost, streams = room.link_cost, "one stream" if room.running == 1 else f"{room.running} streams"
    if room.prefill_tok_s and room.prefill_ceiling:
        lost = percent(cost.prefill_pct) if cost and cost.prefill_pct else ""
        best = _span(room.prefill_ceiling)
        named = ("prefill, cold (tok/s)", f"{room.prefill_tok_s:,.0f}")
        yield (*named, best, "", lost) if cost else (*named, best)
    ceiling = f"{room.ceiling_step_ms.mid:.1f}"
    named = ("decode step (ms)", f"{room.step_ms:.1f}")
    if cost:
        repaired = f"{room.step_ms - cost.decode_ms.mid:.1f}"
        lost = f"{cost.decode_ms.mid:.1f} ms, {percent(cost.decode_pct)}"
        yield (*named, repaired, ceiling, lost)
    else:
        yield (*named, ceiling)
    named = (f"decode, {streams} (tok/s)", f"{room.measured_tok_s:.0f}")
    if cost:
        repaired = f"{room.expected_tok_s.mid:.0f}"
        lost = f"{room.expected_tok_s.mid - room.measured_tok_s:.0f} tok/s"
        yield (*named, repaired, _span(room.ceiling_tok_s), lost)
    else:
        yield (*named, _span(room.ceiling_tok_s))


def _span(rates: Interval) -> str:
    low, middle, high = rates
    return f"{middle:,.0f} ({low:,.0f} to {high:,.0f})"


def _claim(room: Headroom) -> Iterator[Line]:
    claimed, needed = room.claimed_tok_s, room.accept_len_needed
    if not claimed or not needed:
        return
    share = f"{room.share_pct:.0f} %"
    if claimed <= room.ceiling_tok_s.mid:
        yield Line(
            "text", f"{claimed:g} tok/s is within reach: today you are at {share} of the ceiling."
        )
        return
    if room.accept_len_max is None:
        yield Line(
            "text",
            f"It will not be {claimed:g} tok/s: at {room.measured_tok_s:.0f} you are at {share} of what this"
            " decode can give without speculation. Fewer bytes for each token (a smaller weight format), or drafts,"
            " change that.",
        )
        return
    beyond = needed > room.accept_len_max
    bound = f", and none above {room.accept_len_max:g} is possible" if beyond else ""
    yield Line(
        "text",
        f"It will not be {claimed:g}. At {room.measured_tok_s:.0f} you are at {share} of what this decode can give. "
        f"{claimed:g} needs an accept length of {needed:.2f}; "
        f"yours is {room.accept_len:.2f} on today's prompts{bound}. "
        "If you saw it, the prompts were easier to draft (code often is), or it was another way of counting.",
    )
