"""What is answered at once, without work: help, hosts, thanks, a host that nobody knows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from bot.access import Access, Asker
from bot.desk import words
from bot.desk.books import Place
from bot.desk.itself import help_parts
from bot.desk.thread import Thread
from bot.desk.wish import Wish
from bot.narrator import Line
from bot.narrator.changed import ago, concluded
from bot.settings import Settings
from bot.store import Store


class Sayings:
    """Says what one person may know. Asks the workspace, so it is no part of a transaction."""

    def __init__(
        self, store: Store, settings: Settings, access: Access, now: Callable[[], float]
    ) -> None:
        self._store, self._settings, self._access, self._now = store, settings, access, now

    def on(self, meant: Wish, place: Place, thread: Thread) -> Sequence[Line]:
        """Return the answer, or nothing where it takes work."""
        if meant.act in ("hello", "help"):
            return help_parts(self.open_to(place))
        if meant.act == "hosts":
            return tuple(self._hosts(place))
        if meant.act == "refused":
            return (words.line(meant.why_not),)
        if meant.act == "aside":
            return words.aside(self.open_to(place))
        return self._short(meant, place, thread)

    def _short(self, meant: Wish, place: Place, thread: Thread) -> Sequence[Line]:
        match meant.act:
            case "thanks":
                return (words.line(words.THANKS),)
            case "unknown":
                return words.unknown(meant.hosts, self.open_to(place))
            case "stop":
                return () if thread.open else (words.line(words.NOTHING_RUNS),)
            case "which":
                return () if meant.hosts else words.which(())
            case "followup":
                return self._on_followup(meant, place)
        return ()

    def _on_followup(self, meant: Wish, place: Place) -> Sequence[Line]:
        asked = meant.intent
        if asked and asked.kind == "again":
            return [words.line(words.OF_FILES)]
        if (
            asked
            and asked.host
            and asked.host.lower() not in {name.lower() for name in self._settings.hosts}
        ):
            return words.unknown([asked.host], self.open_to(place))
        return ()

    def open_to(self, place: Place) -> tuple[str, ...]:
        """Return the hosts that somebody may ask about there: no others are named to them."""
        asker = Asker(place.user, place.channel)
        return tuple(
            name for name in self._settings.hosts if self._access.refusal(asker, name) is None
        )

    def _hosts(self, place: Place) -> Iterator[Line]:
        names = self.open_to(place)
        if not names:
            yield words.line("There is no host that you may ask me about. hosts.toml lists them.")
            return
        yield words.line("Hosts that you may ask me about:")
        for name in names:
            last = self._store.runs.last_of(name)
            said = ""
            if last and last.headline and last.ended_at:
                said = f": {concluded(last.category, last.headline)} ({ago(self._now() - last.ended_at)})"
            yield Line("item", f"{name}{said}")
