"""A morning: today's looks held against the days before; pure, so that it can be told again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from bot.health.looked import Looked
from bot.health.trends import Trend, Trends
from bot.health.twins import Behind, behind
from bot.narrator.measured import percent
from tools.knowledge import in_words
from tools.vitals.course import Day, Shift, shift
from tools.vitals.figures import FIGURES, FigureName
from tools.vitals.vitals import Vitals

FLAPS = 3  # times that a finding came within FLAP_DAYS: it is told as flapping, once
FLAP_DAYS = 7
Course = Literal[
    "new", "first", "known", "flapping", "acknowledged"
]  # first: no day before it is kept


@dataclass(frozen=True)
class Drift:
    """A figure that left what is normal for the worse, and what changed when it did."""

    figure: FigureName
    shift: Shift
    changed: tuple[str, ...]


@dataclass(frozen=True)
class Item:
    """One host that needs somebody, and why. `cost_pct` is what it loses; 0 where that is unknown."""

    host: str
    course: Course
    text: str
    cost_pct: float
    looked: Looked
    drifts: tuple[Drift, ...] = ()
    behind: tuple[Behind, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """Return all that is wrong by name, as somebody may know of it."""
        slow = {one.name for one in self.behind}
        return self.looked.troubles | slow | {one.figure for one in self.drifts}


@dataclass(frozen=True)
class Summary:
    """What a person needs to know this morning. `items` are ranked: what is new, then what costs most."""

    date: str
    hosts: int
    items: tuple[Item, ...]
    better: tuple[str, ...]
    quiet: int  # that need somebody and are acknowledged
    trends: tuple[Trend, ...]
    only: str = ""  # the host, where it is the only one

    @property
    def fine(self) -> int:
        """Count the hosts that need nobody."""
        return self.hosts - len({item.host for item in self.items}) - self.quiet


@dataclass(frozen=True)
class Past:
    """What is kept of one host: one look a day, oldest first, with its date; and what is known.

    `acknowledged` are causes (or figures) that a person has said they know of.
    """

    days: Sequence[tuple[str, Looked]] = ()
    acknowledged: frozenset[str] = frozenset()


def summarise(date: str, today: Sequence[Looked], past: Mapping[str, Past]) -> Summary:
    """Hold today's looks against the days before, and rank what needs somebody."""
    items: list[Item] = []
    better: list[str] = []
    quiet = 0
    slow, trends = behind(today), Trends()
    for looked in sorted(today, key=lambda one: one.host):
        before = past.get(looked.host, Past())
        trends.add(looked, [day for _, day in before.days])
        drifts = tuple(_drifts(date, looked, before))
        if good := _better(looked, before):
            better.append(good)
        item = _item(looked, before, drifts, slow.get(looked.host, ()))
        if item and item.course == "acknowledged":
            quiet += 1
        elif item:
            items.append(item)
    items.sort(key=lambda one: (one.course not in ("new", "first"), -one.cost_pct, one.host))
    only = today[0].host if len(today) == 1 else ""
    return Summary(date, len(today), tuple(items), tuple(better), quiet, trends.told(), only)


def _item(
    looked: Looked, past: Past, drifts: tuple[Drift, ...], slow: tuple[Behind, ...]
) -> Item | None:
    whole = Item(looked.host, "acknowledged", "", 0.0, looked, drifts, slow)
    if not whole.names:
        return None
    left = whole.names - past.acknowledged
    if not left:
        return whole
    cost_pct = _cost_pct(looked, drifts, slow)
    course = _course(left, whole, past)
    return replace(whole, course=course, text=_text(whole), cost_pct=cost_pct)


def _course(names: frozenset[str], item: Item, past: Past) -> Course:
    if not past.days:
        return "first"
    recent = [one.troubles for _, one in past.days[-FLAP_DAYS:]]
    wrong = item.looked.troubles
    came = sum(
        bool((names & now) - before)
        for before, now in zip([frozenset[str](), *recent], [*recent, wrong], strict=False)
    )
    if came >= FLAPS:
        return "flapping"
    yesterday = recent[-1] | _drifted_yesterday(past) | _behind_yesterday(item, past)
    return "new" if names - yesterday else "known"


def _drifted_yesterday(past: Past) -> frozenset[str]:
    date, looked = past.days[-1]
    drifts = _drifts(date, looked, Past(past.days[:-1], past.acknowledged))
    return frozenset(drift.figure for drift in drifts)


def _behind_yesterday(item: Item, past: Past) -> frozenset[str]:
    """Return where the host was as slow yesterday, by what its twins do today."""
    figures = past.days[-1][1].vitals.figures
    return frozenset(
        one.name
        for one in item.behind
        if (was := figures.get(one.figure)) and was.value < one.least
    )


def _text(item: Item) -> str:
    looked = item.looked
    if looked.state != "seen":
        return looked.why
    if looked.found:
        return looked.found[0].statement
    return told(item.drifts[0]) if item.drifts else item.behind[0].told(item.host)


def told(drift: Drift) -> str:
    """Say a drift in one sentence: what, by how much, since when, and what changed then."""
    figure, one = FIGURES[drift.figure], drift.shift
    by = percent((one.pct_low, one.pct, one.pct_high))
    values = f"{figure.told(one.now)}, normally {figure.told(one.normal)}"
    name = figure.label[0].upper() + figure.label[1:]
    if one.kind == "decline" and one.pct_a_day is not None:
        moved = "fallen" if one.pct_a_day < 0 else "risen"
        a_day = f"{abs(one.pct_a_day):.1f} % a day since {one.since}"
        what = f"{name} has {moved} by {a_day}: {values}, so {by}"
    else:
        what = f"{name} {by} since {one.since}: {values}"
    changed = f". That day: {'; '.join(drift.changed)}" if drift.changed else ""
    return f"{what}{changed}."


def _cost_pct(looked: Looked, drifts: Sequence[Drift], slow: Sequence[Behind]) -> float:
    costs = [one.cost_pct for one in looked.found] + [abs(one.shift.pct) for one in drifts]
    costs += [one.pct for one in slow]
    return 100.0 if looked.state != "seen" else max(costs, default=0.0)


def _drifts(date: str, looked: Looked, past: Past) -> list[Drift]:
    found = []
    for name, figure in FIGURES.items():
        series = days_of(name, [*past.days, (date, looked)])
        one = shift(series, floor_pct=figure.floor_pct) if series else None
        if name in looked.vitals.figures and one and one.pct * figure.worse > 0:
            found.append(Drift(name, one, _changed(one, past, looked)))
    return found


def days_of(name: FigureName, looks: Sequence[tuple[str, Looked]]) -> list[Day]:
    """Return a figure's days, of those that have it; a value of zero cannot be compared in percent."""
    return [
        Day(date, reading.value, one.vitals.setting.key, reading.load)
        for date, one in looks
        if (reading := one.vitals.figures.get(name)) and reading.value > 0
    ]


def _changed(one: Shift, past: Past, today: Looked) -> tuple[str, ...]:
    if not one.setting_changed:
        return ()
    before: Vitals | None = None
    for date, looked in [*past.days, ("9999", today)]:
        if date >= one.since and before is not None:
            return looked.vitals.setting.changed_from(before.setting)
        before = looked.vitals
    return ()


def _better(looked: Looked, past: Past) -> str:
    """Say what is better than the day before; empty where nothing is."""
    if not past.days:
        return ""
    before = past.days[-1][1]
    if before.state == "unreachable" and looked.state != "unreachable":
        return f"{looked.host} answers again"
    if looked.state != "seen":
        return ""
    now = {one.cause for one in looked.found}
    gone = [in_words(one.cause) for one in before.found if one.cause not in now]
    return f"{looked.host}: no longer {', '.join(gone)}" if gone else ""
