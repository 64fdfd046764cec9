"""Two servers side by side: who is faster and why, what each difference costs, and what stays open."""

from __future__ import annotations

from collections.abc import Iterator

from bot.narrator.line import Line, Part, Table
from bot.narrator.measured import percent
from bot.narrator.verdict import CATEGORIES
from bot.narrator.why_faster import faster, headline, measure, reasons
from bot.narrator.wording import lowered, raised, spaced
from tools.comparison import Comparison, Difference, Gap, Rate, Side
from tools.comparison.gain import percents, turned
from tools.physics.interval import Interval
from tools.verdict import OPEN

_ROWS = 10
_NAMED = 8
_SAME_NAMED = 6
_LONG = 28  # characters of a value in a sentence
_NO_NAME = ("this", "these", "the")  # a side that has no name: "these files"
_NO_FIGURE = "no figure is known"


def compared(told: Comparison, *, linked: bool = True) -> Iterator[Part]:
    """Tell a comparison. `linked` cites the looks at the first side, which is the one of the thread."""
    cites = _cited(told) if linked else ()
    yield Line("verdict", _begun(headline(told)), cites)
    yield from _attributed(told.decode)
    yield from _of_prefill(told)
    for side in (told.here, told.there):
        yield Line("item", f"{side.name}: {_verdict(side)}.")
    yield from _rates(told)
    yield from _costly(told, linked=linked)
    yield from _without_figure(told)
    yield from _unseen(told)
    if told.same:
        more = _more(len(told.same) - _SAME_NAMED)
        yield Line("said", f"The same: {', '.join(told.same[:_SAME_NAMED])}{more}.")
    if told.next_test:
        yield Line("heading", "The test that tells more: the same load on both")
        yield Line("test", told.next_test)


def _begun(text: str) -> str:
    """Begin a sentence; the name of a host or a file stays as it is."""
    return raised(text) if text.split(" ")[0] in _NO_NAME else text


def _cited(told: Comparison) -> tuple[str, ...]:
    ids = {look for one in told.differences[:3] if one.costs for look in one.looks[0]}
    ids |= {look for rate in told.rates[:1] for look in rate.looks[0]}
    return tuple(sorted(ids, key=lambda one: int(one[1:])))


def _verdict(side: Side) -> str:
    verdict = side.verdict
    said = spaced(verdict.headline.removeprefix(OPEN).rstrip("."))
    return f"{CATEGORIES[verdict.category]}: {said}"


def _attributed(gap: Gap | None) -> Iterator[Line]:
    """Tell what each part explains with its interval, and what is left."""
    if gap is None or not gap.apart:
        return
    parts = [f"{one.what} {measure(gap, gain)}" for one, gain in reasons(gap)]
    rest, within = measure(gap, gap.left), gap.left.lo <= 0 <= gap.left.hi
    if parts:
        mark = ", which is within what the model can say" if within else ""
        yield Line("text", f"Explained: {'; '.join(parts)}. Left: {rest}{mark}.")
    elif gap.parts:
        yield Line("text", f"Without a reason stays {rest}.")


def _of_prefill(told: Comparison) -> Iterator[Line]:
    gap = told.prefill
    if gap is None or not gap.apart or told.decode is None or not told.decode.apart:
        return  # where decode says nothing the headline tells it
    yield Line("text", faster(told, gap))


def _rates(told: Comparison) -> Iterator[Line]:
    for rate in told.rates:
        here, there = (_value(value, rate.unit) for value in (rate.here, rate.there))
        unit = f" {rate.unit}".rstrip()
        lone = unit if rate.here and not rate.there else ""
        values = f"{here}{lone} against {there}{unit if rate.there else ''}"
        yield Line("item", f"{raised(rate.name)}: {values}{_verdict_on(rate, told.there.name)}.")


def _value(value: Interval | None, unit: str) -> str:
    if value is None:
        return "not measured"
    return f"{value.mid:,.0f}" if abs(value.mid) >= 100 or unit == "%" else f"{value.mid:.1f}"


def _verdict_on(rate: Rate, there: str) -> str:
    gain = rate.gain
    if rate.incomparable:
        return f" (not comparable: {rate.incomparable})"
    if gain is None:
        return ""
    if not rate.apart:
        return " (no more apart than by chance)"
    return f", {there} {percent(percents(gain).rounded())}"


def _costly(told: Comparison, *, linked: bool) -> Iterator[Part]:
    """Tell what costs as a table, and the findings that only one of the two has."""
    rows = told.costly
    if rows:
        here, there = told.here.name, told.there.name
        yield Table(("", here, there, "costs"), tuple(_row(one, told) for one in rows[:_ROWS]))
    for one in told.differences:
        if one.statement:
            names = (told.here.name, told.there.name)
            ill = one.ill or 0
            whose = (
                f"On {names[ill]}, and not checked on {names[1 - ill]}"
                if one.open_yet
                else f"Only on {names[ill]}"
            )
            text = f"{whose}: {lowered(spaced(one.statement.rstrip('.')))}."
            yield Line("item", text, one.looks[0] if linked and one.ill == 0 else ())
    for both in told.shared:
        text = lowered(spaced(both.finding.statement).split(": ")[0].rstrip("."))
        yield Line("said", f"On both alike: {text}.", both.evidence if linked else ())


def _row(one: Difference, told: Comparison) -> tuple[str, str, str, str]:
    return (one.what, one.here, one.there, _cost(one, told.here.name, told.there.name))


def _cost(one: Difference, here: str, there: str) -> str:
    """Say what it costs whom: "CT129: decode −3.3 % (−5.7 to −2.0)"."""
    if one.gain is None:
        return _NO_FIGURE
    losses: dict[str, list[str]] = {}
    for name, gain in (("decode", one.gain.decode), ("prefill", one.gain.prefill)):
        if gain and abs(gain.mid) >= _SHOWN:
            loser, lost = (here, turned(gain)) if gain.mid > 0 else (there, gain)
            losses.setdefault(loser, []).append(f"{name} {percent(percents(lost).rounded())}")
    return "; ".join(f"{who}: {', '.join(told)}" for who, told in losses.items()) or _NO_FIGURE


_SHOWN = 0.002


def _without_figure(told: Comparison) -> Iterator[Line]:
    free = [one for one in told.differences if not (one.costs or one.statement)]
    nothing = [one for one in free if one.gain is not None]
    unknown = [one for one in free if one.gain is None]
    for words, found in (
        ("Also different, and it costs nothing here", nothing),
        ("Also different, at no cost that can be worked out", unknown),
    ):
        if found:
            shown = ", ".join(_shown(one) for one in found[:_NAMED])
            yield Line("text", f"{words}: {shown}{_more(len(found) - _NAMED)}.")


def _shown(one: Difference) -> str:
    return f"{one.what} ({_cut(one.here)} against {_cut(one.there)})"


def _cut(value: str) -> str:
    return value if len(value) <= _LONG else f"{value[: _LONG - 1]}…"


def _unseen(told: Comparison) -> Iterator[Line]:
    for side, names in zip((told.here, told.there), told.unseen, strict=True):
        if names:
            yield Line("text", f"Not seen of {side.name}, so not compared: {', '.join(names)}.")


def _more(left: int) -> str:
    return f" and {left} more" if left > 0 else ""
