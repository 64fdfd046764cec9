"""How the command ends, whatever reads it, interrupts it or is put into it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bot import ending
from tests.bot.test_cli import ROOT, run
from tests.lab.sshd import wait_for

BOT = (sys.executable, "-P", "-m", "bot")


def shell(line: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", line.replace("BOT", " ".join(BOT))],
        capture_output=True, text=True, cwd=ROOT, timeout=60, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("command", ["demo", "demo --json", "rules", "--help"])
def test_a_reader_that_goes_away_is_no_trouble(command: str) -> None:
    done = shell(f"BOT {command} | head -n 1; echo ${{PIPESTATUS[0]}}")
    assert done.stdout.splitlines()[-1] == "0"
    assert done.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is full")
@pytest.mark.parametrize("command", ["demo", "demo --json"])
def test_a_full_disk_is_one_line(command: str) -> None:
    done = shell(f"BOT {command} > /dev/full")
    assert done.returncode == 2
    assert done.stderr == "perfsleuth: it cannot be done: No space left on device.\n"


def test_closed_streams_are_no_trouble(tmp_path: Path) -> None:
    assert shell("BOT demo >&-").returncode == 0
    assert shell("BOT diagnose nothing-here 2>&-").returncode == 2
    done = shell("BOT diagnose - <&-")
    assert (done.returncode, done.stderr) == (
        2,
        "perfsleuth: standard input is closed: name a file\n",
    )


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
        {"COLUMNS": "1"},
        {"COLUMNS": "20", "TERM": "dumb", "NO_COLOR": "1"},
    ],
)
def test_no_terminal_is_too_poor_for_the_story(environment: dict[str, str]) -> None:
    done = run("demo", **environment)
    assert (done.returncode, done.stderr) == (0, "")


def test_names_that_are_no_text_and_names_that_steer_are_told_harmlessly(tmp_path: Path) -> None:
    names = [b"\xff\xfe.log", "a\x1b]0;owned\x07\rb\u202ec.log".encode()]
    for name in names:
        path = os.fsencode(tmp_path) + b"/" + name
        Path(os.fsdecode(path)).write_text("hello\n")
        kept = tmp_path / "kept.json"
        for options in ((), ("--json",), ("--save", str(kept))):
            done = subprocess.run(
                [*map(os.fsencode, BOT), b"diagnose", path, *map(os.fsencode, options)],
                capture_output=True, cwd=ROOT, timeout=60, check=False,
                env={**os.environ, "PYTHONIOENCODING": "utf-8:strict"},
            )  # fmt: skip
            assert (done.returncode, done.stderr) == (0, b"")
            assert b"\x1b" not in done.stdout
            assert options == ("--json",) or "\u202e".encode() not in done.stdout
        assert json.loads(kept.read_text(encoding="utf-8"))["asked"]
    missing = run("diagnose", "/no/\x1b[2J\u202e\rsuch")
    assert missing.stderr == "perfsleuth: /no/[2J such is not there\n"


def test_what_cannot_be_kept_does_not_destroy_what_is_there(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    log.write_text("hello\n")
    done = run("diagnose", str(log), "--save", str(tmp_path / "no" / "x.json"))
    assert done.returncode == 2
    assert "cannot be written: No such file or directory" in done.stderr


def test_ctrl_c_ends_with_one_line_and_leaves_nothing_running(tmp_path: Path) -> None:
    (tmp_path / "hosts.toml").write_text("[hosts.here]\nlocal = true\n")
    for name in ("iostat", "lspci", "dmesg", "nvidia-smi"):
        (tmp_path / name).write_text(f"#!/bin/sh\necho $$ > {tmp_path}/$$.pid\nexec sleep 600\n")
        (tmp_path / name).chmod(0o755)
    asking = subprocess.Popen(
        [*BOT, "ask", "is it slow?", "--host", "here"],
        cwd=ROOT, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        env={**os.environ, "PERFSLEUTH_HOSTS": str(tmp_path / "hosts.toml"), "PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )  # fmt: skip
    wait_for(lambda: list(tmp_path.glob("*.pid")), "the host was not asked")
    below = {*at_work(asking.pid), *(each.stem for each in tmp_path.glob("*.pid"))}
    asking.send_signal(signal.SIGINT)
    _, said = asking.communicate(timeout=60)
    assert (asking.returncode, said) == (130, "perfsleuth: stopped.\n")
    wait_for(lambda: not any(map(alive, below)), "what was asked lives on")


def children(pid: str | int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []


def at_work(pid: int) -> list[str]:
    """Return what asks and what it has started, once it has started something."""
    return [one for child in children(pid) for one in (child, *children(child)) if children(child)]


def alive(pid: str) -> bool:
    """Say whether a process runs; one that has ended waits as a zombie where init does not reap."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_a_fault_of_its_own_names_the_place_and_nothing_that_it_held(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def falls() -> None:
        raise ValueError("hf_abcdefghijklmnopqrstuvwxyz held in its hands")

    assert ending.of(falls) == 1
    said = capsys.readouterr().err
    assert "ValueError in falls" in said
    assert "hf_" not in said
    assert len(said.splitlines()) == 1


def test_a_question_keeps_no_secret(tmp_path: Path) -> None:
    (tmp_path / "x.log").write_text("hello\n")
    kept, key = tmp_path / "kept.json", "Zq7XkP2mVw9RtLb4"
    asked = f"slow with --api-key {key}, why?"
    for options in (("--json",), ("--save", str(kept))):
        assert (
            key
            not in run("diagnose", str(tmp_path / "x.log"), "--question", asked, *options).stdout
        )
    assert key not in kept.read_text()
