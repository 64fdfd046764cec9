"""The mornings of the store: what a sweep saw is held against the days that are kept."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from statistics import median

from bot.charts.mornings import Morning
from bot.health.looked import Looked
from bot.health.summary import Item, Past, Summary, summarise
from bot.store import Store
from tools.vitals.course import NORMAL, RECENT

DAYS = RECENT + NORMAL  # that say what is normal, and what left it


class Mornings:
    """Reads days host by host, and keeps of them what is told: a thousand hosts have many."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def summary(self, run: int) -> tuple[Summary, list[Morning]]:
        """Return what a sweep has to tell, and the course of its group until then."""
        date, looks = self._store.sweeps.looks(run)
        pasts = _Pasts(self._store, date, [one.host for one in looks])
        summary = summarise(date, looks, pasts)
        pasts.count(date, looks)
        return summary, pasts.mornings()

    def item(self, run: int, host: str) -> Item | None:
        """Return what was told of one host in the summary of a sweep."""
        date, looks = self._store.sweeps.looks(run)
        known = [one.host for one in looks if one.host.lower() == host.lower()]
        # of its twins the look of that day is enough
        items = summarise(date, looks, _Pasts(self._store, date, known)).items
        return next((one for one in items if one.host in known), None)


class _Pasts(Mapping[str, Past]):
    """What is kept of each host, loaded when it is asked for; days are counted as they pass by."""

    def __init__(self, store: Store, date: str, hosts: list[str]) -> None:
        self._store, self._date, self._hosts = store, date, dict.fromkeys(hosts)
        self._faulty: dict[str, int] = defaultdict(int)
        self._seen: dict[str, int] = defaultdict(int)
        self._rates: dict[str, list[float]] = defaultdict(list)
        self._known: dict[str, frozenset[str]] = {}

    def __getitem__(self, host: str) -> Past:
        if host not in self._hosts:
            raise KeyError(host)
        days = self._store.days.before([host], self._date, DAYS)[host]
        past = Past(days, self._store.acknowledged.of(host))
        for date, looked in days:
            self._count(date, looked, past.acknowledged)
        self._known[host] = past.acknowledged
        return past

    def __iter__(self) -> Iterator[str]:
        return iter(self._hosts)

    def __len__(self) -> int:
        return len(self._hosts)

    def _count(self, date: str, looked: Looked, known: frozenset[str]) -> None:
        self._seen[date] += 1
        self._faulty[date] += bool(looked.troubles - known)
        if rate := looked.vitals.figures.get("decode"):
            self._rates[date].append(rate.value)

    def count(self, date: str, looks: Iterable[Looked]) -> None:
        """Count today as the days before are counted, of which no drift is known."""
        for looked in looks:
            self._count(date, looked, self._known.get(looked.host, frozenset()))

    def mornings(self) -> list[Morning]:
        """Return the days that were counted, oldest first."""
        return [
            Morning(date, self._faulty[date], self._seen[date], _middle(self._rates[date]))
            for date in sorted(self._seen)
        ]


def _middle(rates: list[float]) -> float | None:
    return median(rates) if rates else None
