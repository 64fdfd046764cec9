"""A sweep of 10, 100 and 1,000 hosts over SSH: seconds, memory, and what one host costs."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

from tests.lab import sshd
from tests.lab.fleet import REAL, Fleet

SIZES = (10, 100, 1000)
ROOT = Path(__file__).parents[2]


class Sized:
    """The most memory in MB that a process and all it began held at once, shared pages counted in parts."""

    def __init__(self, pid: int) -> None:
        self.most_mb = 0.0
        self._pid, self._over = pid, threading.Event()
        self._looking = threading.Thread(target=self._look, daemon=True)
        self._looking.start()

    def stop(self) -> None:
        self._over.set()
        self._looking.join()

    def _look(self) -> None:
        while not self._over.wait(0.5):
            self.most_mb = max(self.most_mb, sum(map(_pss_mb, _family(self._pid))))


def _family(pid: int) -> list[int]:
    """Return a process and all that descend from it."""
    try:
        texts = [path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/children")]
    except OSError:  # it ended meanwhile
        return []
    return [pid, *(one for text in texts for child in text.split() for one in _family(int(child)))]


def _pss_mb(pid: int) -> float:
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")) / 1024


def sweep(fleet: Fleet) -> tuple[dict[str, object], float, float, float]:
    """Sweep once; return what was told, the seconds, and the most memory in MB and seconds of CPU."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "bot", "health", "--json"],
        cwd=ROOT,
        env=os.environ | {"PERFSLEUTH_HOSTS": str(fleet.hosts)},
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        sized = Sized(running.pid)
        told, _ = running.communicate()
        sized.stop()
    took = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return json.loads(told), took, sized.most_mb, cpu


def main() -> None:
    """Measure and print."""
    if not sshd.SSHD:
        print(sshd.MISSING)
        return
    sizes = tuple(map(int, sys.argv[1:])) or SIZES
    print(
        "health over SSH, with slow, dead, silent and broken hosts (aim: 1,000 in 90 s, 500 MB);\n"
        f"one host in {REAL} runs all that it is sent, the others give back what such a one answered:\n"
        "a host's scripts run on the host's CPU, and here all share ours"
    )
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            fleet = Fleet(Path(folder), size)
            try:
                told, took, mb, cpu = sweep(fleet)
            finally:
                fleet.stop()
        states = Counter(one["state"] for one in told["attention"])
        print(
            f"  {size:5} hosts {took:7.1f} s   {1e3 * took / size:6.0f} ms a host, {1e3 * cpu / size:5.0f} ms of our CPU"
            f"   {mb:5.0f} MB   {told['fine']} fine, {dict(states)}, {fleet.real} for real"
        )


if __name__ == "__main__":
    main()
