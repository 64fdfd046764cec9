"""A real SGLang is started, asked through the command as a person does, and stopped. Skipped unless asked for."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.lab.sshd import descendants, free_port, wait_for

PYTHON = os.environ.get("PERFSLEUTH_LIVE_SGLANG", "")
ARGUMENTS = shlex.split(os.environ.get("PERFSLEUTH_LIVE_ARGUMENTS", ""))
PROMPT = "a-word-that-only-a-prompt-holds "
START_S = 240.0
pytestmark = pytest.mark.skipif(
    not PYTHON,
    reason="set PERFSLEUTH_LIVE_SGLANG to a Python that has SGLang, and PERFSLEUTH_LIVE_ARGUMENTS to"
    " what it needs here ('--device cpu --attention-backend torch_native' on a CPU)",
)


@dataclass(frozen=True)
class Server:
    """A server that answers, and how to reach it."""

    pid: int
    port: int
    log: Path

    @property
    def place(self) -> str:
        return f"local:{self.port}"

    def generate(self, words: int) -> None:
        """Let it generate a little."""
        sampling = {"max_new_tokens": 48, "temperature": 0, "ignore_eos": True}
        body = json.dumps({"text": PROMPT * words, "sampling_params": sampling}).encode()
        asked = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/generate", body, {"Content-Type": "application/json"}
        )
        urllib.request.urlopen(asked, timeout=60).read()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("live")
    maker = Path(__file__).with_name("tiny_model.py")
    subprocess.run([PYTHON, str(maker), str(folder / "model")], check=True, timeout=120)
    port, log = free_port(), folder / "serve.log"
    told = f"--host 127.0.0.1 --port {port} --max-total-tokens 8192 --enable-metrics --log-requests"
    argv = [PYTHON, "-m", "sglang.launch_server", "--model-path", str(folder / "model")]
    with log.open("wb") as stdout:
        process = subprocess.Popen(
            [*argv, *told.split(), "--log-requests-level", "3", *ARGUMENTS],
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stdout,
            env={"SGLANG_USE_CPU_ENGINE": "1", **os.environ} if "cpu" in ARGUMENTS else None,
        )
    try:
        wait_for(lambda: "fired up" in log.read_text() or process.poll(), "no start", START_S)
        assert process.poll() is None, log.read_text()[-2000:]
        yield Server(process.pid, port, log)
    finally:
        children = descendants(process.pid)
        process.terminate()
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            for pid in (process.pid, *children):
                os.kill(pid, signal.SIGKILL)


def perfsleuth(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "bot", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert PROMPT.strip() not in done.stdout
    return done.stdout


def told(server: Server, text: str) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(perfsleuth("ask", text, "--host", server.place, "--json"))
    return said


def test_every_look_at_the_engine_answers_while_it_serves(server: Server) -> None:
    with ThreadPoolExecutor(8) as clients:
        list(clients.map(server.generate, [1, 8, 40, 120] * 10))
    assert PROMPT in server.log.read_text(), "the log holds prompts, as --log-requests makes it"
    said = told(server, "why is it slow?")
    troubles = {look["probe"]: look["trouble"] for look in said["evidence"]}
    for probe in ("Launch", "ServerInfo", "ServerLog", "Metrics", "ModelConfig", "Environment"):
        assert troubles[f"Read{probe}"] == "", probe


def test_a_case_is_judged_again_as_it_was(server: Server, tmp_path: Path) -> None:
    case = tmp_path / "case.json"
    story = perfsleuth("capture", server.place, "-o", str(case))
    assert PROMPT.strip() not in case.read_text()
    verdict = json.loads(perfsleuth("replay", str(case), "--json"))["verdict"]
    assert " ".join(verdict["headline"].split()) in " ".join(story.split())


def test_a_scheduler_that_is_stopped_is_named(server: Server) -> None:
    titled = [pid for pid in descendants(server.pid) if "scheduler" in _title(pid)]
    os.kill(titled[0], signal.SIGSTOP)
    try:
        said = told(server, "why does it hang?")
    finally:
        os.kill(titled[0], signal.SIGCONT)
    assert said["verdict"]["cause"] == "server_hung"
    assert str(titled[0]) in said["verdict"]["headline"]


def _title(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text()
