"""One running SGLang: its port, its process, its log, and what it counts."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
from pathlib import Path
from typing import Any

from tests.lab.sshd import free_port, wait_for

STAND_INS = Path(__file__).parent / "stand_ins"
START_S = 240.0
# Speculation on a CPU: the usual attention backend cannot verify drafts.
ATTENTION = ("--prefill-attention-backend", "intel_amx", "--decode-attention-backend", "intel_amx")
DRAFTS = ("--speculative-algorithm", "STANDALONE", "--speculative-num-steps", "3", "--speculative-eagle-topk", "1",
          "--speculative-num-draft-tokens", "4")  # fmt: skip


class RealEngine:
    """Started when made; `stop` ends it and all that it started."""

    def __init__(self, venv: Path, model: Path, folder: Path, *flags: str, key: str = "") -> None:
        self.port, self.key, self.log = free_port(), key, folder / "serve.log"
        argv = [
            str(venv / "bin/python"),
            "-m",
            "sglang.launch_server",
            "--device",
            "cpu",
            "--host",
            "127.0.0.1",
        ]
        argv += [
            "--port",
            str(self.port),
            "--model-path",
            str(model),
            "--sampling-backend",
            "pytorch",
        ]
        argv += [
            "--disable-custom-all-reduce",
            "--enable-metrics",
            "--sleep-on-idle",
            "--decode-log-interval",
            "10",
        ]
        argv += ["--max-total-tokens", "16384", "--chunked-prefill-size", "512", *flags]
        argv += (
            []
            if "--prefill-attention-backend" in flags
            else ["--attention-backend", "torch_native"]
        )
        argv += ["--api-key", key] if key else []
        told = {"SGLANG_USE_CPU_ENGINE": "1", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(STAND_INS)}
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=os.environ | told,
                start_new_session=True,
            )
        wait_for(self._serves, f"the engine did not start: {self.log}", START_S)
        self.ask("POST", "/generate", {"text": "warm", "sampling_params": {"max_new_tokens": 8}})

    def stop(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> tuple[int, str]:
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        try:
            headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
            line.request(method, path, None if body is None else json.dumps(body), headers)
            answer = line.getresponse()
            return answer.status, answer.read().decode()
        finally:
            line.close()

    def running(self) -> int:
        """Return how many requests run or wait, as of a second ago at most."""
        loads = json.loads(self.ask("GET", "/v1/loads")[1])["loads"]
        return sum(one["num_running_reqs"] + one["num_waiting_reqs"] for one in loads)

    def lines(self, kind: str, since: int) -> list[dict[str, float]]:
        """Return the figures of the log's Decode or Prefill lines after a number of bytes."""
        text = self.log.read_bytes()[since:].decode("utf-8", "replace")
        lines = [line for line in text.splitlines() if f"{kind} batch" in line]
        return [
            {
                name: float(value)
                for name, value in re.findall(
                    r"([#\w][\w -]*?(?: \(token/s\))?): ([\d.]+)(?=,|$)", line
                )
            }
            for line in lines
        ]

    def _serves(self) -> bool:
        assert self.process.poll() is None, self.log.read_text(errors="replace")[-3000:]
        try:
            return (
                "fired up" in self.log.read_text(errors="replace")
                and self.ask("GET", "/v1/models")[0] == 200
            )
        except OSError:
            return False
