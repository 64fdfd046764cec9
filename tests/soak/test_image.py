"""Slow: run by `make soak`. Every step of the Dockerfile in a clean Debian root; then the image with a read-only root."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.soak.image import ROOT, Builder, base_root, instructions

KUBERNETES = ROOT / "deploy" / "kubernetes" / "perfsleuth.yaml"
pytestmark = pytest.mark.long

# A sweep of more hosts than one process asks at once; what it and all that it began hold, in MB (PSS).
MANY = """
import json, os, sys, threading
from pathlib import Path
from bot.demo import shipped_path
from bot.health.sweep import AT_ONCE, sweep
from bot.reach import reach
from bot.settings import HostSettings, Settings

def held_mb():
    owners = [me, *Path(f"/proc/{me}/task/{me}/children").read_text().split()]
    texts = [Path(f"/proc/{one}/smaps_rollup").read_text() for one in owners]
    return [int(text.split("Pss:")[1].split()[0]) // 1024 for text in texts]

def watch():
    while not over.wait(0.2):
        try:
            seen.append(held_mb())
        except (OSError, IndexError):
            continue  # one ended meanwhile

me, over, seen = os.getpid(), threading.Event(), []
hosts = {f"h{n}": HostSettings(case=shipped_path("ct129")) for n in range(2 * AT_ONCE)}
threading.Thread(target=watch, daemon=True).start()
looks = list(sweep(list(hosts), Settings(hosts=hosts), reach))
over.set()
states = sorted({one.state for one in looks})
print(json.dumps({"looks": len(looks), "states": states, "held_mb": max(seen, key=sum)}))
"""
BUILD_TOOLS = ("gcc", "cc", "g++", "make", "ld", "pip", "pip3", "git", "curl")


@pytest.fixture(scope="module")
def builder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Builder]:
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        pytest.skip("a Debian root needs root and debootstrap (Debian: apt install debootstrap)")
    if subprocess.run(["unshare", "--mount", "true"], check=False).returncode:
        pytest.skip("this machine allows no mounts of its own")
    folder = tmp_path_factory.mktemp("image")
    base = Path(os.environ["SOAK_DEBIAN_ROOT"]) if "SOAK_DEBIAN_ROOT" in os.environ else None
    builder = Builder(base or base_root(folder), folder / "stages")
    (folder / "stages").mkdir()
    builder.build((ROOT / "Dockerfile").read_text())
    yield builder
    shutil.rmtree(folder, ignore_errors=True)


def test_the_command_runs_as_a_user_of_its_own_on_a_root_that_cannot_be_written(
    builder: Builder,
) -> None:
    stage = builder.stages["perfsleuth"]
    assert stage.user == "10001:10001"
    told = builder.run(stage, ["perfsleuth", "demo", "--json"], read_only=True)
    assert told.returncode == 0, told.stderr
    assert json.loads(told.stdout)["verdict"]["cause"]
    tried = builder.run(stage, ["touch", "/opt/perfsleuth/x"], read_only=True)
    assert tried.returncode != 0
    bot = builder.run(stage, ["tini", "--", "perfsleuth", "bot"], read_only=True)
    assert bot.returncode == 2
    assert "SLACK_BOT_TOKEN" in bot.stderr
    drawn = builder.run(stage, ["perfsleuth", "demo", "--charts", "/tmp"], read_only=True)
    assert drawn.returncode == 0, drawn.stderr


def test_many_hosts_are_judged_in_processes_of_their_own_within_the_memory_that_is_asked_for(
    builder: Builder,
) -> None:
    stage = builder.stages["perfsleuth"]
    done = builder.run(stage, ["python", "-c", MANY], read_only=True)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    print(told)
    assert (told["looks"], told["states"]) == (96, ["seen"])
    assert len(told["held_mb"]) > 1, "nobody judged beside it"
    (asked_mb,) = re.findall(r"requests: {.* memory: (\d+)Mi }", KUBERNETES.read_text())
    assert sum(told["held_mb"]) < int(asked_mb)


def test_nothing_that_builds_is_left_in_it(builder: Builder) -> None:
    stage = builder.stages["perfsleuth"]
    found = builder.run(
        stage, ["sh", "-c", f"command -v {' '.join(BUILD_TOOLS)}; python -c 'import pip'"]
    )
    assert found.stdout.strip() == ""
    assert "No module named 'pip'" in found.stderr
    assert (stage.root / "opt/perfsleuth/bin/perfsleuth").exists()


def test_its_health_check_is_a_program_and_says_no_where_nothing_listens(builder: Builder) -> None:
    stage = builder.stages["perfsleuth"]
    _, _, command = stage.says["HEALTHCHECK"].partition("CMD ")
    asked = builder.run(stage, json.loads(command), read_only=True)
    assert asked.returncode == 1
    assert json.loads(stage.says["ENTRYPOINT"])[0] == "tini"


def test_the_lab_can_be_started(builder: Builder) -> None:
    stage = builder.stages["lab"]
    told = builder.run(stage, ["python", "-m", "tests.lab", "--help"])
    assert told.returncode == 0, told.stderr
    assert builder.run(stage, ["test", "-x", "/usr/sbin/sshd"]).returncode == 0


def test_every_instruction_is_one_that_was_carried_out() -> None:
    known = {name[1:].upper() for name in vars(Builder) if name.startswith("_")}
    assert {name for name, _ in instructions((ROOT / "Dockerfile").read_text())} <= known
