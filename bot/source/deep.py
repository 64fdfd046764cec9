"""`--deep`: what would run is shown, a person types the host's name, and the dry run settles the answer."""

from __future__ import annotations

import os
import pwd
import sys

from bot import settings
from bot.access import refusal_here
from bot.reach import parted, reach
from bot.source.ground import Ground
from tools.engine.argument_trace import ArgumentTrace
from tools.errors import ToolsError
from tools.evidence import ask
from tools.probes.argument_trace import RUN_S, TraceArguments
from tools.provenance.given import Given

_SHOWN = """A dry run on {host} would settle what reading the source cannot:
  what runs      the Python of the server on port {port}, with its command line and its variables, as its user
  what it does   imports SGLang, parses and resolves the arguments, notes each write, and ends; nothing is served
  what it cannot open a GPU or another device, use the network, write a file, start a program: the kernel refuses it
  what it costs  about 1 GB of memory and 10 to 30 s of one core, at the lowest priority; {bound} s at the most
  of the GPU     {gpu}
  what it tells  values of flags on the allow-list; no key, no token, no text of an error
The command: {command}
"""


def traced(name: str, port: int | None, ground: Ground) -> ArgumentTrace:
    """Show what is to run, have it approved, and run it; raise ToolsError with one sentence where it did not run.

    All is written to standard error, so that standard output holds the answer alone.
    """
    known = settings.load()
    name, own = parted(name)
    told = known.host(name)
    if told.case:
        raise ToolsError(f"{name} is a case that was kept: nothing runs there any more.")
    probe = _probe(port or own or told.scope()["port"], ground.known.given)
    sys.stderr.write(_shown(name, probe))
    user = pwd.getpwuid(os.getuid()).pw_name
    if (refused := refusal_here(known, name, user)) is not None:
        raise ToolsError(refused)
    if not _approved(name):
        raise ToolsError("Not approved: nothing was run.")
    host = reach(name, known)
    try:
        (look,) = ask(host, [probe])
    finally:
        host.close()
    if not isinstance(look.facts, ArgumentTrace):
        raise ToolsError(f"The dry run on {name} told nothing: {look.trouble}")
    return look.facts


def remarks(trace: ArgumentTrace) -> list[str]:
    """Return what is to be known of a dry run: how far it came, and what was pretended to it."""
    found = []
    if trace.stopped is not None:
        at = f" at {trace.stopped.at}" if trace.stopped.at else ""
        found.append(
            f"The dry run stopped {trace.stopped.stage}{at}: {trace.stopped.why}. What it wrote until then counts."
        )
    if trace.refused:
        found.append("It asked for what it may not have: " + "; ".join(trace.refused) + ".")
    if trace.pretended:
        found.append("Answered from what is known of the host: " + "; ".join(trace.pretended) + ".")
    return found


def _probe(port: object, given: Given) -> TraceArguments:
    facts = {
        "gpu": given.gpu,
        "capability": given.capability,
        "memory_mib": given.memory_mib,
        "gpus": given.gpus,
        "driver": given.driver,
    }
    return TraceArguments.model_validate({"port": port, **(facts if given.gpu else {})})


def _shown(name: str, probe: TraceArguments) -> str:
    gpu = "none is known: what the code asks of one is refused"
    if probe.gpu:
        gpu = f"it is told {probe.gpu}, {probe.memory_mib or '?'} MiB, {probe.gpus or '?'} of them; none is touched"
    port = probe.port or "that answers first"
    command = probe.command().shown()
    return _SHOWN.format(host=name, port=port, gpu=gpu, bound=RUN_S, command=command)


def _approved(name: str) -> bool:
    """Ask a person to type the host's name; nobody else approves."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise ToolsError(
            "A dry run is approved by a person who types the host's name: run this in a terminal. Nothing was run."
        )
    sys.stderr.write(f"\nType {name} to have this run there: ")
    sys.stderr.flush()
    return sys.stdin.readline().strip() == name
