"""What a person wrote, wherever it was written; text without markup, without secrets."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

Place = Literal["channel", "direct", "command", "shortcut"]


class GivenFile(BaseModel):
    """A file that came with a message. `size` in bytes; `url` is the platform's private address."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: str
    name: str = ""
    size: int = 0
    url: str = ""


class Message(BaseModel):
    """One message. `ts` and `thread` are the platform's ids of message and thread.

    `addressed` says that it is meant for us for certain: a mention, a direct message, a command.
    `others` says that it mentions somebody else. `pasted` are texts in code blocks, which are
    evidence and no part of the question.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    team: str = ""
    channel: str
    ts: str
    thread: str
    user: str
    text: str = ""
    place: Place = "channel"
    addressed: bool = True
    others: bool = False
    files: tuple[GivenFile, ...] = ()
    pasted: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Name it for ever: the same message may be told by several events."""
        return f"{self.channel}/{self.ts}"
