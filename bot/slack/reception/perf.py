"""/perf hosts, health and help: answered in the ack, for who typed it alone."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

from bot.access import Asker
from bot.desk.health_orders import HealthOrders
from bot.desk.itself import help_parts
from bot.letter import Letter
from bot.narrator import Line, Part
from bot.narrator.changed import concluded
from bot.slack.blocks import render
from bot.slack.reception.seen_by import Seen, SeenBy
from bot.store.run import Run
from tools.errors import ToolsError

WITHIN_S = 2.0  # Slack shows an error to who typed it after 3 s
_LATER = "That takes me too long just now. Please try again in a minute."
_LOG = logging.getLogger("perfsleuth.slack")


class Perf:
    """Answers what needs no work. `/perf ask` and `/perf tune` are work, and go another way."""

    def __init__(self, seen_by: SeenBy, health: HealthOrders) -> None:
        self._seen_by = seen_by
        self._health = health

    async def answer(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return the ack's arguments for what was typed; it raises nothing."""
        verb = next(iter(str(body.get("text") or "").lower().split()), "help")
        user, channel = str(body.get("user_id") or ""), str(body.get("channel_id") or "")
        try:
            async with asyncio.timeout(WITHIN_S):
                if verb == "health":
                    parts = await asyncio.to_thread(self._ordered, body, Asker(user, channel))
                else:
                    parts = await self._parts(verb, user, channel)
        except TimeoutError:
            parts = (Line("said", _LATER),)
        except ToolsError as why:
            _LOG.warning("/perf %s: %s", verb if verb in _VERBS else "?", why)
            parts = (Line("said", str(why)),)
        told = render(Letter(key="perf", kind="word", channel=channel, parts=parts), {})
        return {"text": told.text, "blocks": told.blocks, "response_type": "ephemeral"}

    async def _parts(self, verb: str, user: str, channel: str) -> tuple[Part, ...]:
        if verb == "ask":
            return (Line("said", "What do you want to know? Like: /perf ask why is CT129 slow?"),)
        if verb == "tune":
            return (Line("said", "Which host? Like: /perf tune CT129 for decode, an hour at most"),)
        act = f"/perf {verb if verb in _VERBS else 'help'}"
        seen = await asyncio.to_thread(partial(self._seen_by.look, user, channel, act=act))
        if seen.refusal:
            return (Line("said", seen.refusal),)
        if verb not in _VERBS:
            known = Line(
                "said", "I know /perf ask, tune, hosts, health and help. This is what I do:"
            )
            return (known, *help_parts(seen.hosts))
        if verb == "help":
            return help_parts(seen.hosts)
        return tuple(_hosts(seen))

    def _ordered(self, body: Mapping[str, Any], asker: Asker) -> tuple[Part, ...]:
        """Set a sweep or a schedule in motion: written down within the ack, like all that is typed."""
        _, _, rest = str(body.get("text") or "").strip().partition(" ")
        told = str(body.get("trigger_id") or "")
        command = hashlib.sha256(told.encode()).hexdigest()[:24]  # whoever holds it may open modals
        return tuple(self._health.answer(rest, asker, command))


_VERBS = ("help", "hosts", "health")


def _hosts(seen: Seen) -> Iterator[Part]:
    if not seen.hosts:
        yield Line("said", "There is no host that you may ask me about. hosts.toml lists them.")
        return
    yield Line("lead", "Hosts you may ask me about, and the last verdict on each:")
    running = {(run.host or "").lower() for run in seen.open}
    for name in seen.hosts:
        now = " (I am looking at it now)" if name.lower() in running else ""
        yield Line("item", f"{name}: {_last(seen.last.get(name))}{now}")


def _last(run: Run | None) -> str:
    if run is None:
        return "never asked about"
    at = datetime.fromtimestamp(run.ended_at or run.asked_at, UTC)
    return f"{concluded(run.category, run.headline)} ({at:%Y-%m-%d %H:%M} UTC)"
