"""How much better or worse, as people say it: percent below a factor of two, "so many times" above it; pure."""

from __future__ import annotations

from collections.abc import Sequence

from bot.narrator.measured import percent
from tools.physics.interval import Interval

_TIMES_FROM = 2.0  # of a factor; below it a percentage is plain
_LEAST = 1e-6  # of a factor, where a figure has fallen to nothing


def gain(pct: Sequence[float]) -> str:
    """Write a gain of a rate with its interval: "+20 % (+15 to +25)", "2.5 times as fast (1.25 to 10)"."""
    low, middle, high = pct
    if 1 + middle / 100 < _TIMES_FROM:
        return percent(Interval(low, middle, high))
    return f"{times(1 + middle / 100)} times as fast ({_ends(1 + low / 100, 1 + high / 100)})"


def times(factor: float) -> str:
    """Write a factor as exactly as it is worth: 1.25, 2.5, 72."""
    if factor < 10:
        return f"{factor:.{2 if factor < _TIMES_FROM else 1}f}".rstrip("0").rstrip(".")
    return f"{factor:,.0f}"


def instead(before: float, after: float, unit: str) -> str:
    """Write a figure beside the one before it: "12.3 ms instead of 880 ms"."""
    return f"{_figure(after)} {unit} instead of {_figure(before)} {unit}"


def changed(pct: float, unit: str) -> str:
    """Write the change of a figure: "−25.0 %", "72 times faster", "3 times as much"."""
    factor, word = _factor(pct, unit)
    return f"{times(factor)} times {word}" if factor >= _TIMES_FROM else f"{_signed(pct)} %"


def within(low: float, middle: float, high: float, unit: str) -> str:
    """Write the interval of a change, in the form of its middle: "−26.1 to −23.9 %", "60 to 85 times"."""
    if _factor(middle, unit)[0] < _TIMES_FROM:
        return f"{_signed(low)} to {_signed(high)} %"
    ends = [max(1 + one / 100, _LEAST) for one in (low, high)]
    least, most = sorted(ends if middle > 0 else (1 / one for one in ends))
    return f"{_ends(least, most)} times"


def _ends(least: float, most: float) -> str:
    """Write two factors so that they differ."""
    if times(least) == times(most):
        exact = 2 if least < 10 else 1
        return f"{least:,.{exact}f} to {most:,.{exact}f}"
    return f"{times(least)} to {times(most)}"


def _factor(pct: float, unit: str) -> tuple[float, str]:
    """Return the factor by which it grew or fell, and what that is called: a rate grows, a time falls."""
    factor = max(1 + pct / 100, _LEAST)
    rate = unit.endswith("/s")
    if factor >= 1:
        return factor, "as much" if rate else "slower"
    return 1 / factor, "less" if rate else "faster"


def _figure(value: float) -> str:
    return f"{value:,.1f}" if abs(value) < 100 else f"{value:,.0f}"


def _signed(value: float) -> str:
    text = f"{value:+.1f}".replace("-", "−")
    return "0.0" if text in ("+0.0", "−0.0") else text
