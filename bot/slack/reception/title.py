"""A title for a thread with us, from its first question; where the workspace has titles."""

from __future__ import annotations

from bot.message import Message
from bot.slack.api.troubles import NO_SUCH, Refused
from bot.slack.api.wire import Wire
from bot.slack.blocks.safe import label

LONGEST = 120  # characters; agents.sessions.rename takes 200
_MOST = 2000  # threads remembered


class Titles:
    """Titles are a courtesy: no failure counts, and a method that is refused is not tried again."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._given: set[tuple[str, str]] = set()
        self._methods = {
            "assistant.threads.setTitle": "channel_id",  # the assistant container
            "agents.sessions.rename": "channel",  # what follows it
        }

    async def give(self, message: Message) -> None:
        """Name the thread of a direct message after its first question."""
        place = (message.channel, message.thread)
        title = label(" ".join(message.text.split()), LONGEST)
        if message.place != "direct" or not title or place in self._given:
            return
        if len(self._given) >= _MOST:
            self._given.clear()
        self._given.add(place)
        for method, channel in list(self._methods.items()):
            said = {channel: message.channel, "thread_ts": message.thread, "title": title}
            try:
                if await self._wire.hint(method, **said):
                    return
            except Refused as why:
                if why.error in NO_SUCH:
                    self._methods.pop(method, None)
