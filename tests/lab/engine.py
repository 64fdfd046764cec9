"""A process of this machine that looks like an SGLang server and answers like one."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.lab.sshd import answers, free_port, wait_for

SITE = Path(__file__).parent / "site"


class Engine:
    """The server: its port, its process, and the log that is its stdout."""

    def __init__(self, folder: Path, *, python: str = "/usr/bin/python3") -> None:
        self.port = free_port()
        self.log = folder / "serve.log"
        if not Path(python).exists():
            python = "python3"
        argv = [
            python,
            "-m",
            "sglang.launch_server",
            "--model-path",
            "/models/Qwen3-32B-FP8",
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
        ]
        environment = os.environ | {
            "PYTHONPATH": str(SITE),
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
