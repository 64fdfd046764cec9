"""One sweep of slow hosts by one worker process, and by three, on PostgreSQL: seconds, and who was seen twice."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from bot.demo import shipped
from bot.health.sweep import claimed
from bot.settings import HostSettings, Settings
from bot.store import Store
from tests.lab import postgres
from tests.lab.postgres import Cluster
from tools.host import Asks, Host, Output
from tools.hosts.replay import ReplayHost
from tools.probes import PROBES

ROOT = Path(__file__).parents[2]
HOSTS, SLOW_S = 300, 8.0  # a batch of a host with a hanging nvidia-smi takes some ten seconds
NAMES = [f"gpu{n:03}" for n in range(HOSTS)]


class Slow(ReplayHost):
    """A recorded host that takes its time."""

    def answer(self, probes: Sequence[Asks], /) -> Sequence[Output]:
        time.sleep(SLOW_S)
        return super().answer(probes)


def work(url: str, run: int) -> None:
    """Be one worker: claim hosts and look at them until there is none."""
    looks = shipped("ct129").evidence(PROBES)
    answers = {one.probe.key: one.output for one in looks if one.probe and one.output}

    def reach(name: str, _settings: Settings) -> Host:
        return Slow(name, answers)

    store = Store.open(url)
    settings = Settings(hosts={name: HostSettings(case=Path("x.json")) for name in NAMES})
    for looked in claimed(lambda count: store.sweeps.claim(run, count), settings, reach):
        store.sweeps.done(run, looked)


def swept(cluster: Cluster, workers: int) -> tuple[float, int, int]:
    """Return the seconds that so many workers take, how many hosts were seen, and how many twice."""
    url = cluster.database()
    store = Store.open(url)
    run = store.runs.add("sweep", "sweep", channel="C1", thread="", user="U1")
    assert run
    store.sweeps.open(run.id, "2026-12-01", NAMES, daily=False)
    argv = [sys.executable, "-P", "-m", "tests.bench.workers_bench", url, str(run.id)]
    began = time.perf_counter()
    running = [subprocess.Popen(argv, cwd=ROOT) for _ in range(workers)]
    assert not any(one.wait() for one in running)
    took = time.perf_counter() - began
    takes = store.sweeps.takes(run.id)
    store.close()
    return took, len(takes), sum(count > 1 for count in takes.values())


def main() -> None:
    """Measure and print."""
    if not all(postgres.PROGRAMS.values()):
        print(postgres.MISSING)
        return
    print(f"a sweep of {HOSTS} hosts that take {SLOW_S:.0f} s each (aim: three in half the time)")
    cluster = Cluster()
    try:
        for workers in (1, 3):
            took, seen, twice = swept(cluster, workers)
            print(f"  {workers} workers   {took:6.1f} s   {seen} hosts seen, {twice} of them twice")
    finally:
        cluster.remove()


if __name__ == "__main__":
    if len(sys.argv) == 3:
        work(sys.argv[1], int(sys.argv[2]))
    else:
        main()
