"""`perfsleuth try` on a real process that serves like SGLang: what it shows, who approves, and how it ends."""

from __future__ import annotations

import json
import os
import pty
import pwd
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.store import Store
from tests.change.engine import StandIn, stand_in
from tests.lab.sshd import wait_for

ROOT = Path(__file__).parents[2]
ME = pwd.getpwuid(os.getuid()).pw_name


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandIn]:
    with stand_in(tmp_path_factory.mktemp("served"), "--max-running-requests", "2") as server:
        yield server


def command(server: StandIn, *words: str) -> list[str]:
    return [sys.executable, "-P", "-m", "bot", "try", f"localhost:{server.port}", *words]


def environment(home: Path, **more: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(ROOT), "TERM": "xterm",
            "XDG_STATE_HOME": str(home / "state"), "COLUMNS": "110", **more}  # fmt: skip


def run(server: StandIn, home: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(server, *words), capture_output=True, text=True, timeout=300, check=False, cwd=ROOT,
        stdin=subprocess.DEVNULL, env=environment(home, **more),
    )  # fmt: skip


class Typed:
    """The command in a terminal, at which somebody types."""

    def __init__(self, server: StandIn, home: Path, *words: str) -> None:
        self.said = ""
        self._pid, self._terminal = pty.fork()
        if self._pid == 0:
            os.chdir(ROOT)
            argv = command(server, *words)
            os.execve(argv[0], argv, environment(home))

    def waits_for(self, word: str, within_s: float = 240.0) -> None:
        over = time.monotonic() + within_s
        while word not in self.said:
            assert time.monotonic() < over, self.said[-4000:]
            assert self._read(), self.said[-4000:]

    def types(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    def ends(self) -> int:
        while self._read():
            continue
        status = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        os.close(self._terminal)
        return status

    def _read(self) -> bool:
        """Take what was written; False: it has ended."""
        if not select.select([self._terminal], [], [], 0.5)[0]:
            return True
        try:
            more = os.read(self._terminal, 65536).decode(errors="replace")
        except OSError:
            return False
        self.said += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", more)
        return bool(more)


def test_the_proposal_is_printed_as_an_object_and_nothing_is_done(
    server: StandIn, tmp_path: Path
) -> None:
    pid = server.pid
    done = run(server, tmp_path, "--set", "max-running-requests=4", "--goal", "ttft", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    proposal = told["proposal"]
    assert (proposal["host"], proposal["port"], proposal["identity"]["pid"]) == (
        "localhost",
        server.port,
        pid,
    )
    assert proposal["change"]["set"] == {"max_running_requests": 4}
    assert proposal["new"][-2:] == ["--max-running-requests", "4"]
    assert proposal["keep"]["goal"] == "ttft"
    assert re.fullmatch("[0-9a-f]{64}", told["digest"])
    assert server.key not in done.stdout
    assert server.pid == pid


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "name a change: --set NAME=VALUE"),
        (("--set", "max_running_requests"), "give it as NAME=VALUE"),
        (("--set", "max_running_reqests=4"), "Did you mean --max-running-requests?"),
        (("--set", "max_running_requests=2"), "It runs like that already"),
        (("--unset", "tp-size"), "--tp-size is not on its command line"),
        (
            ("--set", "api_key=hunter2"),
            "That may be a secret, which I neither show nor keep; change it by hand: --api-key.",
        ),
        (("--env", "LD_PRELOAD=/tmp/x.so"), "LD_PRELOAD is no variable that I may set"),
        (("--env", "NCCL_ALGO"), "give it as NAME=VALUE"),
        (("--set", "tp_size=2", "--goal", "beauty"), "--goal beauty is none of decode, prefill"),
        (("--set", "max_running_requests=4", "--port", "1"), "are two ports; give one"),
    ],
)
def test_what_cannot_be_tried_is_one_line_and_status_2(
    server: StandIn, tmp_path: Path, words: tuple[str, ...], says: str
) -> None:
    done = run(server, tmp_path, *words)
    assert done.returncode == 2
    assert says in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_without_a_terminal_nobody_approves(server: StandIn, tmp_path: Path) -> None:
    pid = server.pid
    done = run(server, tmp_path, "--set", "max_running_requests=4")
    assert done.returncode == 2
    assert "run this in a terminal. Nothing was done." in done.stderr
    assert "+ --max-running-requests 4" in done.stdout
    assert server.pid == pid
    assert not (tmp_path / "state").exists()


def test_who_is_not_named_to_approve_may_not_from_a_terminal_either(
    server: StandIn, tmp_path: Path
) -> None:
    hosts = tmp_path / "hosts.toml"
    hosts.write_text('[access]\napprove = ["U0SAM00001", "local:nobody-else"]\n')
    terminal = Typed(server, tmp_path, "--set", "max_running_requests=4")
    assert terminal  # without a file everybody who can log in may
    terminal.waits_for("Type localhost to restart")
    terminal.types("no\n")
    assert terminal.ends() == 0
    assert "Not approved: nothing was done." in terminal.said
    done = run(server, tmp_path, "--set", "max_running_requests=4", PERFSLEUTH_HOSTS=str(hosts))
    assert done.returncode == 2
    assert f"local:{ME} is not among them. Nothing was done." in done.stderr


def test_an_approved_change_begins_and_ctrl_c_takes_it_back(
    server: StandIn, tmp_path: Path
) -> None:
    before, pid = server.start(), server.pid
    terminal = Typed(server, tmp_path, "--set", "max_running_requests=4")
    terminal.waits_for("Type localhost to restart")
    terminal.types("localhost\n")
    terminal.waits_for("Measuring the server as it is")
    terminal.types("\x03")
    assert terminal.ends() == 0, terminal.said[-3000:]
    assert "Taking it back." in terminal.said
    assert "Nothing was changed on localhost" in terminal.said
    wait_for(server.serves, "the server does not answer")
    assert (server.start(), server.pid) == (before, pid)
    store = Store.open(f"sqlite:///{tmp_path}/state/perfsleuth/try.sqlite")
    (act,) = [one for one in store.audit.newest() if one.act == "approve"]
    assert (act.user, act.host, act.outcome[:8]) == (ME, "localhost", "accepted")
    (record,) = store.experiments.results("localhost", None, 9)
    assert (record.phase, record.stop_by) == ("withdrawn", ME)
    store.close()
