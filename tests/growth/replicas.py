"""Replicas in processes of their own on one database; what a run does is written in its text."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from bot.store import Run, Store

ROOT = Path(__file__).parents[2]
SOON_S = 60.0

# A run's text: seconds that it takes; "hang" takes a minute the first time; "slow" waits for a file.
CHILD = """
import os, sys, time
from pathlib import Path
from bot import beats, queue
url, log, executor, works, other_code = sys.argv[1:]
queue.APPLICATION_VERSION = beats.APPLICATION_VERSION = works
from bot import jobs as module
module.APPLICATION_VERSION = works
if other_code:  # a version whose workflow is written otherwise, for which DBOS would make another version
    from functools import cache
    from dbos import DBOS
    @cache
    def workflow(carried_out):
        @DBOS.workflow(name="carry_out")
        def of_another_version(run_id):
            note("of another version")
            carried_out(run_id)
        return of_another_version
    queue.workflow = workflow
from bot.jobs import Jobs
from bot.settings import Limits, Service
from bot.store import Store, StoreError
store = Store.open(url, executor=executor)
def note(text):
    with open(log, "a") as file: file.write(f"{text} by {executor}\\n")
def carry_out(number):
    run = store.runs.begin(number)
    if run is None: return
    note(f"begin {run.key}")
    if run.text == "hang": time.sleep(60 if not run.restarts else 0)
    elif run.text == "slow":
        while not run.restarts and not Path(log + ".go").exists(): time.sleep(0.02)
    else: time.sleep(float(run.text))
    note(f"{'end' if store.runs.end(number, 'done') else 'late'} {run.key}")
jobs = Jobs(Service(database_url=url, executor=executor), Limits(), carry_out)
beating = beats.Beats(store, jobs, every_s=0.2, silent_s=2.0).begin()
try:
    jobs.launch()
except StoreError as why:
    sys.exit(str(why))
jobs.reconcile(store.runs.open(), beats.works_of(store))
print("ready", flush=True)
while sys.stdin.readline().strip() == "put":
    jobs.reconcile(store.runs.open(), beats.works_of(store))
print("drained", jobs.drain(10), flush=True)
beating.close()
jobs.close()
"""


class Replica:
    def __init__(
        self,
        url: str,
        log: Path,
        executor: str,
        works: str = "runs-by-number-1",
        other_code: str = "",
    ) -> None:
        self.log = log
        self.process = subprocess.Popen(
            [sys.executable, "-c", CHILD, url, str(log), executor, works, other_code],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def ready(self) -> None:
        assert self.process.stdout is not None
        assert self.process.stdout.readline().strip() == "ready", self.process.communicate()[1]

    def put(self) -> None:
        """Let it enqueue what is open and on nobody's way."""
        assert self.process.stdin is not None
        self.process.stdin.write("put\n")
        self.process.stdin.flush()

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.communicate()

    def drain(self) -> tuple[str, str]:
        out, err = self.process.communicate("drain\n", timeout=60)
        return out.strip(), err

    def lines(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []


def ask(store: Store, key: str, host: str, text: str = "0") -> Run:
    run = store.runs.add(key, "host", host=host, channel="C1", thread="1.0", user="U1", text=text)
    assert run is not None
    return run


def soon(what: Callable[[], object]) -> None:
    until = time.monotonic() + SOON_S
    while not what():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.02)
