"""What was measured against what this hardware can give, and what a claimed rate would need."""

from __future__ import annotations

from collections.abc import Iterator

from bot.narrator.line import Line, Part, Table
from tools.physics.headroom import Headroom
from tools.rule import Interval


def measured(room: Headroom) -> Iterator[Part]:
    """Tell the headroom as a table, the step as a waterfall, and the claim answered."""
    yield Table(("", "measured", "at the ceiling", "what the link costs"), tuple(_rows(room)))
    terms = " · ".join(f"{name} {ms.mid:.1f}" for name, ms in room.terms)
    yield Line("text", f"A decode step of {room.step_ms:.1f} ms: {terms} ms.")
    yield from _claim(room)
    yield Line("said", f"By the {room.source}.")


def percent(interval: Interval) -> str:
    """Write an interval of percents, the middle first: −51 % (−57 to −45)."""
    low, middle, high = (f"{value:+.3g}".replace("-", "−") for value in interval)
    return f"{middle} % ({low} to {high})"


def _rows(room: Headroom) -> Iterator[tuple[str, ...]]:
    cost = room.link_cost
    if room.prefill_tok_s and room.prefill_ceiling:
        low, middle, high = room.prefill_ceiling
        ceiling = f"{middle:,.0f} tok/s ({low:,.0f} to {high:,.0f})"
        lost = percent(cost.prefill_pct) if cost and cost.prefill_pct else ""
        yield ("prefill, cold", f"{room.prefill_tok_s:,.0f} tok/s", ceiling, lost)
    lost = f"{cost.decode_ms.mid:.1f} ms, {percent(cost.decode_pct)}" if cost else ""
    yield ("decode step", f"{room.step_ms:.1f} ms", f"{room.ceiling_step_ms.mid:.1f} ms", lost)
    low, middle, high = room.ceiling_tok_s
    streams = "one stream" if room.running == 1 else f"{room.running} streams"
    tokens = f"accept length {room.accept_len:.2f}" if room.accept_len != 1 else ""
    ceiling = f"{middle:.0f} tok/s ({low:.0f} to {high:.0f}), {tokens}".rstrip(", ")
    lost = f"{room.expected_tok_s.mid - room.measured_tok_s:.0f} tok/s" if cost else ""
    yield (f"decode, {streams}", f"{room.measured_tok_s:.0f} tok/s", ceiling, lost)


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
