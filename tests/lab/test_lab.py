"""The lab itself: what its commands print is what the probes read, over a real sshd, in each mood."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab import sshd
from tests.lab.engine import Engine
from tests.lab.sshd import Lab, alive, descendants
from tools.evidence import Evidence, ask
from tools.hosts.ssh import SshHost
from tools.nvidia.gpus import Gpus
from tools.probes import PROBES


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    engine = Engine(tmp_path_factory.mktemp("engine"))
    yield engine
    engine.stop()


@pytest.fixture(scope="module")
def host(lab: Lab) -> Iterator[SshHost]:
    with SshHost("lab", config_file=lab.config) as host:
        yield host


def look(host: SshHost, *names: str) -> list[Evidence]:
    return ask(host, [PROBES[name]() for name in names])


@pytest.mark.parametrize(("mood", "gen"), [("healthy", 4), ("gen1_busy", 1)])
def test_two_busy_gpus_are_read(lab: Lab, host: SshHost, mood: str, gen: int) -> None:
    lab.mood(mood)
    (gpus,) = look(host, "ReadGpus")
    assert isinstance(gpus.facts, Gpus), gpus.trouble
    assert [(one.name, one.link_gen, one.link_width, one.pstate) for one in gpus.facts.samples] == [
        ("NVIDIA RTX A6000", gen, 16, 2)
    ] * 2
    assert all((one.util_pct or 0) > 90 for one in gpus.facts.samples)


def test_a_watch_sees_the_same_link_many_times(lab: Lab, host: SshHost) -> None:
    lab.mood("gen1_busy")
    (watched,) = ask(host, [PROBES["SampleGpus"](seconds=1)])
    assert isinstance(watched.facts, Gpus), watched.trouble
    assert len(watched.facts.samples) >= 6
    assert {one.link_gen for one in watched.facts.samples} == {1}


def test_a_host_without_a_working_driver_gives_troubles_and_no_facts(
    lab: Lab, host: SshHost
) -> None:
    lab.mood("no_gpu")
    for one in look(host, "ReadGpus", "ReadTopology", "ReadNvlinks"):
        assert one.facts is None
        assert one.trouble, one.title


def test_every_probe_gets_an_answer_or_a_sentence(lab: Lab, host: SshHost, engine: Engine) -> None:
    lab.mood("healthy")
    for one in look(host, *(name for name in PROBES if not name.startswith("Sample"))):
        assert one.output is not None
        assert not one.output.lost, (one.title, one.output.lost)
        assert one.facts is not None or one.trouble, one.title
        assert "Traceback" not in one.output.stderr, (one.title, one.output.stderr)


def test_the_server_looks_and_answers_like_one(engine: Engine) -> None:
    words = Path(f"/proc/{engine.process.pid}/cmdline").read_bytes().split(b"\0")
    assert words[1:3] == [b"-m", b"sglang.launch_server"]
    for path in ("/server_info", "/get_server_info", "/model_info", "/v1/loads"):
        with urllib.request.urlopen(f"http://127.0.0.1:{engine.port}{path}") as answer:
            assert json.load(answer)
    with urllib.request.urlopen(f"http://127.0.0.1:{engine.port}/metrics") as answer:
        assert b"sglang:gen_throughput" in answer.read()
    assert "The server is fired up" in engine.log.read_text()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_lab_tells_how_to_reach_it_and_ends_without_a_trace(number: int) -> None:
    if not sshd.SSHD:
        pytest.skip(sshd.MISSING)
    root = Path(__file__).parents[2]
    with subprocess.Popen(
        [sys.executable, "-u", "-m", "tests.lab", "--mood", "gen1_busy"],
        cwd=root,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout
            said = [process.stdout.readline() for _ in range(5)]
            by_hand = said[1].partition(":")[2].split()
            done = subprocess.run(
                by_hand,
                capture_output=True,
                text=True,
                timeout=60,
                stdin=subprocess.DEVNULL,
                check=False,
            )
            servers = descendants(process.pid)
            process.send_signal(number)
            assert process.wait(60) == 0
        finally:
            process.kill()
    assert "RTX A6000" in done.stdout
    assert not Path(by_hand[2]).exists()
    assert servers
    assert not [pid for pid in servers if alive(pid)]
