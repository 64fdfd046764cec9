"""The pulse of a running bot: its port for monitors, and what is asked when they ask."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from bot.pulse.alive import Alive
from bot.pulse.port import Port
from bot.store import StoreError

if TYPE_CHECKING:
    from bot.slack.office import Office

_LOOP_S = 2.0  # a loop that does not turn for so long acknowledges nothing in Slack's 3 s


class Pulse:
    """Nothing listens where there is no address. Raises PulseError where it is taken."""

    def __init__(self, address: tuple[str, int] | None) -> None:
        self._alive = Alive()
        self.port = Port(address, self._alive) if address else None

    def of(self, office: Office, loop: asyncio.AbstractEventLoop) -> None:
        """Tell of a bot that is up; before, /healthz says that it starts."""
        if self.port is None:
            return
        from bot.pulse.metrics import KIND, Metrics

        metrics = Metrics(office.replica.store.counts)
        self.port.metrics = lambda: (metrics.text(), KIND)
        self._alive.watch(
            (
                ("The event loop", lambda: _turns(loop)),
                ("The database", lambda: _answers(office)),
                ("Slack", lambda: _connected(office)),
                ("The queue of work", lambda: _works(office)),
            )
        )

    def close(self) -> None:
        """Listen no more."""
        if self.port:
            self.port.close()


def _turns(loop: asyncio.AbstractEventLoop) -> str:
    try:
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop).result(_LOOP_S)
    except TimeoutError:
        return f"The event loop has not turned for {_LOOP_S:g} s."
    except RuntimeError:
        return "The bot is stopping."
    return ""


def _answers(office: Office) -> str:
    try:
        office.replica.store.counts.answers()
    except StoreError as why:
        return str(why)
    return ""


def _connected(office: Office) -> str:
    return "" if office.door.stands else "Slack is not connected; the connection is made anew."


def _works(office: Office) -> str:
    if not office.jobs.alive:
        return "No work is taken up: the bot is stopping, or its queue could not be opened."
    if not office.replica.beating:
        return "This replica is silent: others will take over its work. Restart it."
    return ""
