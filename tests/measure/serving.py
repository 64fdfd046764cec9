"""A server that counts, started as a process of this machine so that the scripts on the host find it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.lab.sshd import answers, free_port, wait_for

SITE = Path(__file__).parent / "stub"
KEY = "stub-key-that-nobody-may-see"


class Counting:
    """The server: its port, its process, and what it counted."""

    def __init__(
        self, log: Path, *, key: str = "", environment: dict[str, str] | None = None, **mood: Any
    ) -> None:
        self.port = free_port()
        argv = [sys.executable, "-m", "sglang.launch_server", "--port", str(self.port)]
        argv += ["--api-key", key] if key else []
        told = (
            os.environ | {"PYTHONPATH": str(SITE), "STUB": json.dumps(mood)} | (environment or {})
        )
        with log.open("wb") as file:
            self.process = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=file, stderr=file, env=told
            )
        wait_for(lambda: answers(self.port), "the counting server does not answer")

    def counted(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/counted", timeout=30) as answer:
            found: dict[str, Any] = json.load(answer)
            return found


@contextmanager
def counting(log: Path, **mood: Any) -> Iterator[Counting]:
    server = Counting(log, **mood)
    try:
        yield server
    finally:
        server.process.kill()
        server.process.wait()
