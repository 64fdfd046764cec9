"""What goes into a thread: parts of a story, buttons, files; in no medium yet."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from bot.narrator import Line, Table

Button = Literal[
    "stop", "check_again", "show_evidence", "ask_why", "propose", "right", "approve", "decline",
    "know",
]  # fmt: skip
Kind = Literal["trail", "verdict", "answer", "word", "file"]
FileKind = Literal["evidence", "log_lines", "chart", "details"]


class Attached(BaseModel):
    """A file that is made when it is sent: raw evidence of a run, lines of its logs, or a chart.

    `looks` are the evidence ids to show, all where it is empty; `name` is the file's name and
    unique in its thread; `alt` describes a chart to who cannot see it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: FileKind
    run: int
    name: str
    title: str
    alt: str = ""
    looks: tuple[str, ...] = ()
    text: str = ""  # of log lines: what they hold; of a summary: what is drawn, or all of it


class Letter(BaseModel):
    """One message, or one file. `key` is unique for ever: a letter is delivered once.

    `channel` and `thread` say where; `only_for` names the one user who sees it, where it is not for
    all. `run` is the investigation that it tells of, for its buttons and evidence links. `edits` is
    the key of an earlier letter, which becomes this one where it stands. `shown` is the digest of
    what is to be approved, and `asks` what is asked once more before that. `under` is the key of an
    earlier letter in whose thread it stands; `choices` are the hosts of which somebody may know.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: str = Field(max_length=200)
    kind: Kind
    channel: str
    thread: str | None = None
    only_for: str | None = None
    run: int | None = None
    parts: tuple[Line | Table, ...] = ()
    buttons: tuple[Button, ...] = ()
    attached: Attached | None = None
    edits: str | None = None
    shown: str = ""
    asks: str = ""
    under: str | None = None
    choices: tuple[str, ...] = ()
