"""What a person does on the demo's page, handed on to the workspace as Slack's own client would."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.demo.workspace import Delivery, View, Workspace

Answer = dict[str, Any]
Act = Callable[[web.Request], Awaitable[Answer]]

ACK_S = 3.5  # Slack waits 3 s for the answer to a press, then tells the person
FILES = 10  # of one message, as in Slack's client
_TEXT = 12_000  # characters of one message: Slack's client takes about as many
_SILENT = "The bot did not answer in time. Look into your terminal."


class WrongAct(Exception):
    """What was asked for cannot be done; one sentence says why."""


class _Asked(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    channel: str = Field("", max_length=50)
    ts: str = Field("", max_length=50)
    thread_ts: str = Field("", max_length=50)
    view: str = Field("", max_length=100)
    action_id: str = Field("", max_length=300)
    value: str | None = Field(None, max_length=2000)
    text: str = Field("", max_length=_TEXT)
    values: dict[str, str | None] = {}


class Acts:
    """All that the page can do, as one person of the workspace."""

    def __init__(self, slack: Workspace, me: str) -> None:
        self._slack = slack
        self._me = me

    def by_name(self) -> dict[str, Act]:
        """Return each act by the name of its address."""
        plain = {
            "press": self._press,
            "command": self._command,
            "submit": self._submit,
            "dismiss": self._dismiss,
            "stop": self._stop,
            "shortcut": self._shortcut,
            "home": self._home,
            "assistant": self._assistant,
        }
        return {"say": self._say, **{name: _of_json(act) for name, act in plain.items()}}

    async def _say(self, request: web.Request) -> Answer:
        form = await request.post()
        given = [one for one in form.getall("file", []) if isinstance(one, web.FileField)]
        asked = _checked(
            {name: str(form.get(name, "")) for name in ("channel", "text", "thread_ts")}
        )
        if len(given) > FILES:
            raise WrongAct(f"One message takes {FILES} files.")
        files = [(_file_name(one.filename), one.file.read()) for one in given]
        if any(not content for _, content in files):
            raise WrongAct("An empty file says nothing: choose another.")
        if not files and not asked.text.strip():
            raise WrongAct("Write something first.")
        text = self._slack.typed(asked.text)
        said = self._slack.say(self._channel(asked), self._me, text, asked.thread_ts or None, files)
        return {"ts": said.ts}

    async def _press(self, asked: _Asked) -> Answer:
        try:
            if asked.view:
                view = self._slack.state.views.get(asked.view)
                told = self._slack.press_in_view(view, asked.action_id, self._me, asked.value)
            else:
                told = self._slack.press(
                    self._channel(asked), asked.ts, asked.action_id, self._me, asked.value
                )
        except LookupError:
            raise WrongAct("That button is gone: the message changed.") from None
        await _acked(told)
        return {}

    async def _command(self, asked: _Asked) -> Answer:
        if not asked.text.startswith("/perf"):
            raise WrongAct("This workspace has one command: /perf.")
        await _acked(self._slack.command(asked.text, self._channel(asked), self._me))
        return {}

    async def _submit(self, asked: _Asked) -> Answer:
        values = {name: value for name, value in asked.values.items() if value}
        told = self._slack.submit(self._view(asked), values, self._me)
        await _acked(told)
        answer = told.answer or {}
        return (
            {"errors": answer.get("errors", {})}
            if answer.get("response_action") == "errors"
            else {}
        )

    async def _dismiss(self, asked: _Asked) -> Answer:
        self._view(asked).open = False
        self._slack.state.changed()
        return {}

    async def _stop(self, asked: _Asked) -> Answer:
        for told in self._slack.stop_session(self._channel(asked), asked.thread_ts, self._me):
            await _acked(told)
        return {}

    async def _shortcut(self, asked: _Asked) -> Answer:
        try:
            told = self._slack.shortcut("diagnose_this", self._channel(asked), asked.ts, self._me)
        except LookupError:
            raise WrongAct("That message is gone.") from None
        await _acked(told)
        return {}

    async def _home(self, _asked: _Asked) -> Answer:
        self._slack.open_home(self._me)
        return {}

    async def _assistant(self, asked: _Asked) -> Answer:
        channel = self._channel(asked)
        if self._slack.messages(channel):
            return {}
        return {"ts": self._slack.open_assistant(self._me).ts}

    def _channel(self, asked: _Asked) -> str:
        known = self._slack.state.world.channels.get(asked.channel)
        if known is None or self._me not in known.members:
            raise WrongAct("You are not in that channel.")
        return known.id

    def _view(self, asked: _Asked) -> View:
        view = self._slack.state.views.get(asked.view)
        if view is None or not view.open or view.user != self._me:
            raise WrongAct("That window is closed already.")
        return view


def _of_json(act: Callable[[_Asked], Awaitable[Answer]]) -> Act:
    async def of_request(request: web.Request) -> Answer:
        try:
            body = await request.json()
        except ValueError:
            raise WrongAct("That was no JSON.") from None
        return await act(_checked(body))

    return of_request


def _checked(body: object) -> _Asked:
    try:
        return _Asked.model_validate(body)
    except ValidationError as why:
        first = why.errors()[0]
        place = ".".join(map(str, first["loc"]))
        if first["type"] == "string_too_long":
            raise WrongAct("That is too long for one message: attach it as a file.") from None
        raise WrongAct(f"{place} cannot be used here.") from None


async def _acked(told: Delivery) -> None:
    ends_at = asyncio.get_running_loop().time() + ACK_S
    while not told.done:
        if asyncio.get_running_loop().time() > ends_at:
            break
        await asyncio.sleep(0.01)
    if not told.acked:
        raise WrongAct(_SILENT)


def _file_name(name: str) -> str:
    return re.sub(r"[/\\\x00-\x1f]", "_", name)[-120:] or "file"
