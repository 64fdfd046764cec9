"""`perfsleuth try`: the proposal is shown, a person types the host's name, and it is carried out here."""

from __future__ import annotations

import json
import os
import pwd
import sys
from dataclasses import dataclass
from typing import get_args

from pydantic import ValidationError

from bot import settings
from bot.access import refusal_here
from bot.narrator import Line
from bot.narrator.proposed import proposed
from bot.proposal import NotPossible, Wanted, propose
from bot.proposal.words import typed
from bot.reach import parted, reach
from bot.terminal import Terminal
from bot.trying.carried import carried_out
from tools.change import Change, Proposal
from tools.change.keep_rule import Goal
from tools.errors import ToolsError
from tools.host import Host

_NOT_TYPED = "Not approved: nothing was done."


@dataclass(frozen=True)
class Named:
    """What the options name, as it was typed."""

    sets: tuple[str, ...]
    unsets: tuple[str, ...]
    env: tuple[str, ...]
    unset_env: tuple[str, ...]


def try_change(
    name: str, named: Named, goal: str | None, port: int | None, *, as_json: bool
) -> None:
    """Propose it, and carry it out once it is approved; raise ToolsError with one sentence."""
    wanted = Wanted(change=_change(named), goal=_goal(goal))
    known = settings.load()
    name, given = parted(name)
    if port and given and port != given:
        raise ToolsError(f"{name}:{given} and --port {port} are two ports; give one.")
    told = known.host(name)
    if told.case:
        raise ToolsError(f"{name} is a case that was kept: nothing runs there any more.")
    scope = told.scope() | ({"port": port or given} if port or given else {})
    host, terminal = reach(name, known), Terminal()
    try:
        proposal = _proposal(host, wanted, scope, terminal)
        if as_json:
            _print(proposal)
            return
        terminal.tell(proposed(proposal))
        user = pwd.getpwuid(os.getuid()).pw_name
        if (refused := refusal_here(known, name, user)) is not None:
            raise ToolsError(refused)
        if not _approved(proposal):
            sys.stdout.write(f"{_NOT_TYPED}\n")
            return
        carried_out(proposal, host, user, terminal)
    finally:
        host.close()


def _proposal(
    host: Host, wanted: Wanted, scope: dict[str, str | int | None], terminal: Terminal
) -> Proposal:
    terminal.wait(f"looking at {host.name}, read-only")
    try:
        return propose(host, wanted, scope)
    except NotPossible as why:
        terminal.rest()
        terminal.tell(Line("test", step) for step in why.steps)
        raise
    finally:
        terminal.rest()


def _approved(proposal: Proposal) -> bool:
    """Ask a person to type the host's name; nobody else approves."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise ToolsError(
            "A change is approved by a person who types the host's name: run this in a terminal. Nothing was done."
        )
    sys.stdout.write(
        f"\nType {proposal.host} to restart the server on port {proposal.port} with this change: "
    )
    sys.stdout.flush()
    return sys.stdin.readline().strip() == proposal.host


def _change(named: Named) -> Change:
    try:
        return Change.model_validate(
            {
                "set": {key: typed(value) for key, value in map(_pair, named.sets)},
                "unset": [_name(one) for one in named.unsets],
                "env": {_variable(one): _value(one) for one in named.env},
                "unset_env": named.unset_env,
            }
        )
    except ValidationError as why:
        first = why.errors()[0]
        said = str(first["msg"]).removeprefix("Value error, ")
        if "nothing is to be changed" in said:
            said = "name a change: --set NAME=VALUE, --unset NAME, --env NAME=VALUE or --unset-env NAME"
        raise ToolsError(f"This is no change that can be tried: {said}.") from None


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not value:
        raise ToolsError(f"--set {text}: give it as NAME=VALUE; a switch is NAME=true.")
    return _name(name), value


def _name(text: str) -> str:
    return text.strip().lstrip("-").replace("-", "_")


def _variable(text: str) -> str:
    return text.partition("=")[0].strip()


def _value(text: str) -> str:
    if "=" not in text:
        raise ToolsError(f"--env {text}: give it as NAME=VALUE.")
    return text.partition("=")[2]


def _goal(text: str | None) -> Goal | None:
    if text is None:
        return None
    found: Goal | None = next((one for one in get_args(Goal) if one == text), None)
    if found is None:
        raise ToolsError(f"--goal {text} is none of {', '.join(get_args(Goal))}.")
    return found


def _print(proposal: Proposal) -> None:
    told = {"schema": 1, "digest": proposal.digest, "proposal": proposal.model_dump(mode="json")}
    sys.stdout.write(json.dumps(told, ensure_ascii=False, indent=1) + "\n")
