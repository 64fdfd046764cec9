"""The pace of a recorded host: its looks come one after the other, so that the story can be followed."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from bot.audience import Audience, Happening
from bot.demo.pretended import Changeable, Pretended
from bot.experiment.hands import Hands
from bot.investigate import Asking, Event, Learned
from bot.reach import reach
from bot.settings import Settings
from bot.store.run import Run
from tools.host import Asks, Host, Output

SHARE = 0.5  # of what the look took on the real host
SHORTEST_S, LONGEST_S = 0.15, 0.9  # of one look: long enough to be read, short enough not to bore
BEGINNING_S = 0.6  # before the first look of a round comes


class _Recorded:
    """A host that says when it was closed."""

    def __init__(self, host: Host, closed: threading.Event) -> None:
        self._host, self._closed = host, closed

    @property
    def name(self) -> str:
        """Name the host as people do."""
        return self._host.name

    def answer(self, probes: Sequence[Asks], /) -> Sequence[Output]:
        """Answer as the case does, at once."""
        return self._host.answer(probes)

    def close(self) -> None:
        """End the waiting."""
        self._closed.set()
        self._host.close()


class Pace:
    """Reaches hosts, and slows down whoever watches them; `factor` 0 leaves all as fast as it is."""

    def __init__(self, factor: float = 1.0) -> None:
        self._factor = factor
        self._closed: dict[str, threading.Event] = {}
        self._servers: dict[str, Pretended] = {}

    def host_of(self, name: str, settings: Settings) -> Host:
        """Return the host of that name, whose closing ends the waiting at once."""
        closed = self._closed[name.lower()] = threading.Event()
        return _Recorded(Changeable(reach(name, settings), self._server(name)), closed)

    def on_host(self, host: Host) -> Hands:
        """Give the pretended server of a host into the hands of an experiment."""
        return self._server(host.name)

    def _server(self, name: str) -> Pretended:
        return self._servers.setdefault(name.lower(), Pretended(name, self._factor))

    def watched_by(self, audience: Audience) -> Audience:
        """Return an audience that takes its time, in the thread of the work, and then passes on."""
        return _Slow(audience, self)

    def wait(self, run: Run, event: Event) -> None:
        """Wait as long as this event should stand before the next one."""
        closed = self._closed.get((run.host or "").lower())
        if closed is not None:
            closed.wait(_shown_s(event) * self._factor)


class _Slow:
    def __init__(self, audience: Audience, pace: Pace) -> None:
        self._audience, self._pace = audience, pace

    def began(self, run: Run, looks: int) -> None:
        """Pass on."""
        self._audience.began(run, looks)

    def tell(self, run: Run, event: Happening) -> None:
        """Pass on; what a round asks is shown first, a look comes after its time."""
        if isinstance(event, Learned):
            self._pace.wait(run, event)
        self._audience.tell(run, event)
        if isinstance(event, Asking):
            self._pace.wait(run, event)

    def ended(self, run: Run) -> None:
        """Pass on."""
        self._audience.ended(run)

    def letters(self) -> None:
        """Pass on."""
        self._audience.letters()


def _shown_s(event: Event) -> float:
    if isinstance(event, Asking):
        return BEGINNING_S
    if isinstance(event, Learned) and event.look.output:
        return min(max(event.look.output.took_s * SHARE, SHORTEST_S), LONGEST_S)
    return 0.0
