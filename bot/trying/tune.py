"""`perfsleuth tune`: look, plan, have the plan approved as one, and carry it out in the foreground."""

from __future__ import annotations

import json
import os
import pwd
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from bot import settings
from bot.access import refusal_here
from bot.experiment.record import Record
from bot.narrator import Line
from bot.proposal.wanted import NotPossible
from bot.reach import parted, reach
from bot.settings import Settings
from bot.terminal import Terminal
from bot.trying.carried import carried
from bot.tuning.campaign import LEFT_OUT, Try, ended, left_out
from bot.tuning.ledger import of_campaign, of_plan, of_try
from bot.tuning.planning import anew, plan_for
from bot.tuning.tuning import Tuning, typed
from tools.change import Plan, Proposal
from tools.errors import HostError, ToolsError
from tools.host import Host


def tune(name: str, goal: str, budget: str, *, as_json: bool) -> None:
    """Raise ToolsError with one sentence where there is nothing to try, or nobody approves."""
    tuning, known = typed(goal, budget), settings.load()
    name, port = parted(name)
    scope = known.host(name).scope() | ({"port": port} if port else {})
    host, terminal = reach(name, known), Terminal()
    try:
        plan = _planned(host, tuning, scope, known, terminal)
        if as_json:
            _print(plan)
            return
        terminal.tell([*of_plan(plan), Line("said", f"Digest of the plan: {plan.digest[:16]}")])
        user = pwd.getpwuid(os.getuid()).pw_name
        if (refused := refusal_here(known, name, user)) is not None:
            raise ToolsError(refused)
        if not _approved(plan):
            sys.stdout.write("Not approved: nothing was done.\n")
            return
        _carry_out(plan, host, scope, user, terminal)
    finally:
        host.close()


def carried_out(
    plan: Plan,
    tries: list[Try],
    proposed_anew: Callable[[Proposal], Proposal],
    carry_out: Callable[[Proposal], Record],
    now: Callable[[], float] = time.monotonic,
) -> Iterator[Try]:
    """Yield each try as it ends, failures too, and put it into `tries`."""
    began = now()
    while not ended(plan, tries, now() - began):
        one = _one(plan, tries, proposed_anew, carry_out)
        tries.append(one)
        yield one


def _one(
    plan: Plan,
    tries: Sequence[Try],
    proposed_anew: Callable[[Proposal], Proposal],
    carry_out: Callable[[Proposal], Record],
) -> Try:
    planned = plan.proposals[len(tries)]
    try:
        proposal = proposed_anew(planned)
    except NotPossible as why:
        return Try(planned, LEFT_OUT, str(why))
    if why_not := left_out(plan, tries, proposal):
        return Try(proposal, LEFT_OUT, why_not)
    return Try.of(carry_out(proposal))


def _carry_out(
    plan: Plan, host: Host, scope: Mapping[str, Any], user: str, terminal: Terminal
) -> None:
    tries: list[Try] = []
    began = time.monotonic()
    for one in carried_out(
        plan,
        tries,
        lambda planned: anew(host, planned, scope),
        lambda proposal: carried(proposal, host, user, terminal),
    ):
        terminal.tell(of_try(one))
    terminal.tell(of_campaign(plan.goal, tries, ended(plan, tries, time.monotonic() - began)))
    if tries and tries[-1].end == "needs a person":
        raise HostError(f"{host.name} needs a person: what to do stands above.")


def _planned(
    host: Host, tuning: Tuning, scope: Mapping[str, Any], known: Settings, terminal: Terminal
) -> Plan:
    terminal.wait(f"looking at {host.name}, read-only")
    try:
        return plan_for(host, tuning, scope, tuple(known.hosts))
    finally:
        terminal.rest()


def _approved(plan: Plan) -> bool:
    """Ask a person to type the host's name; nobody else approves."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise ToolsError(
            "A plan is approved by a person who types the host's name: run this in a terminal. Nothing was done."
        )
    sys.stdout.write(f"\nType {plan.host} to carry out this whole plan: ")
    sys.stdout.flush()
    return sys.stdin.readline().strip() == plan.host


def _print(plan: Plan) -> None:
    told = {"schema": 1, "digest": plan.digest, "plan": plan.model_dump(mode="json")}
    sys.stdout.write(json.dumps(told, ensure_ascii=False, indent=1) + "\n")
