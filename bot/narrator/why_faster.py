"""The one sentence of a comparison: who is faster, by how much, at which load, and what explains how much of it."""

from __future__ import annotations

import math
from collections.abc import Callable

from bot.narrator.measured import percent
from tools.comparison import Comparison, Difference, Gap
from tools.comparison.gain import percents, turned
from tools.comparison.load import NO_DRAFTS
from tools.physics.interval import Interval

_REASONS = 3
_LEAST_SHARE = 0.1  # of a gap, below which a part is no reason for it
_LEAST_POINTS = 0.3
_ALL = 0.95  # of a gap, from which on one part explains it
_AS_A_FACTOR = 2.0  # times as fast, from which on percents are hard to read
_GRAVE = 6  # weight from which on a difference without a figure is named: products, versions, what was typed
_NAMED = 4
_WHOLE_FROM = 10  # percent, from which on a decimal would only look exact
Told = tuple[Difference, Interval]
# How a difference reads where "NAME is A against B" would be clumsy; the faster side's value first.
_PHRASES: dict[str, Callable[[str, str, str], str]] = {
    "link under load": lambda fast, slow, who: f"its links run at {fast} and {who}'s at {slow}",
    "GPUs": lambda fast, slow, who: f"it has {fast} and {who} {slow}",
    "accept length": lambda fast, slow, who: _accepted(fast, slow, who),
    "model": lambda fast, slow, who: f"it serves {fast} and {who} {slow}",
    "engine version": lambda fast, slow, who: f"it runs version {fast} and {who} {slow}",
    "tokens of a request": lambda fast, slow, _: f"its requests hold {fast} tokens against {slow}",
}


def headline(told: Comparison) -> str:
    """Say who is faster and why, or why that cannot be said."""
    decode, prefill = told.decode, told.prefill
    if decode and decode.apart:
        return faster(told, decode)
    if prefill and prefill.apart:
        return f"{_decodes_alike(told)} {faster(told, prefill)}".strip()
    if decode is None:
        why = told.why.rstrip(".")
        return f"Decode of {_both(told)} cannot be compared: {why}. {_what_costs(told)}"
    return f"{_decodes_alike(told)} {_what_costs(told)}"


def faster(told: Comparison, gap: Gap) -> str:
    """Say of one gap who is faster, by how much, and the reasons."""
    sides = (told.here.name, told.there.name)
    fast, slow = (sides[1], sides[0]) if gap.second_is_faster else sides
    does = "decodes" if gap.of == "decode" else "reads cold prompts"
    at = _at(gap) if gap.of == "decode" else ""
    return f"{fast} {does} {_much(gap, slow)}{at}{_why(told, gap, slow)}."


def _much(gap: Gap, slow: str) -> str:
    """Write a gap in percent, or from twice as fast on as a factor."""
    gain = percents(_ahead(gap, gap.whole))
    if _in_factors(gap):
        low, middle, high = (f"{1 + part / 100:.1f}" for part in gain)
        return f"{middle} times as fast as {slow} ({low} to {high})"
    low, middle, high = (figure(part) for part in gain)
    return f"{middle} % faster" + (f" ({low} to {high} %)" if low != high else "")


def _why(told: Comparison, gap: Gap, slow: str) -> str:
    parts = [(one, _ahead(gap, gain)) for one, gain in reasons(gap)]
    helps = [
        f"{_phrase(one, gap, slow)} ({_explains(gap, gain)})" for one, gain in parts if gain.mid > 0
    ]
    against = [
        f"{_phrase(one, gap, slow)} ({_takes(gap, gain)})" for one, gain in parts if gain.mid < 0
    ]
    although = f", although {', '.join(against)}" if against else ""
    if helps:
        return f": {', '.join(helps)}{although}"
    return f"{although}, and {_unexplained(told, gap)}"


def _unexplained(told: Comparison, gap: Gap) -> str:
    fast = 1 if gap.second_is_faster else 0
    grave = [
        one.what
        for one in told.differences
        if one.gain is None and one.weight >= _GRAVE and not one.open_yet and one.ill != fast
    ]
    if not grave:
        return "nothing that was seen to differ explains it"
    return f"no figure is known of what differs: {', '.join(grave[:_NAMED])}"


def _explains(gap: Gap, ahead: Interval) -> str:
    if ahead.mid >= _ALL * abs(gap.whole.mid):
        return "explains it"
    if _in_factors(gap):
        return f"a factor of {math.exp(ahead.mid):.2f}"
    whole = figure(percents(_ahead(gap, gap.whole)).mid)
    return f"explains {figure(_points(gap, ahead))} of {whole} %"


def _takes(gap: Gap, ahead: Interval) -> str:
    if _in_factors(gap):
        return f"a factor of {math.exp(-ahead.mid):.2f} the other way"
    return f"costs it {figure(-_points(gap, ahead))} %"


def measure(gap: Gap, gain: Interval) -> str:
    """Write what a part adds to a gap, as the gap itself is written: in percent points or as a factor."""
    if _in_factors(gap):
        low, middle, high = (f"{math.exp(part):.2f}" for part in _ahead(gap, gain))
        return f"a factor of {middle} ({low} to {high})"
    return percent(gap.points(gain).rounded())


def _points(gap: Gap, ahead: Interval) -> float:
    return gap.points(ahead if gap.second_is_faster else turned(ahead)).mid


def _ahead(gap: Gap, gain: Interval) -> Interval:
    """Return a gain as the faster side has it."""
    return gain if gap.second_is_faster else turned(gain)


def _in_factors(gap: Gap) -> bool:
    return abs(gap.whole.mid) >= math.log(_AS_A_FACTOR)


def reasons(gap: Gap) -> list[Told]:
    """Return the parts of a gap that are worth a word, the largest first."""
    whole = abs(gap.points(gap.whole).mid)
    least = max(_LEAST_POINTS, _LEAST_SHARE * whole)
    told = [part for part in gap.parts if abs(gap.points(part[1]).mid) >= least]
    return told[:_REASONS]


def _phrase(one: Difference, gap: Gap, slow: str) -> str:
    fast_has, slow_has = (one.there, one.here) if gap.second_is_faster else (one.here, one.there)
    if phrase := _PHRASES.get(one.what):
        return phrase(fast_has, slow_has, slow)
    if one.group == "finding":
        return f"{'it' if fast_has == 'yes' else slow} alone has “{one.what}”"
    return f"its {one.what} is {fast_has} against {slow_has}"


def _accepted(fast: str, slow: str, who: str) -> str:
    if NO_DRAFTS in (fast, slow):
        runs = f"runs {NO_DRAFTS}"
        it = runs if fast == NO_DRAFTS else f"accepts {fast} tokens a step"
        other = runs if slow == NO_DRAFTS else f"accepts {slow} tokens a step"
        return f"it {it} and {who} {other}"
    return f"its accept length is {fast} against {slow}"


def _decodes_alike(told: Comparison) -> str:
    gap = told.decode
    if gap is None:
        return ""
    rate = told.rates[0]  # decode stands first where both measured it
    values = [f"{value.mid:.0f}" for value in (rate.here, rate.there) if value]
    said = " and ".join(dict.fromkeys(values))
    return f"{_both(told)} decode alike{_at(gap)} ({said} tok/s)."


def _at(gap: Gap) -> str:
    return f" at {gap.running} running request{'' if gap.running == 1 else 's'}"


def _both(told: Comparison) -> str:
    return f"{told.here.name} and {told.there.name}"


def _what_costs(told: Comparison) -> str:
    costly = told.costly
    if not costly:
        seen = ", as far as both were seen" if any(told.unseen) else ""
        return f"Nothing that costs differs{seen}."
    first = costly[0]
    more = f", and {len(costly) - 1} more that cost" if len(costly) > 1 else ""
    return (
        f"What differs and costs: {first.what} ({first.here} on {told.here.name}, {first.there}"
        f" on {told.there.name}){more}."
    )


def figure(value: float) -> str:
    """Write a percentage: 12, 3.4, 4.0."""
    text = f"{value:.0f}" if abs(value) >= _WHOLE_FROM else f"{value:.1f}"
    return text.replace("-", "−")
