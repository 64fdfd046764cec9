"""What is wrong by its kind: where many hosts need somebody, nobody reads a row for each."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import accumulate

from bot.health.summary import Item
from bot.narrator import Table
from tools.knowledge import in_words
from tools.vitals.figures import FIGURES

LEAST_PCT = 0.5  # of a cost that is told
_LISTED = (
    60  # characters of a list of hosts or kinds; the first line is large in Slack up to 150 in all
)
_STATES = {"unreachable": "no answer", "no_server": "no server", "blind": "GPUs not seen"}


def by_kind(items: Sequence[Item]) -> dict[str, list[Item]]:
    """Return the hosts of each kind: first what most hosts have as news, then what most have."""
    found: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        found[_kind(item)].append(item)
    return dict(sorted(found.items(), key=lambda one: (-new(one[1]), -len(one[1]))))


def kinds(items: Sequence[Item]) -> str:
    """Say what is wrong over all of them: "no answer (37), prefix cache off (9) and 2 other kinds"."""
    counted = [f"{name} ({len(some):,})" for name, some in by_kind(items).items()]
    shown = counted[: _fitting(counted)]
    more = len(counted) - len(shown)
    others = f" and {more:,} other kind{'s' if more > 1 else ''}" if more else ""
    return f"{', '.join(shown)}{others}"


def some_of_each(items: Sequence[Item], most: int) -> list[Item]:
    """Choose what there is room for, in its order: the first of each kind, then the second of each."""
    had: Counter[str] = Counter()
    turns: list[int] = []
    for item in items:
        had[_kind(item)] += 1
        turns.append(had[_kind(item)])
    chosen = sorted(range(len(items)), key=turns.__getitem__)[:most]
    return [items[at] for at in sorted(chosen)]


def table_of_kinds(items: Sequence[Item], most: int) -> Table:
    """Return what is wrong over many hosts: how many have it, what it costs at most, and which they are."""
    rows = tuple(
        (name, _how_many(some), _most(some), named(some))
        for name, some in list(by_kind(items).items())[:most]
    )
    return Table(("what", "hosts", "costs up to", "which"), rows)


def named(items: Sequence[Item]) -> str:
    """Name hosts, as many as are read at a glance, and count the rest."""
    names = [item.host for item in items]
    shown = names[: _fitting(names)]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more else "")


def new(items: Sequence[Item]) -> int:
    """Count those that are new today."""
    return sum(item.course == "new" for item in items)


def _kind(item: Item) -> str:
    if item.looked.found:
        return in_words(item.looked.found[0].cause)
    if item.looked.state != "seen":
        return _STATES[item.looked.state]
    return f"{FIGURES[item.drifts[0].figure].label} worse" if item.drifts else "behind its twins"


def _how_many(items: Sequence[Item]) -> str:
    count = new(items)
    if not count:
        return f"{len(items):,}"
    return f"{len(items):,}, {'all' if count == len(items) else f'{count:,}'} new"


def _most(items: Sequence[Item]) -> str:
    """Return what it costs where it costs most; nothing where no host told."""
    costs = [item.cost_pct for item in items if item.looked.state == "seen"]
    return "" if not costs else f"{max(costs):.0f} %" if max(costs) >= LEAST_PCT else "not known"


def _fitting(names: Sequence[str]) -> int:
    """Count the names that fit into a list; the first one always does."""
    ends = accumulate(len(name) + len(", ") for name in names)
    return max(1, sum(end <= _LISTED + len(", ") for end in ends))
