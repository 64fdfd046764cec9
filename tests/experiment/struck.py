"""One experiment with one fault: a server, a store with an approved change, one worker after the other."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from multiprocessing.context import ForkServerContext
from pathlib import Path

from bot.experiment.record import Record
from bot.store import Store
from tests.change.engine import KEY, StandIn, keepers, stand_in
from tests.experiment.worker import Fault, Plan, work
from tests.lab.sshd import Lab, wait_for
from tools.change import Bounds, Change, Edit, KeepRule, Proposal

TRIES = 3
FEW = ("--max-running-requests", "2")
# An exit status comes once, through a pipe: of two threads that look (a start looks at all), one is told 255.
_LOOKING = threading.Lock()


def may_mount() -> str:
    """Say why no small disk can be made here; empty where it can."""
    if os.getuid() != 0 or not shutil.which("mount"):
        return "only root can mount a small disk that is full"
    with tempfile.TemporaryDirectory() as place:
        argv = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place]
        if subprocess.run(argv, capture_output=True, check=False).returncode:
            return "no small disk can be mounted here"
        subprocess.run(["umount", place], check=True)
    return ""


class Case:
    """One stand-in, one store with an approved change of it, one worker after the other."""

    bounds = Bounds(drain_s=1, stop_s=10, ready_s=20, silence_s=3, whole_s=100)
    back_s = 30.0  # in which the old server is back after the bot was last heard: the dead-man, and a start
    whole_s = 120.0

    def __init__(self, fault: Fault, folder: Path, context: ForkServerContext) -> None:
        self.fault, self.root, self.context = fault, folder, context

    def run(self) -> str:
        """Return what is wrong; empty where all holds."""
        return self.struck(self._once)

    def struck(self, once: Callable[[], str]) -> str:
        """Try it, again on a machine so slow that the dead-man acts before the fault."""
        for number in range(TRIES):
            self.folder = self.root / f"{number}"
            self.folder.mkdir(parents=True)
            trouble = once()
            if (self.folder / "fault").exists() or self.fault.kind == "none":
                return trouble
        return trouble or f"{self.fault}: it never struck"

    def _once(self) -> str:
        lab = Lab(self.folder / "lab")
        try:
            with stand_in(self.folder / "server", *(() if self.fault.hurts else FEW)) as server:
                return self.on(lab, server)
        except Exception as why:  # noqa: BLE001 - the other cases go on, and this one is told
            return f"{self.fault}: {type(why).__name__}: {why}"
        finally:
            lab.stop()

    def on(self, lab: Lab, server: StandIn) -> str:
        """Carry it out on a server; a disk that is to be full is a small one of its own."""
        place = self.folder / "db"
        place.mkdir()
        if self.fault.kind != "full":
            return self._on(lab, server)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(place)], check=True)
        try:
            return self._on(lab, server)
        finally:
            subprocess.run(["umount", "--lazy", str(place)], check=True)

    def _on(self, lab: Lab, server: StandIn) -> str:
        first, proposal = server.start(), self.proposal_of(server)
        run = self._approved(proposal)
        plan = Plan(str(self.folder), run, str(lab.config), lab.sshd.process.pid, KEY, self.fault)
        worker = self._begun(plan)
        if self.fault.kind == "kill":
            if (status := self._ended(worker)) != -9:
                return f"{self.fault}: the worker was not killed, {status}"
            if trouble := self._alone(server):
                return trouble
            worker = self._begun(plan)
        elif self.fault.kind == "sshd":
            wait_for((self.folder / "fault").exists, "the fault never struck", self.whole_s)
            time.sleep(self.fault.for_s)
            lab.sshd.process.wait()
            lab.sshd.start()
        if (status := self._ended(worker)) != 0:
            return f"{self.fault}: the worker ended with {status}"
        return self._held(server, first, proposal, run)

    def _alone(self, server: StandIn) -> str:
        """While the bot is away: within the dead-man bound the host has a healthy server by itself."""
        if not self.fault.for_s:
            return ""
        time.sleep(self.fault.for_s)
        wait_for(
            lambda: len(server.pids()) == 1 and server.serves(),
            f"{self.fault}: no server",
            self.back_s,
        )
        return ""

    def _begun(self, plan: Plan) -> multiprocessing.process.BaseProcess:
        worker = self.context.Process(target=work, args=(plan,))
        with _LOOKING:
            worker.start()
        return worker

    def _ended(self, worker: multiprocessing.process.BaseProcess) -> int | None:
        """Wait for its end and return its status; None where that takes too long."""
        over = time.monotonic() + self.whole_s
        while True:
            with _LOOKING:
                status = worker.exitcode
            if status is not None or time.monotonic() > over:
                return status
            time.sleep(0.05)

    def proposal_of(self, server: StandIn) -> Proposal:
        edit = Edit(add=FEW) if self.fault.hurts else Edit(drop=FEW[:1])
        change = (
            Change(set={"max_running_requests": 2})
            if self.fault.hurts
            else Change(unset=("max_running_requests",))
        )
        rule = KeepRule(goal="throughput", better_pct=5)
        return server.proposal(
            edit, change=change, keep=rule, repeats=2, bounds=self.bounds, host="lab"
        )

    def _approved(self, proposal: Proposal) -> int:
        store = Store.open(f"sqlite:///{self.folder / 'db/store.sqlite'}")
        where = {"channel": "CGPU", "thread": "1.1", "user": "USAM"}
        made = store.runs.add("propose", "proposal", host="lab", **where)
        run = store.runs.add("try", "experiment", host="lab", port=proposal.port, **where)
        assert made
        assert run
        offer = store.proposals.add(made.id, proposal, lives_s=600, **where)
        assert store.proposals.approve(offer.id, proposal.digest, "UANA")
        store.proposals.begun(offer.id, run.id)
        store.close()
        return run.id

    def _held(self, server: StandIn, first: object, proposal: Proposal, run: int) -> str:
        store = Store.open(f"sqlite:///{self.folder / 'db/store.sqlite'}")
        record, ended = store.experiments.load(run), store.runs.get(run)
        steps = " | ".join(f"{one.phase}: {one.text}" for one in store.experiments.said(run))
        store.close()
        assert record
        assert ended
        told = f"{self.fault}: {record.phase} ({record.reason}) {steps}"
        if self.fault.kind in ("readonly", "full") and not (self.folder / "refused").exists():
            return f"{told}: the database never refused"
        if not ended.ended or record.phase not in ("kept", "restored", "withdrawn"):
            return f"{told}: no known end, run {ended.state}"
        if len(server.pids()) != 1 or not server.serves():
            return f"{told}: {len(server.pids())} servers"
        if (server.start() == first) != (record.phase != "kept"):
            return f"{told}: the other server runs"
        # Who was away when it ended could not dismiss the keeper: that one leaves by itself, a day later.
        if self.fault.kind != "sshd":
            wait_for(lambda: not keepers(server.port), f"{told}: the keeper stays")
        return self._expected(record, told)

    def _expected(self, record: Record, told: str) -> str:
        """What is back before the dead-man goes on, unless this machine is so slow that its silence was longer."""
        silent = record.trouble is not None and record.trouble.kind == "silence"
        if (
            self.fault.for_s < self.bounds.silence_s
            and not silent
            and record.phase != ("restored" if self.fault.hurts else "kept")
        ):
            return f"{told}: it should have gone on"
        return ""
