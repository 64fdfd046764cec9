"""A process is made as another one was: user, place, limits, priority, processors, signals."""

from __future__ import annotations

import ctypes
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.change.engine import BOUNDS, SITE, StandIn, keepers, on_host, stand_in, until
from tests.change.processes import both_keepers
from tools.change import Edit
from tools.hosts.local import LocalHost

TWO = Edit(drop=("--max-running-requests",), add=("--max-running-requests", "2"))
ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root may give what is given here")


class Odd(StandIn):
    """Started with everything other than usual; `user` other than root where asked."""

    user: int | None = None

    def launch(self) -> None:
        def before() -> None:
            os.setsid()
            os.umask(0o027)
            resource.setrlimit(resource.RLIMIT_NOFILE, (777, 888))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            os.nice(3)
            ctypes.CDLL(None).syscall(238, 2, (ctypes.c_ulong * 16)(1), 1024)  # numactl --membind 0
            os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
            Path("/proc/self/oom_score_adj").write_text("200")
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            if self.user is not None:
                os.setgroups([self.user, 4])
                os.setgid(self.user)
                os.setuid(self.user)

        self.folder.chmod(0o777)
        self.log.touch()
        self.log.chmod(0o666)
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(self.argv, env=self.environ, cwd=self.folder, preexec_fn=before,
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)  # fmt: skip


SYSTEM = "/usr/bin/python3"


@pytest.fixture
def open_path() -> Iterator[Path]:
    """A folder that everybody may enter; those of pytest are closed again by every run that begins."""
    with tempfile.TemporaryDirectory(prefix="perfsleuth-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def odd(folder: Path, user: int | None) -> Odd:
    """Start one; of another user with a Python and a stand-in that everybody may read."""
    if user is not None and not Path(SYSTEM).exists():
        pytest.skip(f"{SYSTEM} is not installed, and another user may not read this one")
    folder.mkdir(exist_ok=True)
    shutil.copytree(SITE, folder / "site", ignore=shutil.ignore_patterns("__pycache__"))
    own: Odd = type("Own", (Odd,), {"user": user})(
        folder, "--max-running-requests", "64", python=SYSTEM if user else sys.executable,
        env={"PYTHONPATH": str(folder / "site")},
    )  # fmt: skip
    return own


def made_of(pid: int) -> dict[str, object]:
    status = dict(
        line.split(":", 1)
        for line in Path(f"/proc/{pid}/status").read_text().splitlines()
        if ":" in line
    )
    return {
        "limits": Path(f"/proc/{pid}/limits").read_text(), "nice": os.getpriority(os.PRIO_PROCESS, pid),
        "cpus": os.sched_getaffinity(pid), "oom": Path(f"/proc/{pid}/oom_score_adj").read_text(),
        "policy": os.sched_getscheduler(pid), "memory": [
            row.split()[1] for row in Path(f"/proc/{pid}/numa_maps").read_text().splitlines() if " stack " in row
        ],
        "cwd": str(Path(f"/proc/{pid}/cwd").readlink()),
        **{name: status[name].split() for name in ("Umask", "Uid", "Gid", "Groups", "SigIgn", "SigBlk", "CapEff", "CapBnd")},
    }  # fmt: skip


@ROOT
@pytest.mark.parametrize("user", [None, 65534])
def test_everything_that_a_process_is_given_is_given_again(
    open_path: Path, user: int | None
) -> None:
    server = odd(open_path, user)
    try:
        before, made = server.start(), made_of(server.pid)
        assert made["Umask"] == ["0027"]
        assert str(made["Groups"]) == str(["4", "65534"] if user else made["Groups"])
        keeper = server.keeper()
        status = keeper.begin(server.proposal(TWO), "e1", 1)
        assert status.state == "armed", status.trouble
        keeper.stop()
        until(keeper, "stopped")
        server.process.wait()
        keeper.start()
        until(keeper, "ready")
        assert made_of(server.pid) == made
        keeper.restore()
        until(keeper, "restored")
        assert made_of(server.pid) == made
        assert server.start() == before
    finally:
        server.clear()
        server.process.wait()


@ROOT
def test_a_login_without_rights_changes_its_own_server_and_no_other(open_path: Path) -> None:
    python = open_path / "python"
    python.write_text(
        f'#!/bin/sh\nexec setpriv --reuid 65534 --regid 65534 --clear-groups {SYSTEM} "$@"\n'
    )
    python.chmod(0o755)
    host = LocalHost(python=str(python))
    own = odd(open_path / "own", 65534)
    try:
        before, made = own.start(), made_of(own.pid)
        keeper = own.keeper()
        keeper.host = host
        status = keeper.begin(own.proposal(TWO), "e1", 1)
        assert status.state == "armed", status.trouble
        assert {Path(f"/proc/{pid}").stat().st_uid for pid in both_keepers(own.port)} == {65534}
        keeper.stop()
        until(keeper, "stopped")
        own.process.wait()
        keeper.restore()
        until(keeper, "restored")
        assert own.start() == before
        now = made_of(own.pid)
        assert {name for name in made if now[name] != made[name]} <= {"Groups"}, (
            "the login has no more groups than that"
        )
    finally:
        own.clear()
        own.process.wait()
    with stand_in(open_path / "other", "--max-running-requests", "64") as other:
        keeper = other.keeper()
        keeper.host = host
        status = keeper.begin(other.proposal(TWO), "e1", 1)
        assert status.state == "withdrawn"
        assert status.trouble
        assert "cannot be read: Permission denied" in status.trouble.sentence
        assert other.serves()


def test_a_virtual_environment_is_found_again_by_the_name_that_was_called(tmp_path: Path) -> None:
    part = on_host("identity", "keeper_start")
    link = tmp_path / "bin" / "python"
    link.parent.mkdir()
    link.symlink_to(os.path.realpath(sys.executable))
    run = subprocess.Popen(["python", "-c", "import time; print('up', flush=True); time.sleep(60)"], executable=str(link), cwd=tmp_path,
                           env={"PATH": f"/nowhere:{link.parent}"}, stdout=subprocess.PIPE)  # fmt: skip
    try:
        assert run.stdout
        run.stdout.readline()
        start = part["Start"](run.pid)
        assert start.program() == os.fsencode(link)
        start.environ = [b"PATH=/nowhere"]
        assert start.program() == os.fsencode(os.path.realpath(sys.executable))
    finally:
        run.kill()
        run.wait()
        assert run.stdout
        run.stdout.close()


def test_a_folder_that_is_gone_is_told_before(tmp_path: Path) -> None:
    with stand_in(tmp_path / "x", "--max-running-requests", "64") as server:
        proposal = None
        server.log.rename(tmp_path / "log")
        for path in (tmp_path / "x").iterdir():
            path.unlink()
        (tmp_path / "x").rmdir()
        proposal = server.proposal(TWO)
        status = server.keeper().begin(proposal, "e1", 1)
        server.folder.mkdir()
        assert status.state == "withdrawn"
        assert status.trouble
        assert "Its working directory was deleted since it was started" in status.trouble.sentence


def test_it_runs_on_the_oldest_python_that_hosts_have(tmp_path: Path) -> None:
    pyenv = sorted(Path.home().glob(".pyenv/versions/3.8*/bin/python3.8"))
    old = next(iter(pyenv), None) or shutil.which("python3.8")
    if old is None:
        pytest.skip("there is no Python 3.8 here")
    with stand_in(tmp_path, "--max-running-requests", "64") as server:
        before = server.start()
        keeper = server.keeper()
        keeper.host = LocalHost(python=str(old))
        assert keeper.begin(server.proposal(TWO), "e1", 1).state == "armed"
        keeper.stop()
        until(keeper, "stopped")
        os.kill(keepers(server.port)[0], signal.SIGKILL)
        keeper.start()
        until(keeper, "ready")
        assert keeper.log(3)
        keeper.restore()
        until(keeper, "restored")
        assert server.start() == before


def test_a_new_server_is_not_nicer_than_the_old_one_was(tmp_path: Path) -> None:
    """What only asks runs at a lower priority, and a user without rights could never raise it again."""
    with stand_in(tmp_path, "--max-running-requests", "64") as server:
        nice = os.getpriority(os.PRIO_PROCESS, server.pid)
        keeper = server.keeper()
        keeper.begin(server.proposal(TWO), "e1", 1)
        assert {os.getpriority(os.PRIO_PROCESS, pid) for pid in both_keepers(server.port)} == {
            os.getpriority(os.PRIO_PROCESS, 0)
        }
        keeper.stop()
        until(keeper, "stopped")
        keeper.start()
        until(keeper, "ready")
        assert os.getpriority(os.PRIO_PROCESS, server.pid) == nice


def test_bounds_are_those_of_the_proposal(tmp_path: Path) -> None:
    with stand_in(tmp_path, "--max-running-requests", "64") as server:
        keeper = server.keeper()
        status = keeper.begin(
            server.proposal(TWO, bounds=BOUNDS.model_copy(update={"silence_s": 1234.0})), "e1", 1
        )
        assert status.silence_left_s
        assert 1200 < status.silence_left_s <= 1234
        json.dumps(status.model_dump(mode="json"))


@pytest.mark.parametrize(
    ("user", "cgroup", "said", "ends"),
    [
        (1000, "0::/user.slice/user-1000.slice/session-4.scope\n", "b true\n", True),
        (1000, "0::/user.slice/user-1000.slice/session-4.scope\n", "b false\n", False),
        (1000, "0::/user.slice/user-1000.slice/session-4.scope\n", None, False),
        (1000, "0::/user.slice/user-1000.slice/user@1000.service/app.slice/x.service\n", "b true\n", False),
        (0, "0::/user.slice/user-0.slice/session-4.scope\n", "b true\n", False),
    ],
)  # fmt: skip
def test_where_a_new_server_would_end_with_the_login_it_is_said_before(
    monkeypatch: pytest.MonkeyPatch, user: int, cgroup: str, said: str | None, ends: bool
) -> None:
    host = on_host("keeper_login")
    host |= {"_of": lambda _pid, _name: cgroup, "shown_by": lambda _argv: said}
    monkeypatch.setattr(os, "geteuid", lambda: user)
    assert ("KillUserProcesses" in host["ends_with_login"]()) is ends
