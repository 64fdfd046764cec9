"""What is watched is looked at, lightly and in its turn; what happens again is said once, in its thread."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bot.audience import Audience
from bot.health.looked import Looked
from bot.health.sweep import Gate, open_gate, sweep
from bot.letter import Letter
from bot.narrator import Line
from bot.settings import Settings
from bot.store import Store
from bot.store.watches import Watch
from bot.work.hosts import Reach
from bot.work.turn import Turn
from tools.knowledge import in_words

AT_ONCE = 16
_ENDS = "I stop watching now; say “tell me if it happens again” to have me go on."


class Watching:
    """Takes what is due; each watch is claimed, so that of many processes one looks."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        audience: Audience,
        host_of: Reach,
        turn: Turn,
        through: Gate = open_gate,
    ) -> None:
        self._store, self._settings, self._audience = store, settings, audience
        self._host_of, self._turn, self._through = host_of, turn, through

    def look(self, stopped: Callable[[], bool] = lambda: False) -> int:
        """Look at the hosts whose watches are due; return how many watches ended."""
        by_host: dict[str, list[Watch]] = defaultdict(list)
        for watch in self._store.watches.claim(AT_ONCE):
            by_host[watch.host].append(watch)
        looks = sweep(
            list(by_host), self._settings, self._host_of, at_once=AT_ONCE, gate=self._gate, stopped=stopped,
        )  # fmt: skip
        ended = sum(self._judged(watch, one) for one in looks for watch in by_host[one.host])
        if ended:
            self._audience.letters()
        return ended

    def _judged(self, watch: Watch, looked: Looked) -> bool:
        found = next((one for one in looked.found if one.cause == watch.cause), None)
        if found and watch.gone:
            return self._say(
                watch, f"It happens again on {watch.host}: {found.statement}", "it happened again"
            )
        if self._store.now() >= watch.until:
            what = in_words(watch.cause)
            still = "It never went away" if found else "It did not happen again"
            return self._say(watch, f"{still} on {watch.host} in 30 days ({what}).", "time is over")
        self._store.watches.looked(watch.id, gone=looked.state == "seen" and found is None)
        return False

    def _say(self, watch: Watch, text: str, outcome: str) -> bool:
        letter = Letter(
            key=f"watch:{watch.id}:end",
            kind="word",
            channel=watch.channel,
            thread=watch.thread,
            parts=(Line("lead", text), Line("text", _ENDS)),
        )
        with self._store.together():
            if not self._store.watches.end(watch.id, outcome):
                return False
            self._store.letters.add(letter)
            self._store.audit.note(
                watch.user, watch.channel, "watch", watch.cause, outcome, watch.host
            )
            return True

    @contextmanager
    def _gate(self, host: str) -> Iterator[None]:
        with self._through(host), self._turn.mine():
            yield
