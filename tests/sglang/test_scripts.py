"""The scripts on the host find a real process, tell what it runs with, and print no secret."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from tools.engine import Environment, Launch, Metrics, ModelConfig, ServerInfo, SourceLines
from tools.errors import Absent, Failed
from tools.probe import Probe
from tools.probes.environment import ReadEnvironment
from tools.probes.launch import ReadLaunch
from tools.probes.metrics import ReadMetrics
from tools.probes.model_config import ReadModelConfig
from tools.probes.server_info import ReadServerInfo
from tools.probes.source_lines import ReadSourceLines

SECRET = "S3cr3tValue9x8"
pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")

SERVER = """
import http.server, json, os
COUNT = [0]
INFO = {"model_path": "m", "tp_size": 2, "port": 1, "api_key": SECRET, "version": "0.5.11", "tomorrow": SECRET,
        "internal_states": [{"tp_size": 2, "api_key": SECRET, "last_gen_throughput": 12.5}]}
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        COUNT[0] += 10
        page = f"sglang:num_running_reqs 3\\nsglang:generation_tokens_total {COUNT[0]}\\n"
        body = {"/get_server_info": json.dumps(INFO), "/metrics": page}.get(self.path)
        self.send_response(401 if os.environ.get("MODE") == "key" else 200 if body else 404)
        self.end_headers()
        self.wfile.write((body or "").encode())
    def log_message(self, *_):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
""".replace("SECRET", repr(SECRET))


def ask(probe: Probe[Any]) -> Any:
    command = probe.command()
    done = subprocess.run(
        [sys.executable, *command.argv[1:]],
        input=command.stdin,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert SECRET not in done.stdout
    assert probe.recognises(done.stdout) or '"absent"' in done.stdout or '"failed"' in done.stdout
    return probe.parse(probe.clean(done.stdout))


def serve(folder: Path, **variables: str) -> tuple[subprocess.Popen[str], int]:
    package = folder / "site-packages" / "sglang"
    (package / "srt").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "version.py").write_text('__version__ = "0.5.11"\n')
    (package / "launch_server.py").write_text(SERVER)
    (package / "srt" / "server_args.py").write_text(
        "\ufeff# a\nself.disable_piecewise_cuda_graph = True\n", "utf-8"
    )
    (folder / "m").mkdir()
    (folder / "m" / "config.json").write_text(
        json.dumps({"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 8})
    )
    (folder / "serve.yaml").write_text(
        f"tp-size: 4\napi-key: {SECRET}\nenable-metrics: true\nlog-requests: false\n"
    )
    log = (folder / "serve.log").open("w")
    argv = ("--model-path", "m", "--api-key", SECRET, "--config", "serve.yaml", "--tp", "2")
    known = {"NCCL_DEBUG": "INFO", "HF_TOKEN": SECRET, "NCCL_AUTH_KEY": SECRET}
    process = subprocess.Popen(
        [sys.executable, "-m", "sglang.launch_server", *argv],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "site-packages"), **known, **variables},
        stdout=log,
        stderr=subprocess.STDOUT,
        text=True,
    )
    log.close()
    for _ in range(1200):
        if told := (folder / "serve.log").read_text():
            return process, int(told)
        time.sleep(0.05)
    process.kill()
    process.wait()
    pytest.fail("the stand-in did not start")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, int]]:
    folder = tmp_path_factory.mktemp("server")
    process, port = serve(folder)
    yield folder, port
    process.kill()
    process.wait()


def test_the_launch_is_found_with_its_config_file_and_version(server: tuple[Path, int]) -> None:
    folder, port = server
    seen = ask(ReadLaunch(port=port))
    assert isinstance(seen, Launch)
    assert seen.flags == {
        "enable_metrics": True,
        "model_path": "m",
        "api_key": "<dropped>",
        "tp_size": 2,
    }
    assert seen.from_config == ("enable_metrics",)
    assert seen.config_file == "serve.yaml"
    assert seen.log_path == str(folder / "serve.log")
    assert seen.port == port
    assert seen.version == "0.5.11"
    assert seen.source_path == str(folder / "site-packages" / "sglang")


def test_the_server_is_asked_by_the_older_name_where_the_newer_is_404(
    server: tuple[Path, int],
) -> None:
    seen = ask(ReadServerInfo(port=server[1]))
    assert isinstance(seen, ServerInfo)
    assert seen.resolved == {
        "model_path": "m",
        "tp_size": 2,
        "port": 1,
        "api_key": "<dropped>",
        "tomorrow": "<dropped>",
    }
    assert seen.last_gen_tok_s == 12.5


def test_metrics_are_read_twice(server: tuple[Path, int]) -> None:
    seen = ask(ReadMetrics(port=server[1], seconds=0.5))
    assert isinstance(seen, Metrics)
    assert seen.deltas == {"generation_tokens_total": 10.0}
    assert seen.window_s is not None
    assert 0.4 < seen.window_s < 5


def test_the_environment_is_told_by_names_alone(server: tuple[Path, int]) -> None:
    seen = ask(ReadEnvironment(port=server[1]))
    assert isinstance(seen, Environment)
    assert seen.values["NCCL_DEBUG"] == "INFO"
    assert not {"HF_TOKEN", "NCCL_AUTH_KEY"} & set(seen.values)


def test_the_model_and_the_source_are_those_of_the_server(server: tuple[Path, int]) -> None:
    config = ask(ReadModelConfig(port=server[1]))
    assert isinstance(config, ModelConfig)
    assert config.layers == 2
    lines = ask(ReadSourceLines(port=server[1]))
    assert isinstance(lines, SourceLines)
    assert [(one.path, one.line) for one in lines.found] == [("srt/server_args.py", 2)]


def test_a_key_that_the_server_wants_is_said(tmp_path: Path) -> None:
    process, port = serve(tmp_path, MODE="key")
    try:
        with pytest.raises(Failed, match="API key"):
            ask(ReadServerInfo(port=port))
    finally:
        process.kill()
        process.wait()


def test_of_two_servers_each_is_told_with_the_other(
    server: tuple[Path, int], tmp_path: Path
) -> None:
    process, port = serve(tmp_path)
    try:
        for one, other in ((port, server[1]), (server[1], port)):
            seen = ask(ReadLaunch(port=one))
            assert seen.port == one
            assert f"sglang on port {other}" in seen.others
    finally:
        process.kill()
        process.wait()


def test_a_port_without_a_server_names_those_there_are(server: tuple[Path, int]) -> None:
    with pytest.raises(
        Absent, match=f"no model server on port 1; there is .*sglang on port {server[1]}"
    ):
        ask(ReadLaunch(port=1))


@pytest.mark.parametrize(
    "script", sorted(p.name for p in files("tools.remote").iterdir() if p.name.endswith(".py"))
)
def test_each_script_is_python_3_8(script: str) -> None:
    ast.parse((files("tools.remote") / script).read_text(encoding="utf-8"), feature_version=(3, 8))
