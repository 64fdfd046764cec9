"""The arguments of `perfsleuth health`; what it does is in command.py, loaded when it is needed."""

from __future__ import annotations

from typing import Annotated

import typer

Which = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[HOST|GROUP]...", help="Hosts, or groups of hosts.toml; none: all hosts."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def health(which: Which = None, as_json: AsJson = False) -> None:  # noqa: FBT002 - a switch
    """Look at many hosts at once, read-only and without load, and say which need attention.

    Each is judged as for any question, from one light round of looks. A host that does not answer
    is a result. The bot does the same every morning where a schedule is set.
    """
    from bot.health import command

    command.health(which or (), as_json=as_json)
