"""Many hosts are judged in processes of their own, as one would be judged here, whatever becomes of those."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from bot.demo import shipped_path
from bot.health.judges import MOST, Judges
from bot.health.look import look_at
from bot.health.looked import Looked
from bot.health.sweep import sweep
from bot.reach import reach
from bot.settings import HostSettings, Settings
from tools.host import Output

ROOT = Path(__file__).parents[2]
NAMES = tuple(f"gpu{n}" for n in range(7))
KNOWN = Settings(hosts={name: HostSettings(case=shipped_path()) for name in NAMES})


def answered(name: str) -> tuple[float, Sequence[Output], Looked]:
    """Return when a host was asked, what it answered, and what is made of that here."""
    kept: list[tuple[float, Sequence[Output]]] = []

    def keep(name: str, at: float, outputs: Sequence[Output], settings: Settings) -> Looked:
        kept.append((at, outputs))
        return Looked.unreachable(name, at, "not judged yet")

    look_at(name, reach(name, KNOWN), KNOWN, keep)
    seen = look_at(name, reach(name, KNOWN), KNOWN)
    return *kept[0], seen.model_copy(update={"at": kept[0][0]})


def begun() -> list[Any]:
    return [one for one in multiprocessing.active_children() if one.name == "judge"]


def test_a_process_judges_as_we_do() -> None:
    at, outputs, here = answered("gpu0")
    assert here.found
    with Judges(KNOWN) as judges:
        judges.many()
        assert judges("gpu0", at, outputs, KNOWN) == here
    assert not begun()


def test_few_hosts_begin_no_process_and_more_than_there_is_room_for_do() -> None:
    most: list[int] = []

    def counted(hosts: int, at_once: int) -> set[str]:
        looks = sweep(NAMES[:hosts], KNOWN, reach, at_once=at_once)
        names = set()
        for one in looks:
            names.add(one.host)
            most.append(len(begun()))
        return names

    assert counted(3, 4) == set(NAMES[:3])
    assert set(most) == {0}
    assert counted(7, 2) == set(NAMES)
    assert max(most) == min(os.cpu_count() or 1, MOST)
    assert not begun()


def test_what_dead_processes_had_is_judged_here() -> None:
    at, outputs, here = answered("gpu0")
    with Judges(KNOWN) as judges:
        judges.many()
        assert judges("gpu0", at, outputs, KNOWN) == here
        for one in begun():
            one.kill()
            one.join()
        for _ in range(2 * MOST):
            assert judges("gpu0", at, outputs, KNOWN) == here


def test_others_think_while_a_process_judges() -> None:
    at, outputs, here = answered("gpu0")
    aside: list[str] = []

    @contextmanager
    def away() -> Iterator[None]:
        aside.append("gone")
        yield
        aside.append("back")

    with Judges(KNOWN, away) as judges:
        assert judges("gpu0", at, outputs, KNOWN) == here
        assert aside == []
        judges.many()
        assert judges("gpu0", at, outputs, KNOWN) == here
        assert aside == ["gone", "back"]


def test_more_threads_than_processes_each_get_their_own_answer() -> None:
    at, outputs, here = answered("gpu0")
    told: dict[str, Looked] = {}
    with Judges(KNOWN) as judges:
        judges.many()

        def ask(name: str) -> None:
            told[name] = judges(name, at, outputs, KNOWN)

        threads = [threading.Thread(target=ask, args=(name,)) for name in NAMES]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    assert {name: one.host for name, one in told.items()} == {name: name for name in NAMES}
    assert all(one.found == here.found for one in told.values())


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_judges_end_with_the_process_that_began_them(end: signal.Signals) -> None:
    begins = (
        "import time, multiprocessing\n"
        "from bot.health.judges import Judges\n"
        "from bot.settings import Settings\n"
        "with Judges(Settings()) as judges:\n"
        "    judges.many()\n"
        "    print(*[one.pid for one in multiprocessing.active_children()], flush=True)\n"
        "    time.sleep(600)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-P", "-c", begins], cwd=ROOT, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as running:  # fmt: skip
        assert running.stdout
        pids = [int(pid) for pid in running.stdout.readline().split()]
        assert pids
        running.send_signal(end)
        running.wait()
    until = time.monotonic() + 60
    while any(map(_lives, pids)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(map(_lives, pids))


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
