"""The bot as the process that people start, against the fake Slack; it can be killed and started again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.fakes import FakeSlack

ROOT = Path(__file__).parents[2]


class BotProcess:
    """`perfsleuth bot` with a store and a hosts.toml in `folder`."""

    def __init__(self, slack: FakeSlack, folder: Path, hosts_toml: str) -> None:
        self.slack, self.folder = slack, folder
        (folder / "hosts.toml").write_text(hosts_toml)
        self.log = folder / "bot.log"
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("SLACK_")},
            **slack.environment(),
            "PERFSLEUTH_HOSTS": str(folder / "hosts.toml"),
            "PERFSLEUTH_DATABASE_URL": f"sqlite:///{folder / 'bot.sqlite'}",
            "HOME": str(folder),
        }
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "bot", "bot"],
                cwd=ROOT,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def kill(self) -> None:
        """End it as a power cut would."""
        assert self.process
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        """Ask it to end, and return its exit status."""
        assert self.process
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)

    def said(self) -> str:
        return self.log.read_text(errors="replace")

    def peak_mb(self) -> float:
        """The most memory that it has held, as the kernel counts it."""
        assert self.process
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
