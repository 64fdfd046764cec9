"""Slow: run by `make soak-long`. Sweeps too large for one process, shared by three that are killed over them."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import psycopg
import pytest

from bot.health.order import Order
from bot.health.sweep import AT_ONCE
from bot.store import Run, Store
from bot.work.mornings import Mornings
from tests.lab.postgres import Cluster
from tests.soak.sweeps_process import HOSTS

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
PROCESSES, SWEEPS, KILLS = 3, 2, 3  # kills over each sweep
WITHIN_S = 300.0


class Process:
    """Started again under its name whenever it was killed."""

    def __init__(self, url: str, name: str) -> None:
        self.name = name
        self._command = [sys.executable, "-P", "-m", "tests.soak.sweeps_process", url, name]
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            self._command, cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, stderr=subprocess.DEVNULL
        )

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def held_by(url: str, name: str) -> int:
    """Count the hosts that were in the hands of who was killed."""
    query = "SELECT count(*) FROM sweep_hosts WHERE state = 'looking' AND executor = %s"
    with psycopg.connect(url) as connection:
        (count,) = connection.execute(query, [name]).fetchone() or (0,)
    return int(count)


def ordered(store: Store, number: int) -> Run:
    order = Order(date=f"2026-11-{number:02d}", hosts=HOSTS, daily=True)
    message = order.model_dump_json()
    where = {"channel": "CGPU", "thread": "", "user": ""}
    run = store.runs.add(f"sweep-{number}", "sweep", **where, message=message)
    assert run is not None
    return run


def test_a_sweep_that_three_share_and_are_killed_over_looks_at_each_host_once_and_is_told_once(
    cluster: Cluster,
) -> None:
    assert len(HOSTS) > AT_ONCE
    chance, url = random.Random(9), cluster.database()
    store = Store.open(url, executor="the test")
    alive = [Process(url, f"replica-{n}") for n in range(PROCESSES)]
    kills: Counter[int] = Counter()
    in_hands: Counter[int] = Counter()
    runs: list[Run] = []
    try:
        for number in range(1, SWEEPS + 1):
            run = ordered(store, number)
            runs.append(run)
            end = time.monotonic() + WITHIN_S
            kill_at = time.monotonic() + chance.uniform(0.0, 2.0)
            while not ((now := store.runs.get(run.id)) and now.ended):
                assert time.monotonic() < end, "the sweep came to no end"
                at_it = any(store.sweeps.takes(run.id).values())
                if at_it and time.monotonic() > kill_at and kills[run.id] < KILLS:
                    victim = chance.choice(alive)
                    victim.kill()
                    in_hands[run.id] += held_by(url, victim.name)
                    victim.start()
                    kills[run.id] += 1
                    kill_at = time.monotonic() + chance.uniform(0.5, 10.0)
                time.sleep(0.05)
        time.sleep(1.0)  # what must not come has had its time
    finally:
        for process in alive:
            process.kill()
    told = Counter(one.letter.key for one in store.letters.due(10_000))
    assert set(told.values()) == {1}
    assert kills.total() >= SWEEPS
    for run in runs:
        assert told[f"run:{run.id}:summary"] == 1
        takes = store.sweeps.takes(run.id)
        assert len(takes) == len(HOSTS)
        assert sum(count - 1 for count in takes.values()) <= in_hands[run.id]
        summary, _ = Mornings(store).summary(run.id)
        assert len(summary.items) == len(HOSTS)
    store.close()
