"""The commands about an installed engine's source: their arguments; what they do is in command.py."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

AskedFlag = Annotated[
    str | None, typer.Argument(metavar="FLAG", help="A flag or field, in full; or give --all.")
]
Every = Annotated[bool, typer.Option("--all", help="Explain every flag.")]
Source = Annotated[
    Path, typer.Option("--source", metavar="DIR", help="site-packages, or an unpacked wheel.")
]
Argv = Annotated[
    str, typer.Option("--argv", metavar="TEXT", help="The arguments the server was started with.")
]
InfoFile = Annotated[
    Path | None,
    typer.Option("--server-info", metavar="FILE", help="What GET /server_info answered."),
]
ModelConfig = Annotated[
    Path | None, typer.Option("--model-config", metavar="FILE", help="The model's config.json.")
]
GpuName = Annotated[
    str | None, typer.Option("--gpu", metavar="NAME", help="The GPU, as nvidia-smi names it.")
]
Search = Annotated[
    str | None, typer.Option("--search", metavar="TEXT", help="Only flags with this text in them.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def explain_flag(
    source: Source,
    flag: AskedFlag = None,
    every: Every = False,  # noqa: FBT002 - a flag of the command line is a switch
    argv: Argv = "",
    server_info: InfoFile = None,
    model_config: ModelConfig = None,
    gpu: GpuName = None,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Say which line of the installed SGLang source set a flag, and why; the source is only read.

    What is not given is not known, and a condition that needs it is answered "cannot tell".
    """
    if (flag is None) is not every:
        raise typer.BadParameter("give FLAG or --all")
    from bot.source import command

    command.explain_flag(flag, source, argv, server_info, model_config, gpu, as_json=as_json)


def list_flags(source: Source, search: Search = None, as_json: AsJson = False) -> None:  # noqa: FBT002
    """List every flag of the installed SGLang: default, choices, help and deprecation, as argparse would."""
    from bot.source import command

    command.list_flags(source, search, as_json=as_json)
