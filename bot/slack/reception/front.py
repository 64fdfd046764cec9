"""After the ack: what was written down goes to the desk, and again until it is handled."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from bot.letter import Letter
from bot.message import Message
from bot.narrator import Line
from bot.slack.api.troubles import SlackTrouble
from bot.slack.api.wire import Wire
from bot.slack.reception.bodies import Ask, Opened, Press, Stop, Visit
from bot.slack.reception.home import Home
from bot.slack.reception.order import Overtaken, wait_for_question
from bot.slack.reception.payload import Taken
from bot.slack.reception.put import put_question
from bot.slack.reception.title import Titles
from bot.store import Incoming, StoreError
from tools.errors import ToolsError

if TYPE_CHECKING:
    from bot.desk.desk import Desk
    from bot.store import Store

AGAIN_S = 10.0  # what was not handled after so long is handled again
_LOG = logging.getLogger("perfsleuth.slack")
_T = TypeVar("_T")


class _Closed(Exception):
    """The process ends: what is not handled yet is handled by the next one."""


class Front:
    """Hands what came in to the desk, in threads. Whatever fails ends in a sentence in its thread.

    A database or a Slack that does not answer leaves it unhandled, so that it is tried again; any
    other fault would only come again, and so is told once. `wake` says that there are letters,
    `learn` asks who a user is before a thread has to.
    """

    def __init__(
        self,
        store: Store,
        desk: Desk,
        wire: Wire,
        home: Home,
        wake: Callable[[], None],
        *,
        learn: Callable[[str], Coroutine[Any, Any, None]],
    ) -> None:
        self._store = store
        self._learn = learn
        self._desk = desk
        self._wire = wire
        self._home = home
        self._wake = wake
        self._titles = Titles(wire)
        self._pool = ThreadPoolExecutor(16, "perfsleuth-desk")
        self._under_way: set[str] = set()
        self._closed = False
        self._kinds = {
            "message": self._message,
            "press": self._press,
            "stop": self._stop,
            "ask": self._ask,
            "opened": self._opened,
            "visit": self._visit,
        }

    async def handle(self, incoming: Incoming) -> str | None:
        """Handle one thing; return what only who asked should be told, for a command."""
        if incoming.id in self._under_way:
            return None
        if incoming.id:
            self._under_way.add(incoming.id)
        try:
            await self._learn(str(incoming.body.get("user") or ""))
            said = await self._kinds[incoming.kind](incoming)
            if incoming.id:
                await self._in_thread(self._store.inbox.handled, incoming.id)
            return said
        except _Closed:
            return None
        except (StoreError, SlackTrouble, Overtaken) as why:
            _LOG.warning("%s is tried again: %s", incoming.kind, why)
            return None
        finally:
            self._under_way.discard(incoming.id)

    async def failed(self, incoming: Incoming, why: BaseException) -> None:
        """Say in its thread that a fault of ours ended it; the log has the fault's type alone."""
        _LOG.error("a fault while a %s was handled: %s", incoming.kind, type(why).__name__)
        sentence = (
            str(why)
            if isinstance(why, ToolsError)
            else f"A fault of mine stopped me here ({type(why).__name__}); my log has the place. "
            "Please ask again, or tell whoever runs me."
        )
        try:
            await self._in_thread(self._say, incoming, sentence)
        except (StoreError, _Closed):
            _LOG.error("nor can that be said now")

    async def again(self, *, older_than_s: float = AGAIN_S) -> None:
        """Handle once more what was written down and not handled, oldest first."""
        try:
            left = await self._in_thread(self._store.inbox.unhandled, older_than_s)
        except _Closed:
            return
        except StoreError as why:
            _LOG.error("%s", why)
            return
        for incoming in left:
            await self.take_up(incoming)

    async def take_up(self, incoming: Incoming) -> None:
        """Handle what no listener brought; like Bolt's, this edge lets no fault through."""
        try:
            said = await self.handle(incoming)
            if said:
                await self._in_thread(self._say, incoming, said)
        except Exception as why:  # noqa: BLE001 - one bad message must not end the bot
            await self.failed(incoming, why)

    async def apologise(self, taken: Taken) -> None:
        """Say that the database does not answer: at once and unwritten, for nothing can be written."""
        channel, thread, user = _place(taken.body.model_dump())
        sentence = (
            "My database does not answer just now. Nothing is lost: I try again as soon as Slack "
            "sends me this once more, and whoever runs me sees it in my log."
        )
        said: dict[str, Any] = {"channel": channel, "user": user, "text": sentence}
        if thread:
            said["thread_ts"] = thread
        try:
            async with asyncio.timeout(2.0):
                await self._wire.call("chat.postEphemeral", **said)
        except (SlackTrouble, TimeoutError):
            _LOG.warning("nor could that be said in Slack")

    async def close(self) -> None:
        """Take no more; what the desk has begun, it finishes."""
        self._closed = True
        await asyncio.to_thread(self._pool.shutdown, wait=True, cancel_futures=True)

    async def _message(self, incoming: Incoming) -> None:
        message = Message.model_validate(incoming.body)
        if message.thread != message.ts:
            await self._in_turn(message.channel, message.thread, incoming)
        await self._in_thread(self._desk.hear, message, incoming.id)
        await self._titles.give(message)

    async def _press(self, incoming: Incoming) -> None:
        press = Press.model_validate(incoming.body)
        await self._in_thread(
            partial(
                self._desk.press,
                right=press.right,
                reason=press.reason,
                shown=press.shown,
                host=press.host,
            ),
            press.action,
            press.run,
            press.user,
            press.channel,
            press.thread,
            incoming.id,
        )

    async def _stop(self, incoming: Incoming) -> None:
        stop = Stop.model_validate(incoming.body)
        await self._in_turn(stop.channel, stop.thread, incoming)
        await self._in_thread(self._desk.stop, stop.channel, stop.thread, stop.user, incoming.id)

    async def _ask(self, incoming: Incoming) -> str | None:
        """Put the question into the channel, so that its answer has a thread, and hear it there."""
        ask = Ask.model_validate(incoming.body)
        ts, said = await put_question(self._wire, ask, incoming)
        if ts:
            message = Message(
                team=ask.team,
                channel=ask.channel,
                ts=ts,
                thread=ts,
                user=ask.user,
                text=ask.text,
                place="command",
            )
            await self._in_thread(self._desk.hear, message, incoming.id)
        return said

    async def _opened(self, incoming: Incoming) -> None:
        opened = Opened.model_validate(incoming.body)
        await self._home.greet(opened, incoming.id)
        self._wake()

    async def _visit(self, incoming: Incoming) -> None:
        await self._home.publish(Visit.model_validate(incoming.body).user)

    def _say(self, incoming: Incoming, sentence: str) -> None:
        channel, thread, user = _place(incoming.body)
        where = channel if thread else user  # a direct message, where there is no thread yet
        letter = Letter(
            key=f"fault:{incoming.id}"[:200],
            kind="word",
            channel=where,
            thread=thread or None,
            parts=(Line("said", sentence),),
        )
        with self._store.together():
            if where:
                self._store.letters.add(letter)
            self._store.inbox.handled(incoming.id)
        self._wake()

    async def _in_turn(self, channel: str, thread: str, incoming: Incoming) -> None:
        await wait_for_question(self._store, channel, thread, incoming, self._in_thread)

    async def _in_thread(self, call: Callable[..., _T], *arguments: Any) -> _T:
        if self._closed:
            raise _Closed
        return await asyncio.get_running_loop().run_in_executor(self._pool, call, *arguments)


def _place(body: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return channel, thread and user of whatever came in; no thread for a command or a visit.

    Another version may have written the body, so it is read as it is.
    """
    user = str(body.get("user") or "")
    return str(body.get("channel") or user), str(body.get("thread") or ""), user
