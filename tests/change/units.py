"""A stand-in server that a unit of systemd holds up, under a systemctl that behaves as the real one does."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from tests.change.engine import SECRET, SITE, StandIn

SYSTEMCTL = SITE / "systemctl.py"


def may_have_groups() -> str:
    """Say why no process can be put into a unit's control group here; empty where it can."""
    for base in map(Path, ("/sys/fs/cgroup/systemd", "/sys/fs/cgroup/unified", "/sys/fs/cgroup")):
        if base.is_dir():
            return (
                ""
                if os.access(base, os.W_OK) and os.getuid() == 0
                else f"{base} is not writable: run as root"
            )
    return "there are no control groups here"


def forget_group(pattern: str) -> None:
    """Remove control groups that a stand-in made, those that no process is left in."""
    for base in map(Path, ("/sys/fs/cgroup/systemd", "/sys/fs/cgroup/unified", "/sys/fs/cgroup")):
        for group in base.glob(pattern):
            with suppress(OSError):
                group.rmdir()


class Unit(StandIn):
    """A user's unit `sglang-PORT.service`, its file in the folder of the vendor."""

    def __init__(
        self, folder: Path, *flags: str, line: str | None = None, more: str = "", start: bool = True
    ) -> None:
        self.line, self.more = line, more
        self.root = folder
        self.paths = {
            "STAND_IN_SYSTEMD": str(folder / "systemd"),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "XDG_RUNTIME_DIR": str(folder / "runtime"),
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        }
        for name in ("systemd/vendor", "config/systemd/user", "runtime/systemd/user", "bin"):
            (folder / name).mkdir(parents=True)
        for name in ("systemctl", "journalctl"):
            wrapper = folder / "bin" / name
            word = "journalctl " if name == "journalctl" else ""
            wrapper.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S {SYSTEMCTL} {word}"$@"\n')
            wrapper.chmod(0o755)
        os.environ.update(self.paths)  # the fixture takes them back
        super().__init__(folder, *flags)

    @property
    def unit(self) -> str:
        return f"sglang-{self.port}.service"

    @property
    def file(self) -> Path:
        return self.root / "systemd/vendor" / self.unit

    @property
    def trial(self) -> Path:
        return self.root / "runtime/systemd/user" / f"{self.unit}.d/95-perfsleuth-trial.conf"

    @property
    def kept(self) -> Path:
        return self.root / "config/systemd/user" / f"{self.unit}.d/90-perfsleuth.conf"

    def launch(self) -> None:
        words = " ".join(self.flags)
        line = (self.line or "{python} -m sglang.launch_server {flags}").format(
            python=sys.executable, flags=words, port=self.port
        )
        self.file.write_text(
            "[Unit]\nDescription=SGLang\n\n[Service]\n"
            f'Environment=PYTHONPATH={SITE} "HF_TOKEN={SECRET}"\nEnvironment=NCCL_DEBUG=WARN\n'
            f"WorkingDirectory={self.root}\nExecStart={line}\nRestart=always\nRestartSec=0.1\nTimeoutStopSec=3\n{self.more}\n"
        )
        self.ctl("daemon-reload")
        self.ctl("start", self.unit)

    def ctl(self, *words: str) -> str:
        argv = ["systemctl", "--user", *words]
        return subprocess.run(argv, capture_output=True, text=True, check=True).stdout

    def text(self) -> str:
        log = self.root / "systemd" / f"{self.unit}.log"
        return log.read_text() if log.exists() else ""

    def asked(self) -> list[str]:
        """Return what systemctl was asked to do, without what was only looked at."""
        lines = (self.root / "systemd/asked.log").read_text().splitlines()
        return [line for line in lines if " show " not in line]

    def clear(self) -> None:
        (self.root / "systemd" / f"{self.unit}.stop").touch()
        super().clear()
        forget_group(f"user.slice/user-*.slice/user@*.service/app.slice/{self.unit}")
