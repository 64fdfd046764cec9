"""What a dry run of a server's argument resolution wrote, in order."""

from __future__ import annotations

from typing import Any

from tools.probe import Facts


class TracedWrite(Facts):
    """One write: `field` may go on into a record (`cuda_graph_config.decode`), `source` is the declared name.

    `places` are (file, line, function) from the writer outwards, files as they lie below site-packages.
    """

    field: str
    old: Any = None
    new: Any = None
    source: str | None = None
    places: tuple[tuple[str, int, str], ...] = ()

    @property
    def name(self) -> str:
        """Name the argument that it is, or is a part of."""
        return self.field.partition(".")[0]


class Stopped(Facts):
    """Why the dry run did not come to its end: the exception's name, the engine's line, and the stage."""

    why: str
    at: str | None
    stage: str


class ArgumentTrace(Facts):
    """All of it; `pretended` was answered from what is known of the host, `refused` had no answer.

    `sound` counts the writes before the first question that had none: after it the run may have gone
    another way than the server did.
    """

    writes: tuple[TracedWrite, ...]
    asked: dict[str, Any]
    resolved: dict[str, Any]
    stopped: Stopped | None = None
    pretended: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    sound: int | None = None  # None: all of them
    took_s: float | None = None
