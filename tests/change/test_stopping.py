"""What is ended when a server is stopped: all that is its own, and nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.change.engine import BOUNDS, on_host, stand_in, until
from tests.lab.sshd import alive, descendants
from tools.change import Edit
from tools.change.keeper import Keeper


def test_a_server_that_ignores_term_is_killed_with_all_that_is_below_it(tmp_path: Path) -> None:
    mood = '{"on_term": "ignore", "orphans": true}'
    with stand_in(tmp_path, "--tp", "4", env={"STAND_IN": mood}) as one:
        bystander = subprocess.Popen(["sleep", "600"])
        below = descendants(one.pid)
        assert len(below) == 5
        keeper = one.keeper()
        keeper.begin(
            one.proposal(
                Edit(add=("--max-running-requests", "2")),
                bounds=BOUNDS.model_copy(update={"stop_s": 0.5}),
            ),
            "e1",
            1,
        )
        keeper.stop()
        until(keeper, "stopped")
        assert not [pid for pid in below if alive(pid)]
        assert bystander.poll() is None
        bystander.kill()
        bystander.wait()
        keeper.start()
        until(keeper, "ready")
        os.kill(one.pid, signal.SIGKILL)  # whatever ended it, its children are found at restoring
        keeper.restore()
        until(keeper, "restored")


def test_what_a_main_process_leaves_behind_is_ended_too(tmp_path: Path) -> None:
    with stand_in(tmp_path, "--tp", "2", env={"STAND_IN": '{"orphans": true}'}) as one:
        below = descendants(one.pid)
        keeper: Keeper = one.keeper()
        keeper.begin(one.proposal(Edit(add=("--max-running-requests", "2"))), "e1", 1)
        keeper.stop()
        until(keeper, "stopped")
        assert len(below) == 3
        assert not [pid for pid in below if alive(pid)]
        keeper.restore()
        until(keeper, "restored")


class Dying:
    """A process as /proc shows it, which nothing ends: it hangs in the kernel."""

    def __init__(self) -> None:
        names = ("identity", "argv_edit", "keeper_start", "keeper_launcher")
        self.part = on_host(*names)
        self.part["GONE_S"] = 0.2
        self.sent: list[int] = []
        self.part["send"] = lambda pid, ticks, number: self.sent.append(int(number))


def test_a_process_that_hangs_in_the_kernel_is_given_up_and_said(tmp_path: Path) -> None:
    dying = Dying()
    sleeper = subprocess.Popen(["sleep", "60"])
    try:
        ticks = dying.part["started_of"](sleeper.pid)
        with pytest.raises(
            dying.part["Stuck"],
            match=f"process {sleeper.pid} does not end, not even when it is killed",
        ):
            dying.part["end_tree"](sleeper.pid, ticks, 0.1, lambda _: None)
        assert dying.sent == [signal.SIGTERM, signal.SIGKILL]
    finally:
        sleeper.kill()
        sleeper.wait()
