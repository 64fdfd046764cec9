"""The arguments of `perfsleuth export` and `tidy`; what they do is in command.py, loaded when it is needed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Runs = Annotated[
    list[int] | None,
    typer.Argument(metavar="RUN", help="Numbers of investigations, as the log tells them."),
]
Since = Annotated[
    str | None, typer.Option(metavar="DATE", help="All since then, as 2026-11-30 (UTC).")
]
To = Annotated[Path, typer.Option("--to", metavar="FOLDER", help="Where to; made if need be.")]
OlderThan = Annotated[
    str, typer.Option("--older-than", metavar="DAYS", help="As 90d; at least 7d.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say how much it would be, alone.")]


def export(to: To, runs: Runs = None, since: Since = None) -> None:
    """Write the cases that the bot has kept into files, which replay and diagnose read.

    They were freed of secrets when they were kept. Look through them before you send them.
    """
    from bot.keeping import command

    if bool(runs) == (since is not None):
        raise typer.BadParameter("name runs, or --since DATE")
    command.export(runs or (), since, to)


def tidy(older_than: OlderThan = "90d", dry_run: DryRun = False) -> None:  # noqa: FBT002 - a switch
    """Remove handled events, sent letters and cases of what was over so long ago.

    The running bot does this by itself, with PERFSLEUTH_KEEP_DAYS. What was asked and how it ended,
    opinions and the audit stay; so does all work that is open.
    """
    from bot.keeping import command

    command.tidy(older_than, dry_run=dry_run)
