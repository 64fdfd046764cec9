"""`perfsleuth tune` at a terminal, on a stand-in that is twice as slow as it could be: found, approved, kept, told."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.change.engine import StandIn, keepers, stand_in
from tests.lab.sshd import wait_for

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
SLOW = "--disable-cuda-graph"
LIMIT_S = 420.0


def at_a_terminal(server: StandIn, folder: Path, typed: str) -> str:
    """Run it on a terminal, type the host's name when it is asked for, and return all that was shown."""
    ours, theirs = pty.openpty()
    argv = [
        sys.executable,
        "-P",
        "-m",
        "bot",
        "tune",
        f"local:{server.port}",
        "--goal",
        "decode",
        "--budget",
        "20m",
    ]
    told = {"XDG_STATE_HOME": str(folder), "COLUMNS": "160", "TERM": "xterm", "NO_COLOR": "1"}
    one = subprocess.Popen(
        argv, stdin=theirs, stdout=theirs, stderr=theirs, cwd=ROOT, env=os.environ | told
    )
    os.close(theirs)
    said, asked, ends = "", False, time.monotonic() + LIMIT_S
    while one.poll() is None and time.monotonic() < ends:
        if not select.select([ours], [], [], 0.5)[0]:
            continue
        try:
            said += os.read(ours, 65536).decode("utf-8", "replace")
        except OSError:
            break
        if not asked and "to carry out this whole plan:" in said:
            os.write(ours, f"{typed}\n".encode())
            asked = True
    one.wait(60)
    os.close(ours)
    return said


def test_what_is_found_is_tried_measured_and_kept_under_one_approval(tmp_path: Path) -> None:
    with stand_in(tmp_path / "server", SLOW, "--enable-metrics") as server:
        said = at_a_terminal(server, tmp_path, "local")
        (tmp_path / "said.txt").write_text(said)
        assert "without --disable-cuda-graph: kept" in said, said
        assert "1 of 1 change kept. Nothing that is predicted to help is left." in said
        assert SLOW not in [word.decode() for word in server.start()[0]]
        assert server.serves()
        wait_for(lambda: not keepers(server.port), "the keeper does not leave")


def test_another_name_approves_nothing(tmp_path: Path) -> None:
    with stand_in(tmp_path / "server", SLOW, "--enable-metrics") as server:
        first = server.start()
        said = at_a_terminal(server, tmp_path, "locale")
        assert "Not approved: nothing was done." in said, said
        assert server.start() == first
