"""What is kept of a payload of Slack until it is handled: named fields only, never a token."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from bot.letter import Button


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Press(_Body):
    """Somebody pressed one of our buttons. `right` and `reason` answer "was this right?".

    `shown` is the digest of what somebody approves or declines, `host` what somebody knows of.
    """

    action: Button
    run: int
    user: str
    channel: str
    thread: str
    message: str = ""
    right: bool | None = None
    reason: str = ""
    shown: str = ""
    host: str = ""


class Stop(_Body):
    """Somebody pressed the platform's own Stop in a thread."""

    user: str
    channel: str
    thread: str


class Ask(_Body):
    """Somebody asked by /perf ask: the question is to be put into the channel first."""

    team: str
    user: str
    channel: str
    text: str
    name: str = ""  # of the user, as the command tells it


class Opened(_Body):
    """Somebody opened a thread with us in the assistant container."""

    user: str
    channel: str
    thread: str


class Visit(_Body):
    """Somebody opened our Home tab."""

    user: str


Kind = Literal["message", "press", "stop", "ask", "opened", "visit"]
