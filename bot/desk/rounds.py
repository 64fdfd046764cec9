"""What is said below a summary: what is known of, what changed, and what is to be watched."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise

from bot.desk import words
from bot.desk.books import Place
from bot.desk.thread import Thread
from bot.desk.wish import Wish
from bot.health.looked import Looked, blames
from bot.narrator import Line
from bot.settings import Settings
from bot.store import Run, Store
from bot.store.watches import EVERY_S
from bot.work.looks import judged_by
from bot.work.mornings import Mornings
from tools.knowledge import in_words

Saying = Callable[[Place], Sequence[Line]]
_DAYS = 14
_SHOWN = 8  # changes of one host
_EVERY_MIN = round(EVERY_S / 60)


class Rounds:
    """Looks up what is meant, outside the transaction of the desk; what it returns is called inside."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store, self._settings = store, settings

    def on(self, meant: Wish, thread: Thread) -> Saying | None:
        """Return what answers a message; None where it is not about any of this."""
        match meant.act:
            case "watch":
                return self._watch(meant, thread)
            case "unwatch":
                return self._unwatch
            case "watches":
                return self._watches
            case "changed":
                return _always(list(self._changed(meant.hosts[0])))
            case "know" if thread.morning:
                return self.known(thread.morning, meant.hosts[0])
        return None

    def known(self, run: Run, host: str) -> Saying:
        """Say that somebody knows of what a summary told of a host."""
        item = Mornings(self._store).item(run.id, host)
        if item is None:
            return _always([words.line(f"Nothing of {host} needs attention in this summary.")])
        names = sorted(item.names)

        def saying(place: Place) -> Sequence[Line]:
            until = self._store.acknowledged.add(item.host, names, place.user)
            what = ", ".join(in_words(name) for name in names)
            text = f"Noted: you know of {item.host} ({what}). I do not tell it again before {_day(until)}."
            return [words.line(text), Line("text", "Whatever else happens there is told.")]

        return saying

    def _watch(self, meant: Wish, thread: Thread) -> Saying:
        found = self._condition(meant, thread)
        if isinstance(found, str):
            return _always([words.line(found)])
        host, cause, statement = found

        def saying(place: Place) -> Sequence[Line]:
            new = self._store.watches.add(host, cause, place.channel, place.thread, place.user)
            if not new:
                return [words.line(f"I watch that on {host} for this thread already.")]
            how = (
                f"I look at {host} every {_EVERY_MIN} minutes, lightly and read-only. "
                "When it is gone and comes back I say so here, once. “stop watching” ends it."
            )
            return [words.line(f"I watch {host} for this: {statement}"), Line("text", how)]

        return saying

    def _condition(self, meant: Wish, thread: Thread) -> tuple[str, str, str] | str:
        """Return host, cause and its statement, or why there is nothing to watch for."""
        about = thread.about_one_of(meant.hosts) if meant.hosts else thread.about
        judged = judged_by(self._store, about, self._settings) if about else None
        if about and about.host and judged:
            best = next((one for one in judged.verdict.findings if blames(one)), None)
            if best is None:
                return "That verdict blames nothing that I could watch for."
            return about.host, best.rule.cause.id, best.finding.statement
        host = next(iter(meant.hosts), "")
        if thread.morning and host:
            _, looks = self._store.sweeps.looks(thread.morning.id)
            seen = next((one for one in looks if one.host.lower() == host.lower()), None)
            if seen and seen.found:
                return seen.host, seen.found[0].cause, seen.found[0].statement
            return f"I know of no cause on {host} yet: ask “why {host}?” here first."
        return "Tell me what to watch for in the thread of a verdict, or below a summary with the host's name."

    def _unwatch(self, place: Place) -> Sequence[Line]:
        watched = self._store.watches.of_thread(place.channel, place.thread)
        ended = [one for one in watched if self._store.watches.end(one.id, f"by {place.user}")]
        if not ended:
            return [words.line("I watch nothing for this thread.")]
        hosts = ", ".join(dict.fromkeys(one.host for one in ended))
        return [words.line(f"I stop watching {hosts} now.")]

    def _watches(self, place: Place) -> Sequence[Line]:
        watched = self._store.watches.of_thread(place.channel, place.thread)
        if not watched:
            return [words.line("I watch nothing for this thread.")]
        told = [
            Line("item", f"{one.host}: {in_words(one.cause)}, until {_day(one.until)}")
            for one in watched
        ]
        return [words.line("For this thread I watch:"), *told]

    def _changed(self, host: str) -> Iterator[Line]:
        days = self._store.days.before([host], "9999", _DAYS)[host]
        if len(days) < 2:
            some = "one day" if days else "no day"
            yield words.line(
                f"Of {host} I keep {some} so far: a daily summary keeps one each morning."
            )
            return
        told = [
            f"{date}: {'; '.join(changes)}"
            for (_, before), (date, now) in pairwise(days)
            if (changes := changes_of(before, now))
        ]
        since = days[0][0]
        if not told:
            yield words.line(
                f"Nothing changed on {host} since {since}: same server, same findings."
            )
            return
        yield words.line(f"What changed on {host} since {since}:")
        yield from (Line("item", one) for one in told[-_SHOWN:])


def changes_of(before: Looked, now: Looked) -> list[str]:
    """Say what differs between two looks at one host: what ran, what was found, what was counted."""
    found = []
    if before.state != now.state:
        found.append(
            {
                "seen": "its GPUs are seen again" if before.state == "blind" else "answers again",
                "no_server": "no model server runs",
                "blind": "its GPUs cannot be seen",
            }.get(now.state, "does not answer")
        )
    if before.state == now.state == "seen":
        found += now.vitals.setting.changed_from(before.vitals.setting)
    was, is_now = ({one.cause for one in each.found} for each in (before, now))
    found += [f"new: {in_words(cause)}" for cause in sorted(is_now - was)]
    if now.state == "seen":
        found += [f"gone: {in_words(cause)}" for cause in sorted(was - is_now)]
    counts = before.vitals.counters
    found += [
        f"{name} {counts[name]:,} → {count:,}"
        for name, count in now.vitals.counters.items()
        if name in counts and count > counts[name]
    ]
    return found


def _always(lines: Sequence[Line]) -> Saying:
    return lambda _place: lines


def _day(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}"
