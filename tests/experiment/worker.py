"""A bot's worker as a process of its own, with one fault at one transition; the job tries again as bot/jobs.py does."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import event

from bot.audience import Nobody
from bot.experiment.books import Said
from bot.experiment.record import Record
from bot.settings import HostSettings, Settings
from bot.store import Store, StoreError
from bot.work.ends import Ends
from bot.work.experiments import Experiments
from bot.work.stops import Stops
from tests.experiment.live import SureLoad
from tests.lab.sshd import descendants, name_of
from tools.hosts.ssh import SshHost

Kind = Literal["kill", "cut", "sshd", "readonly", "full", "none"]
POLL_S = 0.2


@dataclass(frozen=True)
class Fault:
    """`at` is the phase that is being written, `when` before or after; it happens once.

    `for_s`: how long the database refuses, or sshd is away.
    """

    kind: Kind
    at: str = ""
    when: str = "after"
    for_s: float = 0.0
    hurts: bool = False

    def __str__(self) -> str:
        hurting = " of one that hurts" if self.hurts else ""
        return f"{self.kind} {self.when} {self.at} for {self.for_s:g} s{hurting}"


@dataclass(frozen=True)
class Plan:
    """What a worker needs to know; `sshd` is the pid of the lab's."""

    folder: str
    run: int
    config: str
    sshd: int
    key: str
    fault: Fault


class _Faults:
    """Hooks into the books and the database of this process."""

    def __init__(self, plan: Plan, store: Store) -> None:
        self.plan, self.fault, self.store = plan, plan.fault, store
        self.mark = Path(plan.folder) / "fault"
        self.until = 0.0
        self._save = store.experiments.save
        store.experiments.save = self.save  # type: ignore[method-assign]
        if self.fault.kind == "readonly":
            event.listen(store._database.engine, "checkout", self._lame)

    def save(self, record: Record, said: Sequence[Said] = (), /) -> None:
        self._strike(record, "before")
        try:
            self._save(record, said)
        except StoreError as why:
            Path(self.plan.folder, "refused").write_text(str(why))
            raise
        self._strike(record, "after")

    def _strike(self, record: Record, when: str) -> None:
        if (record.phase, when) != (self.fault.at, self.fault.when) or self.mark.exists():
            return
        self.mark.write_text("struck")
        if self.fault.kind == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.fault.kind in ("cut", "sshd"):
            pids = [one for one in descendants(self.plan.sshd) if name_of(one).startswith("sshd")]
            for pid in [*pids, *([self.plan.sshd] if self.fault.kind == "sshd" else [])]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        if self.fault.kind == "full":
            fill(Path(self.plan.folder) / "db", self.fault.for_s)
        self.until = time.monotonic() + self.fault.for_s

    def _lame(self, connection: sqlite3.Connection, *_: Any) -> None:
        """Let SQLite say what it says of a file that cannot be written."""
        refused = not self.until or Path(self.plan.folder, "refused").exists()
        lame = time.monotonic() < self.until or not refused  # once at least, however slow we are
        connection.execute(f"PRAGMA query_only = {int(lame)}")


def fill(folder: Path, for_s: float) -> None:
    """Leave no room on a small file system of its own, for so long."""
    filler = folder / "filler"
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
        while file.write(b"\0" * 4096):
            pass
    threading.Timer(for_s, filler.unlink).start()


def work(plan: Plan) -> None:
    """Carry the run out, however often that takes."""
    folder = Path(plan.folder)
    store = Store.open(f"sqlite:///{folder / 'db/store.sqlite'}")
    _Faults(plan, store)
    settings = Settings(hosts={"lab": HostSettings()})
    worker = Experiments(
        store, settings, Nobody(), Ends(store, Nobody()), Stops(store),
        lambda name, _: SshHost(name, config_file=Path(plan.config)), lambda _: "",
        on_host=lambda host: SureLoad(host, plan.key, at_once=2), poll_s=POLL_S,
    )  # fmt: skip
    while True:
        try:
            run = store.runs.begin(plan.run)
            if run is None:
                break
            worker.carry_out(run)
        except StoreError:
            time.sleep(0.5)
    store.close()
