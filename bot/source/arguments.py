"""The commands about an installed engine's source: their arguments; what they do is in command.py."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

AskedFlag = Annotated[
    str | None, typer.Argument(metavar="FLAG", help="A flag or field, in full; or give --all.")
]
OnHost = Annotated[
    str | None,
    typer.Argument(
        metavar="HOST", help="Whose server: as hosts.toml or ssh names it; or give --source."
    ),
]
Every = Annotated[bool, typer.Option("--all", help="Explain every flag.")]
Port = Annotated[
    int | None,
    typer.Option(
        "--port", metavar="N", min=1, max=65535, help="The server's port, if the host has several."
    ),
]
Source = Annotated[
    Path | None,
    typer.Option("--source", metavar="DIR", help="site-packages, or an unpacked wheel, here."),
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
ConfigFile = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="The YAML file of the launch's --config."),
]
Search = Annotated[
    str | None, typer.Option("--search", metavar="TEXT", help="Only flags with this text in them.")
]
Deep = Annotated[
    bool,
    typer.Option(
        "--deep",
        help="Settle it by a dry run on HOST, shut in by the kernel, which a person approves first.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def explain_flag(
    flag: AskedFlag = None,
    host: OnHost = None,
    every: Every = False,  # noqa: FBT002 - a flag of the command line is a switch
    port: Port = None,
    source: Source = None,
    argv: Argv = "",
    server_info: InfoFile = None,
    model_config: ModelConfig = None,
    gpu: GpuName = None,
    config: ConfigFile = None,
    deep: Deep = False,  # noqa: FBT002
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Say which line of the installed SGLang source set a flag, and why; the source is only read.

    A host is asked for all that the source's conditions need. With --source, what is not given is
    not known, and a condition that needs it is answered "cannot tell". With --deep the engine's own
    code resolves the arguments once more on the host, in a process that can reach no GPU, no network
    and no file to write, and every write is noted.
    """
    if every and host is None:
        flag, host = None, flag
    if (flag is None) is not every:
        raise typer.BadParameter("give FLAG or --all")
    _one_of(host, source, port)
    files = {
        "argv": argv, "server_info": server_info, "model_config": model_config, "gpu": gpu,
        "config": config,
    }  # fmt: skip
    told = [f"--{name.replace('_', '-')}" for name, value in files.items() if value]
    if host is not None and told:
        raise typer.BadParameter(f"{told[0]} goes with --source: a host is asked itself")
    if deep and (host is None or flag is None):
        raise typer.BadParameter("--deep goes with one FLAG and a HOST")
    from bot.source import command

    ground = command.ground_of(host, port, source, flag or "", **files)
    command.explain_flag(
        flag, ground, as_json=as_json, deep=(host, port) if deep and host else None
    )


def list_flags(
    host: OnHost = None,
    port: Port = None,
    source: Source = None,
    search: Search = None,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """List every flag of the installed SGLang: default, choices, help and deprecation, as argparse would."""
    _one_of(host, source, port)
    from bot.source import command

    ground = command.ground_of(host, port, source, launch=False)
    command.list_flags(ground, search, as_json=as_json)


def _one_of(host: str | None, source: Path | None, port: int | None) -> None:
    if (host is None) is (source is None):
        raise typer.BadParameter("give either HOST or --source DIR")
    if port is not None and host is None:
        raise typer.BadParameter("--port goes with HOST")
