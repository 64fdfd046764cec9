"""An approved change is carried out in the foreground: each step in a line, Ctrl-C takes it back."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from bot.approvals import LIVES_S, Approvals
from bot.experiment.machine import Experiment
from bot.experiment.on_host import OnHost
from bot.experiment.record import Record
from bot.experiment.result import result
from bot.experiment.step import Step
from bot.narrator import Kind, Line
from bot.store import Run, Store
from bot.terminal import Terminal
from tools.change import Proposal
from tools.errors import HostError, ToolsError
from tools.host import Host

_HERE = "terminal"  # the channel of what is tried from here
_BACK = "\nTaking it back. Ctrl-C once more leaves that to the host, which does it by itself.\n"


class _Stop:
    """Ctrl-C asks for the old server once; the second one ends this program.

    What it interrupts may hold a lock that closing needs, so that is left to a thread.
    """

    def __init__(self, hands: OnHost, user: str) -> None:
        self._hands, self._user, self.by = hands, user, ""
        self._over = threading.Event()
        threading.Thread(target=self._close, name="perfsleuth-stop", daemon=True).start()

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        if self.by:
            raise KeyboardInterrupt
        self.by = self._user
        self._over.set()

    def end(self) -> None:
        """Wait for no Ctrl-C any more."""
        self._over.set()

    def _close(self) -> None:
        self._over.wait()
        if self.by:
            sys.stderr.write(_BACK)
            self._hands.close()


def carried_out(proposal: Proposal, host: Host, user: str, terminal: Terminal) -> None:
    """Carry it out to its end and tell it; raise HostError where the host needs a person."""
    record = carried(proposal, host, user, terminal)
    terminal.tell(result(record))
    _insist(record)


def carried(proposal: Proposal, host: Host, user: str, terminal: Terminal) -> Record:
    """Write down that it was approved, and carry it out to its end."""
    store = Store.open(database_url())
    try:
        _end_left_over(store)
        run = _accepted(store, proposal, user)
        hands = OnHost(host)
        with _stopping(_Stop(hands, user)) as stop:
            machine = Experiment(
                store.experiments,
                hands,
                tell=lambda step: _tell(terminal, step),
                stopped=lambda: stop.by or None,
            )
            try:
                record = machine.carry_out(run.id)
            finally:
                terminal.rest()
        store.runs.end(run.id, "failed" if record.phase == "needs_person" else "done")
        return record
    finally:
        store.close()


def database_url() -> str:
    """Return where this is written down: beside the bot's own database, which would take the work over."""
    state = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return f"sqlite:///{Path(state).expanduser() / 'perfsleuth' / 'try.sqlite'}"


def _end_left_over(store: Store) -> None:
    """End what a command that was killed left open: its host has the old server back by itself, and its lease ends."""
    for run in store.runs.open():
        pid, _, began = run.thread.partition(":")
        if run.channel == _HERE and _began(pid) != began:
            store.runs.end(run.id, "failed")


def _myself() -> str:
    """Name this process so that another one of the same number is told apart."""
    return f"{os.getpid()}:{_began(str(os.getpid()))}"


def _began(pid: str) -> str:
    """Return when a process began, in ticks since boot (field 22 of /proc/PID/stat); empty: it has ended."""
    try:
        return Path(f"/proc/{int(pid)}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, ValueError, IndexError):
        return ""


def _accepted(store: Store, proposal: Proposal, user: str) -> Run:
    """Write down what was approved: by whom, and exactly that."""
    approvals = Approvals(store, lambda known: known, store.now)
    with store.together():
        made = store.runs.add(
            f"try:{proposal.digest}:{store.now()}",
            "proposal",
            host=proposal.host,
            port=proposal.port,
            channel=_HERE,
            thread=_myself(),
            user=user,
            state="done",
        )
        if made is None:
            raise AssertionError("its key holds the time")
        offer = store.proposals.add(
            made.id, proposal, user=user, channel=_HERE, thread=made.thread, lives_s=LIVES_S
        )
        run = approvals.approve(offer, proposal.digest, user, _HERE, made.thread)
        outcome = run if isinstance(run, str) else f"accepted (run {run.id})"
        store.audit.note(user, _HERE, "approve", f"proposal {offer.id}", outcome, proposal.host)
    if isinstance(run, str):
        raise ToolsError(run)
    return run


@contextmanager
def _stopping(stop: _Stop) -> Iterator[_Stop]:
    before = signal.signal(signal.SIGINT, stop)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)
        stop.end()


def _tell(terminal: Terminal, step: Step) -> None:
    terminal.rest()
    if step.status == "in_progress":
        terminal.wait(f"{step.title}; Ctrl-C takes it back")
        return
    kind: Kind = "look" if step.status == "complete" else "trouble"
    said = [Line("said", step.said)] if step.said else []
    terminal.tell([Line(kind, step.title, took_s=step.took_s), *said])


def _insist(record: Record) -> None:
    where = f"{record.proposal.host}:{record.proposal.port}"
    if record.phase == "needs_person":
        raise HostError(f"{where} needs a person: what to do stands above.")
    if record.phase == "withdrawn" and not record.stop_by:
        raise HostError(
            f"{where} could not be changed: {record.reason.rstrip('.') or 'see above'}."
        )
