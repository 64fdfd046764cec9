"""What a person types when neither the bot nor the host could bring a server back; no secret is in it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from bot.experiment.record import Record
from bot.narrator import Line
from tools.change import HeldBy

_SHOWN = 8  # steps of the keeper
_HAND = "by hand: "  # begins a step of the keeper that is a command (tools/remote/keeper_change.py)
_TRIAL = "95-perfsleuth-trial.conf"  # as tools/remote/keeper_dropin.py names it


def by_hand(record: Record) -> Iterator[Line]:
    """Yield the state of things and the commands: those of the keeper, where it could still tell them."""
    proposal, steps = record.proposal, record.seen.steps if record.seen else ()
    yield from (Line("said", step) for step in steps[-_SHOWN:] if _HAND not in step)
    yield Line("text", f"See what has the port: on {proposal.host},")
    yield Line("test", f"ss -ltnp 'sport = :{proposal.port}'")
    if told := [step.partition(_HAND)[2] for step in steps if _HAND in step]:
        yield Line("text", "Bring the old server back:")
        yield from (Line("test", one) for one in told)
    else:
        yield from _by_kind(record)


def _by_kind(record: Record) -> Iterator[Line]:
    proposal, held = record.proposal, record.proposal.held_by
    if proposal.launcher == "systemd" and held.unit:
        yield from _unit(held)
    elif proposal.launcher == "docker" and held.container:
        yield from _container(held)
    elif proposal.launcher == "compose" and held.service:
        yield from _service(held)
    else:
        yield Line(
            "text",
            "Start it as it was, with the user and the environment it had (keys are not shown):",
        )
        yield Line("test", " ".join(proposal.old))


def _unit(held: HeldBy) -> Iterator[Line]:
    ctl = "systemctl --user" if held.owner is not None else "systemctl"
    place = "/run/systemd/system" if held.owner is None else f"/run/user/{held.owner}/systemd/user"
    yield Line("text", "Take away our drop-in of the trial, and start the unit as it was:")
    yield Line("test", f"rm -f {place}/{held.unit}.d/{_TRIAL}")
    yield Line(
        "test", f"{ctl} daemon-reload; {ctl} reset-failed {held.unit}; {ctl} start {held.unit}"
    )


def _container(held: HeldBy) -> Iterator[Line]:
    run, name = held.runtime, held.container
    yield Line(
        "text", f"The old container is kept as {name}-perfsleuth-old, or still has its own name:"
    )
    yield Line("test", f"{run} ps --all --filter name={name}")
    yield Line("test", f"{run} stop {name}; {run} rename {name} {name}-perfsleuth-new")
    yield Line("test", f"{run} rename {name}-perfsleuth-old {name}; {run} start {name}")


def _service(held: HeldBy) -> Iterator[Line]:
    files = " ".join(f"-f {shlex.quote(file)}" for file in held.files)
    yield Line("text", "Make the service again from its own files, without our further one:")
    yield Line(
        "test",
        f"{held.runtime} compose -p {held.project} {files} up -d --no-deps --force-recreate {held.service}",
    )
