"""A summary as a story: one line that is read in ten seconds, then the table and the details."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.health.kinds import LEAST_PCT, by_kind, kinds, named, new, table_of_kinds
from bot.health.looked import Found, Loss
from bot.health.summary import Course, Item, Summary, told
from bot.health.trends import Trend
from bot.narrator import Line, Part, Table
from bot.narrator.measured import percent
from tools.vitals.figures import FIGURES, FigureName

SHOWN = 10  # rows of the table: hosts, or where they are more what is wrong with them
_BETTER = 3  # hosts of which that is told; the rest is counted
_MOVED_PCT = 2.0  # of a trend, from which on it is told with its sign
_ALWAYS: tuple[FigureName, ...] = ("decode", "prefill")  # are told though they did not move
_COURSES: dict[Course, str] = {"new": "New: ", "known": "Known: ", "flapping": "Comes and goes: "}
_NEEDS: dict[Course, str] = {"known": "still needs attention", "flapping": "needs attention again"}


def headline(summary: Summary, whom: str = "") -> str:
    """Say the morning in one line: "All 40 hosts are fine.", or how many need somebody."""
    some, of = len(summary.items), f" of {whom}" if whom else ""
    if not some:
        return _silent(summary, of)
    known = f" {summary.quiet:,} more {_are(summary.quiet)} acknowledged." if summary.quiet else ""
    if some == 1:
        whom = summary.only or f"1 of {_hosts(summary, of)}"
        which = "" if summary.only else f": {summary.items[0].host}"
        return f"{whom} {_NEEDS.get(summary.items[0].course, 'needs attention')}{which}.{known}"
    which = named(summary.items) if some <= SHOWN else kinds(summary.items)
    return (
        f"{some:,} of {_hosts(summary, of)} need attention{_news(summary.items)}: {which}.{known}"
    )


def message(summary: Summary, whom: str = "") -> Iterator[Part]:
    """Tell what stands in the channel: the line, the table, what got better, the trends."""
    yield Line("verdict", headline(summary, whom))
    if len(summary.items) == 1:  # a table of one row is harder to read than a sentence
        yield Line("text", _sentences(summary.items[0]))
    elif summary.items:
        yield from _rows(summary.items)
    if summary.better:
        yield Line("text", f"Better than yesterday: {_better(summary.better)}.")
    if summary.items and (trends := trend_line(summary.trends)):
        median = "" if summary.only else ", by the median"
        yield Line("text", f"Today{median}: {trends}.")


def details(summary: Summary, some: Sequence[Item]) -> Iterator[Part]:
    """Tell all that is known of some that need somebody; of a single one what the message leaves out."""
    parts = [part for item in some for part in detail(item)]
    yield from parts[2:] if len(summary.items) == 1 else parts


def detail(item: Item) -> Iterator[Part]:
    """Tell all that is known of one host that needs somebody."""
    yield Line("heading", item.host)
    yield Line("text", _sentences(item))
    for other in item.looked.found[1:]:
        yield Line("item", f"{other.statement}{_losses(other)}")
    for slow in item.behind:
        if (sentence := slow.told(item.host)) != item.text:
            yield Line("item", sentence)
    for drift in item.drifts:
        if (sentence := told(drift)) != item.text:
            yield Line("item", sentence)


def table(items: Sequence[Item]) -> Table:
    """Return the hosts that need somebody, and what each loses."""
    return Table(
        ("host", "costs", "why"), tuple((one.host, _cost(one), _why(one)) for one in items)
    )


def trend_line(trends: Sequence[Trend]) -> str:
    """Say how fast the group is, and each other figure that moved against the days before."""
    shown = [
        one
        for one in trends
        if one.figure in _ALWAYS or abs(_moved_pct(one)) >= FIGURES[one.figure].floor_pct
    ]
    return "; ".join(map(_trend, shown))


def _rows(items: Sequence[Item]) -> Iterator[Part]:
    if len(items) <= SHOWN:
        yield table(items)
        return
    yield table_of_kinds(items, SHOWN)
    more = len(by_kind(items)) - SHOWN
    if more > 0:
        yield Line("text", f"{more:,} other kind{'s' if more > 1 else ''} in the thread.")


def _silent(summary: Summary, of: str) -> str:
    if summary.only and summary.quiet:
        return f"Nothing new: what {summary.only} has is acknowledged."
    if summary.only:
        return f"{summary.only} is fine."
    if not summary.quiet:
        return f"All {summary.hosts:,} hosts{of} are fine."
    fine = f"{summary.fine:,} of {summary.hosts:,} hosts{of} {_are(summary.fine)} fine"
    return f"{fine}; {summary.quiet:,} {_are(summary.quiet)} acknowledged."


def _better(hosts: Sequence[str]) -> str:
    more = len(hosts) - _BETTER
    rest = f"; and {more:,} more host{'s' if more > 1 else ''}" if more > 0 else ""
    return "; ".join(hosts[:_BETTER]) + rest


def _hosts(summary: Summary, of: str) -> str:
    return f"{summary.hosts:,}{f' hosts{of}' if of else ''}"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _moved_pct(one: Trend) -> float:
    return 100 * (one.now / one.normal - 1) if one.normal and one.normal > 0 else 0.0


def _trend(one: Trend) -> str:
    figure, pct = FIGURES[one.figure], _moved_pct(one)
    moved = f" ({pct:+.0f} %)" if abs(pct) >= _MOVED_PCT else ""
    return f"{figure.label} {figure.told(one.now)}{moved}"


def _news(items: Sequence[Item]) -> str:
    if all(item.course in ("new", "first") for item in items):
        return ""
    count = new(items)
    return f", {count:,} of them new" if count else ", none of them new"


def _why(item: Item) -> str:
    return f"{_COURSES.get(item.course, '')}{item.text.rstrip('.')}."


def _sentences(item: Item) -> str:
    return _why(item) + "".join(map(_losses, item.looked.found[:1]))


def _by_size(found: Found) -> list[tuple[str, Loss]]:
    """Return what is slowed, the largest loss first; what rounds to none is left out."""
    named = (("decode", found.decode_pct), ("prefill", found.prefill_pct))
    losses = [(name, loss) for name, loss in named if loss and -loss[1] >= LEAST_PCT]
    return sorted(losses, key=lambda one: one[1][1])


def _losses(found: Found) -> str:
    """Say what it costs with its interval: " Costs: prefill 51 % (45 to 56), decode 3 % (2 to 6)."."""
    costs = (
        (name, percent((-high, -middle, -low))) for name, (low, middle, high) in _by_size(found)
    )
    told = ", ".join(f"{name} {cost.replace('+', '')}" for name, cost in costs)
    return f" Costs: {told}." if told else " What it costs is not known."


def _cost(item: Item) -> str:
    """Say what the first thing that is wrong costs: "prefill 47 %, decode 4 %"; nothing where none was seen."""
    if item.looked.state != "seen":
        return ""
    if item.looked.found:
        costs = [f"{name} {-loss[1]:.0f} %" for name, loss in _by_size(item.looked.found[0])]
        return ", ".join(costs) or "not known"
    figure = item.drifts[0].figure if item.drifts else item.behind[0].figure
    return f"{figure} {item.cost_pct:.0f} %"
