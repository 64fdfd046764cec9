"""The arguments of `perfsleuth try` and `tune`; what they do is in the files beside, loaded when needed."""

from __future__ import annotations

from typing import Annotated

import typer

Where = Annotated[
    str, typer.Argument(metavar="HOST[:PORT]", help="A name of hosts.toml, or one that ssh knows.")
]
Sets = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A flag, by its name; a switch: NAME=true."),
]
Unsets = Annotated[
    list[str] | None, typer.Option("--unset", metavar="NAME", help="A flag that is taken out.")
]
Variables = Annotated[
    list[str] | None, typer.Option("--env", metavar="NAME=VALUE", help="A variable of the server.")
]
Gone = Annotated[
    list[str] | None,
    typer.Option("--unset-env", metavar="NAME", help="A variable that is taken out."),
]
ToImprove = Annotated[
    str | None,
    typer.Option(metavar="decode|prefill|ttft|throughput", help="What is to become better."),
]
Port = Annotated[
    int | None, typer.Option("--port", metavar="N", min=1, max=65535, help="Of the server.")
]
Goal = Annotated[
    str, typer.Option(metavar="decode|prefill|ttft|throughput", help="What is to become better.")
]
Budget = Annotated[
    str, typer.Option("--budget", metavar="60m", help="How long it may take in all: 90m, 2h.")
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print what is proposed as one object; nothing is done.")
]


def try_change(
    host: Where,
    set_: Sets = None,
    unset: Unsets = None,
    env: Variables = None,
    unset_env: Gone = None,
    goal: ToImprove = None,
    port: Port = None,
    as_json: AsJson = False,  # noqa: FBT002 - a flag of the command line is a switch
) -> None:
    """Restart a server with other flags, measure before and after, and keep it or take it back.

    The change is shown first with all that it does, and begins when a person has typed the host's
    name. Ctrl-C takes it back. If this machine falls silent, the host brings the old server back by
    itself.
    """
    from bot.trying import command

    named = command.Named(
        tuple(set_ or ()), tuple(unset or ()), tuple(env or ()), tuple(unset_env or ())
    )
    command.try_change(host, named, goal, port, as_json=as_json)


def tune(
    host: Where,
    goal: Goal = "decode",
    budget: Budget = "60m",
    as_json: AsJson = False,  # noqa: FBT002 - a flag of the command line is a switch
) -> None:
    """Try the few changes that are predicted to help, one at a time, under one approval.

    The host is looked at first. The plan is shown whole, and begins when a person has typed the
    host's name. Each change is measured, and kept or taken back before the next; the ledger at the
    end holds every try. Ctrl-C takes back the one that is on, and ends it.
    """
    from bot.trying import tune as command

    command.tune(host, goal, budget, as_json=as_json)
