"""One letter: how it is sent by its kind, and what is done when Slack will not have it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from bot.letter import Attached, Letter
from bot.narrator import Line
from bot.slack.api.pace import AGAIN, SOON, URGENT
from bot.slack.api.troubles import NO_PLACE, NO_RIGHT, Away, Refused, Throttled
from bot.slack.api.wire import Wire
from bot.slack.blocks import Rendered, render
from bot.slack.delivery.addresses import Addresses
from bot.slack.delivery.plainly import plainly
from bot.slack.delivery.thread import find
from bot.slack.delivery.trail import Trails
from bot.slack.delivery.upload import Content, share
from bot.store import Due, Store

Claim = Callable[[], Awaitable[bool]]
_LOG = logging.getLogger("perfsleuth.slack")
_RIGHT_AGAIN_S = 30.0  # who set up the app may mend it; a letter waits, and is tried rarely
_TELL_EVERY_S = 60.0
_BELOW_AGAIN_S = 1.0  # for what stands below, or after, a message that is not there yet
_LATE_S = 0.005  # by so much a timer and the clock of the store may differ
_EARLY_S = 0.25  # what 429 sent back queues before its time is over: the pace holds it until then
_WHY_NOT = {
    "not_in_channel": "I am not in it. Invite me there (/invite), or ask me here.",
    "channel_not_found": "I cannot see it. Invite me there (/invite), or ask me here.",
    "is_archived": "it is archived. Ask me in another channel, or here.",
}
_MAY_NOT = "I may not write there. Ask me here, or ask who runs this workspace to let me."


class Postman:
    """Brings one letter to Slack. `content` makes an attached file, in a thread; None: there is none."""

    def __init__(self, store: Store, wire: Wire, trails: Trails, content: Content) -> None:
        self._store = store
        self._wire = wire
        self._trails = trails
        self._content = content
        self._addresses = Addresses(store, wire)
        self._told_at = -_TELL_EVERY_S

    async def deliver(self, due: Due) -> float | None:
        """Try once. Return after how many seconds it is due again; None: there is no more to do.

        A try is claimed in the store before the call that posts. So whatever kills us in between is
        known to have been uncertain, and the thread is looked into before the letter is repeated.
        Raises StoreError.
        """
        if due.letter.under:
            above = await asyncio.to_thread(self._above, due.letter.under)
            if above is None:
                return await self._later(due, _BELOW_AGAIN_S)
            due = replace(due, letter=due.letter.model_copy(update={"thread": above}))
        letter = due.letter
        try:
            ts = await self._sent_before(due)
            if ts is None:
                ts = await self._send(due)
        except Throttled as why:
            return await self._later(due, max(0.0, why.after_s - _EARLY_S))
        except Away as why:
            wait_s = self._wire.outage.back_off_s(due.tries + 1)
            return await self._later(due, wait_s, uncertain=why.uncertain)
        except Refused as why:
            return await self._refused(due, why)
        if ts is None:
            return _BELOW_AGAIN_S  # another process has it, or it is too early
        await self._keep(letter, ts)
        return None

    async def broken(self, letter: Letter, kind: str) -> None:
        """A fault of ours ended the try: say so in one sentence, in the same thread."""
        _LOG.error("A letter could not be written: %s (%s).", letter.key, kind)
        await asyncio.to_thread(self._store.letters.dead, letter.key, kind)
        if not letter.key.startswith("fault:"):
            await self._fault(letter, f"A fault of mine broke this answer ({kind}). My log has it.")

    async def _sent_before(self, due: Due) -> str | None:
        if not due.uncertain or due.letter.edits or due.letter.key.endswith(":trail-end"):
            return None
        ts = await find(self._wire, due.letter)
        if ts is not None and due.letter.kind == "trail":
            await self._trails.found(due.letter, ts)
        return ts

    async def _send(self, due: Due) -> str | None:
        letter, urgency = due.letter, _urgency(due)

        async def claim() -> bool:
            return await asyncio.to_thread(self._store.letters.sending, letter.key, due.tries)

        if letter.key.endswith(":trail-end"):
            return await self._trails.finish(letter, claim)
        if letter.kind == "trail":
            return await self._trails.open(letter, claim, urgency)
        if letter.attached:
            return await share(self._wire, letter, self._content, claim)
        if letter.edits:
            return await self._edit(letter, letter.edits, claim)
        return await self._say(letter, claim, urgency)

    async def _say(self, letter: Letter, claim: Claim, urgency: int) -> str | None:
        rendered = render(letter, await self._addresses.of(letter))
        method = "chat.postEphemeral" if letter.only_for else "chat.postMessage"
        said: dict[str, Any] = {"unfurl_links": False, "unfurl_media": False}
        said |= {"thread_ts": letter.thread} if letter.thread else {}
        said |= {"user": letter.only_for} if letter.only_for else {}

        async def send(form: Rendered) -> dict[str, Any]:
            shown = {"text": form.text, "blocks": form.blocks}
            return await self._wire.send(method, channel=letter.channel, **shown, **said)

        async with self._wire.slot(method, letter.channel, urgency):
            if not await claim():
                return None
            answer = await plainly(rendered, send)
        return str(answer.get("ts") or answer.get("message_ts") or "")

    async def _edit(self, letter: Letter, earlier: str, claim: Claim) -> str | None:
        """Let an earlier letter become this one; where that one never arrived there is nothing to do."""
        ts = await asyncio.to_thread(self._store.letters.ts_of, earlier)
        rendered = render(letter, await self._addresses.of(letter))

        async def send(form: Rendered) -> dict[str, Any]:
            shown = {"text": form.text, "blocks": form.blocks}
            return await self._wire.send("chat.update", channel=letter.channel, ts=ts, **shown)

        async with self._wire.slot("chat.update", urgency=SOON):
            if not await claim():
                return None
            if ts:
                await plainly(rendered, send)
        return ts or ""

    async def _keep(self, letter: Letter, ts: str) -> None:
        await asyncio.to_thread(self._note_sent, letter, ts)
        if letter.kind == "trail" and ts:
            self._addresses.learn(letter, ts)

    def _note_sent(self, letter: Letter, ts: str) -> None:
        """Note it; a message that begins a thread of its own says where its run is talked about."""
        with self._store.together():
            self._store.letters.sent(letter.key, ts)
            if letter.run and ts and not (letter.thread or letter.only_for):
                self._store.runs.place(letter.run, ts)

    def _above(self, key: str) -> str | None:
        """Return the thread of an earlier letter; "", which is the channel, where it never arrived."""
        ts = self._store.letters.ts_of(key)
        return "" if ts is None and self._store.letters.status_of(key) == "dead" else ts

    async def _later(self, due: Due, wait_s: float, *, uncertain: bool = False) -> float:
        doubt = uncertain or due.uncertain
        at = time.time() + wait_s
        await asyncio.to_thread(self._store.letters.later, due.letter.key, at, uncertain=doubt)
        return max(0.0, at - time.time()) + _LATE_S

    async def _refused(self, due: Due, why: Refused) -> float | None:
        letter = due.letter
        if letter.attached and why.error == "missing_scope":
            await self._no_file(letter, letter.attached, why)
            return None
        if why.error in NO_RIGHT:
            self._complain(why)
            return await self._later(due, _RIGHT_AGAIN_S)
        await asyncio.to_thread(self._store.letters.dead, letter.key, why.error)
        if letter.edits or letter.key.endswith(":trail-end"):
            return None
        _LOG.warning("Slack will not have the letter %s: %s.", letter.key, why.error)
        if letter.key.startswith(("lost:", "fault:")):
            return None
        if why.error in NO_PLACE:
            await self._tell_the_asker(letter, why.error)
        else:
            await self._fault(letter, f"Slack does not take my answer ({why.error}).")
        return None

    async def _no_file(self, letter: Letter, attached: Attached, why: Refused) -> None:
        await asyncio.to_thread(self._store.letters.dead, letter.key, why.error)
        self._complain(why)
        if attached.kind != "chart":
            said = "I may not upload files here: the app needs the scope files:write."
            await self._fault(letter, said)

    async def _tell_the_asker(self, letter: Letter, error: str) -> None:
        run = await asyncio.to_thread(self._store.runs.get, letter.run) if letter.run else None
        user = letter.only_for or (run.user if run else None)
        if user and user != letter.channel:
            said = f"I could not answer where you asked: {_WHY_NOT.get(error, _MAY_NOT)}"
            key = f"lost:{letter.channel}:{letter.run or letter.thread}"
            await self._add(letter, key, user, None, said)

    async def _fault(self, letter: Letter, said: str) -> None:
        """Say in the letter's own place why it is missing."""
        await self._add(letter, f"fault:{letter.key}"[:200], letter.channel, letter.thread, said)

    async def _add(
        self, letter: Letter, key: str, channel: str, thread: str | None, said: str
    ) -> None:
        parts = (Line("text", said),)
        word = Letter(
            key=key, kind="word", channel=channel, thread=thread, run=letter.run, parts=parts
        )
        await asyncio.to_thread(self._store.letters.add, word)

    def _complain(self, why: Refused) -> None:
        if time.monotonic() - self._told_at < _TELL_EVERY_S:
            return
        self._told_at = time.monotonic()
        scope = f"; give the app the scope {why.needed}" if why.needed else ""
        _LOG.error(
            "Slack refuses our token (%s)%s: letters wait until it is mended; `perfsleuth doctor` says more.",
            why.error,
            scope,
        )


def _urgency(due: Due) -> int:
    """Say how pressing it is: what was sent back goes before what came in meanwhile."""
    if due.tries:
        return AGAIN
    return URGENT if due.letter.kind in ("word", "trail") else SOON
