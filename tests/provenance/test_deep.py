"""`explain-flag --deep`: nothing runs before a person typed the host's name, and then the answer is settled."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab.engine import SITE, Engine
from tests.provenance.hosts import ARGS, PACKAGE, write

ROOT = Path(__file__).parents[2]
RESOLVER = """import argparse, dataclasses, unheard_of
@dataclasses.dataclass
class ServerArgs:
    model_path: str
    tp: int = 1
    port: int = 1
    mem_fraction_static: float = 0.5
    api_key: str = None
    stride: int = None
    def __post_init__(self):
        if unheard_of.large():
            self.stride = 64
        else:
            self.stride = 16
def prepare_server_args(argv):
    parser = argparse.ArgumentParser()
    parser.add_argument("--model-path")
    parser.add_argument("--tp", type=int)
    parser.add_argument("--port", type=int)
    parser.add_argument("--mem-fraction-static", type=float)
    parser.add_argument("--api-key")
    return ServerArgs(**vars(parser.parse_args(argv)))
"""
OTHER = "def large():\n    return True\n"


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("served")
    shutil.copytree(SITE, folder / "site")
    shutil.copytree(SITE.parent / "server", folder / "server")
    write(folder / "site", {**PACKAGE, ARGS: RESOLVER, "unheard_of.py": OTHER})
    found = Engine(folder, site=folder / "site")
    yield found
    found.stop()


def command(engine: Engine, *words: str) -> list[str]:
    where = ["stride", f"localhost:{engine.port}", "--deep", *words]
    return [sys.executable, "-P", "-m", "bot", "explain-flag", *where]


def environment(home: Path, **more: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(ROOT), "TERM": "xterm", **more}  # fmt: skip


def typed(engine: Engine, home: Path, answer: str, *words: str) -> tuple[int, str]:
    """Run it in a terminal, answer its question, and return its status and all that stood there."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        argv = command(engine, *words)
        os.execve(argv[0], argv, environment(home))
    said, over, done = "", time.monotonic() + 240, False
    while time.monotonic() < over:
        if not select.select([terminal], [], [], 0.5)[0]:
            continue
        try:
            more = os.read(terminal, 65536).decode(errors="replace")
        except OSError:
            break
        if not more:
            break
        said += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", more).replace("\r\n", "\n")
        if not done and "Type localhost" in said:
            done = True
            os.write(terminal, f"{answer}\n".encode())
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(terminal)
    return status, said


def test_without_a_terminal_it_shows_what_would_run_and_runs_nothing(
    engine: Engine, tmp_path: Path
) -> None:
    done = subprocess.run(
        command(engine), capture_output=True, text=True, timeout=300, check=False, cwd=ROOT,
        stdin=subprocess.DEVNULL, env=environment(tmp_path),
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert "no key, no token" in done.stderr
    assert done.stderr.strip().endswith("run this in a terminal. Nothing was run.")
    assert "Traceback" not in done.stderr


def test_another_word_than_the_hosts_name_runs_nothing(engine: Engine, tmp_path: Path) -> None:
    status, said = typed(engine, tmp_path, "yes")
    assert status == 2, said
    assert said.rstrip().endswith("Not approved: nothing was run.")


def test_once_approved_what_reading_could_not_tell_is_settled(
    engine: Engine, tmp_path: Path
) -> None:
    before = subprocess.run(
        [word for word in command(engine) if word != "--deep"], capture_output=True, text=True,
        timeout=300, check=False, cwd=ROOT, env=environment(tmp_path),
    )  # fmt: skip
    assert "cannot tell" in before.stdout, before.stderr
    status, said = typed(engine, tmp_path, "localhost")
    assert status == 0, said
    line = 1 + RESOLVER.splitlines().index("            self.stride = 64")
    assert f"{ARGS}:{line} made it 64" in said
    assert "cannot tell" not in said.partition("Type localhost")[2]
    assert "the dry run did not write it here" in said
    assert "lab-secret" not in said


def test_who_is_not_named_to_approve_changes_may_not_approve_it(
    engine: Engine, tmp_path: Path
) -> None:
    hosts = tmp_path / "hosts.toml"
    hosts.write_text('[access]\napprove = ["U0123ABCD"]\n[hosts.localhost]\nlocal = true\n')
    done = subprocess.run(
        command(engine), capture_output=True, text=True, timeout=300, check=False, cwd=ROOT,
        stdin=subprocess.DEVNULL, env=environment(tmp_path, PERFSLEUTH_HOSTS=str(hosts)),
    )  # fmt: skip
    assert done.returncode == 2
    assert "may not approve changes on localhost" in done.stderr


def test_it_goes_with_one_flag_and_a_host_alone(tmp_path: Path) -> None:
    words = ["explain-flag", "--all", "localhost", "--deep"]
    done = subprocess.run(
        [sys.executable, "-P", "-m", "bot", *words], capture_output=True, text=True, timeout=300,
        check=False, cwd=ROOT, env=environment(tmp_path),
    )  # fmt: skip
    assert done.returncode == 2
    assert "--deep goes with one FLAG and a HOST" in done.stderr


def test_with_json_standard_output_holds_the_answer_alone(engine: Engine, tmp_path: Path) -> None:
    told = tmp_path / "told.json"
    script = tmp_path / "run.sh"
    argv = " ".join(command(engine, "--json"))
    script.write_text(f"cd {ROOT}\nexec {argv} > {told}\n")
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve("/bin/sh", ["sh", str(script)], environment(tmp_path))
    os.write(terminal, b"localhost\n")
    while True:
        try:
            if not os.read(terminal, 65536):
                break
        except OSError:
            break
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    os.close(terminal)
    answer = json.loads(told.read_text())
    assert (answer["overridden"], answer["resolved"]) == (True, 64)
    assert {site["state"] for site in answer["sites"]} == {"fired", "not_fired"}
    assert answer["dry_run"] == [], "it came to its end, and nothing was pretended to it"
