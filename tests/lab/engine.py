"""A process of this machine that looks like an SGLang server and answers like one."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tests.lab.sshd import answers, free_port, wait_for

SITE = Path(__file__).parent / "site"


class Engine:
    """The server: its port, its process, and the log that is its stdout."""

    def __init__(
        self,
        folder: Path,
        *,
        python: str = "/usr/bin/python3",
        site: Path = SITE,
        model: str = "/models/Qwen3-32B-FP8",
        more: Sequence[str] = (),
    ) -> None:
        self.port = free_port()
        self.log = folder / "serve.log"
        if not Path(python).exists():
            python = "python3"
        argv = [
            python,
            "-m",
            "sglang.launch_server",
            "--model-path",
            model,
            "--tp",
            "2",
        ]
        argv += [
            "--port",
            str(self.port),
            "--mem-fraction-static",
            "0.85",
            "--api-key",
            "lab-secret-that-nobody-may-see",
            *more,
        ]
        environment = os.environ | {
            "PYTHONPATH": str(site),
            "NCCL_DEBUG": "WARN",
            "SGLANG_LAB": "1",
            "HF_TOKEN": "hf_labSecretThatNobodyMaySee123",
        }
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment
            )
        wait_for(lambda: answers(self.port), "the lab's server does not answer")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


def orphans(below: Path) -> list[int]:
    """Return the servers that work below a folder and that nobody waits for."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (process / "cmdline").read_bytes()
            parent = (process / "stat").read_text().rpartition(")")[2].split()[1]
            serves = words.startswith(b"sglang::") or b"sglang.launch_server" in words
            if serves and parent == "1" and (process / "cwd").readlink().is_relative_to(below):
                found.append(int(process.name))
    return found
