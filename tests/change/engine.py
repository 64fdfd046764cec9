"""A stand-in server started as people start theirs, and what is asked of it."""

from __future__ import annotations

import http.client
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.change.processes import end_keepers, keepers, parent
from tests.lab.sshd import alive, answers, descendants, free_port, of_processes, wait_for
from tools.change import Bounds, Change, Edit, Identity, Proposal
from tools.change.edits import edited
from tools.change.keeper import Keeper
from tools.change.status import Status
from tools.hosts.local import LocalHost

__all__ = ["BOUNDS", "KEY", "SECRET", "SITE", "StandIn", "keepers", "on_host", "stand_in", "until"]
SITE = Path(__file__).parent / "stand_in"
REMOTE = Path(__file__).parents[2] / "tools/remote"
KEY = "stand-in-key-that-nobody-may-see"
SECRET = "hf_standInTokenThatNobodyMaySee"
BOUNDS = Bounds(drain_s=5, stop_s=10, ready_s=20, silence_s=60, whole_s=300)


def on_host(*names: str) -> dict[str, Any]:
    """Return what scripts of tools/remote define, for tests of their parts."""
    found: dict[str, Any] = {"__name__": "part"}
    for name in names:
        exec(compile((REMOTE / f"{name}.py").read_text(), name, "exec"), found)
    return found


IDENTITY = on_host("identity")


class StandIn:
    """One server on a port of its own; `how`: nohup, script, tmux, tmux-shell, screen, screen-shell."""

    def __init__(
        self,
        folder: Path,
        *flags: str,
        how: str = "nohup",
        key: str = KEY,
        env: dict[str, str] | None = None,
        python: str = sys.executable,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.port, self.key, self.how = folder, free_port(), key, how
        self.log = folder / "serve.log"
        self.flags = ("--port", str(self.port), *flags, *(("--api-key", key) if key else ()))
        self.argv = [python, "-m", "sglang.launch_server", *self.flags]
        self.environ = {
            "PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(SITE), "HF_TOKEN": SECRET,
            "NCCL_DEBUG": "WARN", "TERM": "xterm", "LANG": "C.UTF-8",
        } | (env or {})  # fmt: skip
        self.session = f"psl{self.port}"
        self.launch()
        wait_for(lambda: answers(self.port), f"the stand-in does not answer: {self.text()}")

    def launch(self) -> None:
        line = shlex.join(self.argv)
        run = f"nohup {line} >> {self.log} 2>&1 < /dev/null &"
        scripts = {
            "nohup": run,
            "script": f"{line} >> {self.log} 2>&1 < /dev/null\necho script over >> {self.log}\n",
        }
        argv = {
            "nohup": ["sh", "-c", run],
            # In the background, so that it has no shell above it that somebody runs the tests in.
            "script": ["sh", "-c", shlex.join(["bash", str(self.folder / "run.sh")]) + " &"],
            "tmux": [
                "tmux",
                "-S",
                str(self.folder / "tmux"),
                "new-session",
                "-d",
                "-s",
                self.session,
                *self.argv,
            ],
            "tmux-shell": [
                "tmux",
                "-S",
                str(self.folder / "tmux"),
                "new-session",
                "-d",
                "-s",
                self.session,
                "sh",
            ],
            "screen": ["screen", "-dmS", self.session, *self.argv],
            "screen-shell": ["screen", "-dmS", self.session, "sh"],
        }[self.how]
        (self.folder / "run.sh").write_bytes(os.fsencode(scripts["script"]))
        subprocess.run(
            argv, cwd=self.folder, env=self.environ, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True, check=True,
        )  # fmt: skip
        if self.how == "tmux-shell":
            self.tmux("send-keys", "-t", self.session, line, "Enter")
        if self.how == "screen-shell":
            wait_for(lambda: self.session in self.screen("-ls"), "screen does not come up")
            self.screen("-X", "stuff", line + "\n")

    def tmux(self, *words: str) -> str:
        argv = ["tmux", "-S", str(self.folder / "tmux"), *words]
        return subprocess.run(
            argv, capture_output=True, text=True, check=False, env=self.environ
        ).stdout

    def screen(self, *words: str) -> str:
        argv = ["screen", "-S", self.session, *words]
        return subprocess.run(
            argv, capture_output=True, text=True, check=False, env=self.environ
        ).stdout

    def text(self) -> str:
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def pids(self) -> list[int]:
        """Return every main process that serves, or means to serve, on the port."""
        found = []
        for path in of_processes("cmdline"):
            try:
                words = path.read_bytes().split(b"\0")
            except OSError:
                continue
            pid = int(path.parent.name)
            if (
                words[1:3] == [b"-m", b"sglang.launch_server"]
                and str(self.port).encode() in words
                and alive(pid)
            ):
                found.append(pid)
        return sorted(pid for pid in found if parent(pid) not in found)

    @property
    def pid(self) -> int:
        (pid,) = self.pids()
        return pid

    def start(self) -> tuple[list[bytes], list[bytes], bytes, bytes]:
        """Return argv, environ, cwd and exe of the one that runs, byte for byte."""
        found: tuple[list[bytes], list[bytes], bytes, bytes] = IDENTITY["start_of"](self.pid)
        return found

    def ask(self, path: str, body: dict[str, Any] | None = None) -> tuple[int, str]:
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            headers = {"Content-Type": "application/json"}
            headers |= {"Authorization": f"Bearer {self.key}"} if self.key else {}
            line.request(
                "GET" if body is None else "POST",
                path,
                None if body is None else json.dumps(body),
                headers,
            )
            answer = line.getresponse()
            return answer.status, answer.read().decode()
        finally:
            line.close()

    def info(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.ask("/server_info")[1])
        return found

    def serves(self) -> bool:
        """Say whether one token is answered."""
        try:
            body = {"text": "1", "sampling_params": {"max_new_tokens": 1}}
            return self.ask("/generate", body)[0] == 200
        except OSError:
            return False

    def proposal(
        self, *edits: Edit, bounds: Bounds = BOUNDS, env: dict[str, str] | None = None, unset_env: tuple[str, ...] = (),
        **more: Any,
    ) -> Proposal:  # fmt: skip
        """Return what a person would have approved: these edits of the server as it runs now."""
        argv = [word.decode("utf-8", "replace") for word in self.start()[0]]
        shown = tuple("<dropped>" if word == self.key and self.key else word for word in argv)
        change = Change(set={"max_running_requests": 2}, env=env or {}, unset_env=unset_env)
        told: dict[str, Any] = {
            "host": "here", "port": self.port, "engine": "sglang", "version": "0.5.23", "model": "stand-in",
            "change": change, "identity": Identity(**IDENTITY["identity_of"](self.pid)), "launcher": "plain",
            "old": shown, "new": edited(shown, edits), "edits": edits, "bounds": bounds,
        }  # fmt: skip
        return Proposal(**(told | more))

    def keeper(self, name: str = "e1", fence: int = 1) -> Keeper:
        return Keeper(LocalHost(), self.port, name=name, fence=fence)

    def clear(self) -> None:
        """End everything of this port: servers, keepers, terminals."""
        end_keepers(self.port)
        if self.how.startswith("tmux"):
            self.tmux("kill-server")
        if self.how.startswith("screen"):
            self.screen("-X", "quit")
        wait_for(lambda: not self._ended(), "a server does not end")

    def _ended(self) -> list[int]:
        pids = [*keepers(self.port), *self.pids()]
        for pid in [one for main in pids for one in (*descendants(main), main)]:
            if alive(pid):
                with suppress(ProcessLookupError):  # it ended by itself just now
                    os.kill(pid, signal.SIGKILL)
        return pids


def until(keeper: Keeper, *states: str, limit_s: float = 60.0) -> Status:
    """Ask until one of these states is reached."""
    over = time.monotonic() + limit_s
    while True:
        status = keeper.status()
        assert status is not None
        if status.state in states:
            return status
        assert time.monotonic() < over, status
        time.sleep(0.05)


@contextmanager
def stand_in(folder: Path, *flags: str, **how: Any) -> Iterator[StandIn]:
    if (needs := str(how.get("how", "")).partition("-")[0]) in (
        "tmux",
        "screen",
    ) and not shutil.which(needs):
        import pytest

        pytest.skip(f"{needs} is not installed")
    server = StandIn(folder, *flags, **how)
    try:
        yield server
    finally:
        server.clear()
