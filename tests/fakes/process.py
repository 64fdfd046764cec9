"""The bot as a process of its own, against a fake Slack: it may be ended, killed and started again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Self

from tests.fakes.slack import FakeSlack

ROOT = Path(__file__).parents[2]
START_S, END_S = 60.0, 60.0


class BotProcess:
    """`perfsleuth bot` with a database and hosts in `folder`; its log is `folder/bot.log`."""

    def __init__(
        self,
        slack: FakeSlack,
        folder: Path,
        hosts: str = '[hosts.CT129]\ncase = "{root}/bot/demo/ct129.json"\n',
        *arguments: str,
        module: str = "bot",
        **environment: str,
    ) -> None:
        self.slack = slack
        self.log_file = folder / "bot.log"
        self.database = folder / "bot.sqlite"
        (folder / "hosts.toml").write_text(hosts.replace("{root}", str(ROOT)), encoding="utf-8")
        self._command = [sys.executable, "-P", "-m", module, "bot", *arguments]
        kept = {name: value for name, value in os.environ.items() if not name.startswith("SLACK_")}
        self._environment = {
            **kept,
            **slack.environment(),
            "PERFSLEUTH_HOSTS": str(folder / "hosts.toml"),
            "PERFSLEUTH_DATABASE_URL": f"sqlite:///{self.database}",
            "PYTHONUNBUFFERED": "1",
            **environment,
        }
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, *, wait: bool = True) -> Self:
        """Start it, and wait for a socket of its own: that of one killed just now may still seem to stand."""
        before = self.slack.sockets.made
        with self.log_file.open("ab") as log:
            self.process = subprocess.Popen(
                self._command, cwd=ROOT, env=self._environment, stdout=log, stderr=log
            )
        if wait:
            self.slack.until(lambda: self.slack.sockets.made > before, START_S)
            self.slack.connected(START_S)
        return self

    @property
    def log(self) -> str:
        """All that it logged."""
        return self.log_file.read_text(encoding="utf-8")

    def until_logged(self, text: str, within_s: float = START_S) -> None:
        """Wait for a line of the log."""
        self.slack.until(lambda: text in self.log, within_s)

    def end(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and wait for its end."""
        assert self.process
        self.process.send_signal(number)
        return self.process.wait(END_S)

    def peak_mb(self) -> float:
        """The most memory that it has held, as the kernel counts it."""
        assert self.process
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024

    def kill(self) -> None:
        """Kill it, without a chance to say anything."""
        assert self.process
        self.process.kill()
        self.process.wait(END_S)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        if self.process and self.process.poll() is None:
            self.kill()
