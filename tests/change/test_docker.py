"""A server in a container is made anew beside the old one, and the old one is what comes back."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.change.boxes import KEY, SECRET, Box, real_image
from tests.change.engine import BOUNDS, until
from tests.change.units import may_have_groups
from tests.lab.sshd import wait_for
from tools.change import Edit
from tools.change.keeper import Keeper
from tools.hosts.local import LocalHost
from tools.probes.launcher import ReadLauncher

MORE = Edit(drop=("--max-running-requests",), add=("--max-running-requests", "8"))
FLAGS = ("--max-running-requests", "2")
Make = Callable[..., Box]


@pytest.fixture(params=["stand-in", "real"])
def make(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Make]:
    image = real_image() if request.param == "real" else ""
    if request.param == "real" and not image:
        pytest.skip(
            "no docker here, or PERFSLEUTH_TEST_IMAGE names no image of it with Python and the stand-in"
        )
    if may_have_groups():
        pytest.skip(may_have_groups())
    for name in ("STAND_IN_DOCKER", "STAND_IN_PYTHON", "PATH"):
        monkeypatch.setenv(name, os.environ.get(name, ""))
    made: list[Box] = []

    def begin(*flags: str, **more: Any) -> Box:
        made.append(Box(tmp_path, *(flags or FLAGS), image=image, **more))
        return made[-1]

    yield begin
    for box in made:
        box.clear()


def tried(box: Box, *edits: Edit, **more: Any) -> Keeper:
    """Bring a change up to where the new server is ready."""
    keeper = box.keeper()
    status = keeper.begin(box.proposal(*edits, launcher="docker", **more), "e1", 1)
    assert status.state == "armed", status
    assert status.new is not None
    digest = status.new.digest
    keeper.stop()
    until(keeper, "stopped")
    keeper.start()
    status = until(keeper, "ready")
    assert status.new is not None
    assert (status.new.pid, status.new.digest) == (box.pid, digest)
    return keeper


def test_a_container_is_recognised_with_its_policy(make: Make) -> None:
    box = make(options=("--restart", "unless-stopped"))
    output = LocalHost().answer([ReadLauncher(port=box.port)])[0]
    seen = ReadLauncher().read(output)
    assert (seen.kind, seen.restartable, seen.container, seen.restart_policy) == (
        "docker",
        True,
        box.name,
        "unless-stopped",
    )
    assert SECRET not in output.stdout
    assert KEY not in output.stdout


def test_the_old_container_stays_beside_the_new_one_until_the_change_is_kept(make: Make) -> None:
    box = make(options=("--restart", "unless-stopped", "--label", "team=llm"))
    old = box.inspect()
    keeper = tried(box, MORE)
    assert box.names() == {box.name: True, f"{box.name}-perfsleuth-old": False}
    assert box.info()["max_running_requests"] == 8
    keeper.keep()
    status = until(keeper, "kept")
    new = box.inspect()
    assert new["HostConfig"]["RestartPolicy"]["Name"] == "unless-stopped"
    assert new["Config"]["Labels"]["team"] == "llm"
    assert sorted(new["Config"]["Env"]) == sorted(old["Config"]["Env"])
    assert box.inspect(f"{box.name}-perfsleuth-old")["HostConfig"]["RestartPolicy"]["Name"] == "no"
    assert any(f"{box.name}-perfsleuth-old" in step for step in status.steps)


def test_what_is_taken_back_is_the_very_container_that_was_there(make: Make) -> None:
    box = make(
        options=("--shm-size", "128m", "--ulimit", "nofile=4096:8192", "--restart", "always")
    )
    old, start = box.inspect(), box.start()
    keeper = tried(box, MORE, env={"NCCL_DEBUG": "INFO"})
    assert b"NCCL_DEBUG=INFO" in box.start()[1]
    keeper.restore()
    until(keeper, "restored")
    assert box.inspect()["Id"] == old["Id"]
    assert box.inspect()["HostConfig"] == old["HostConfig"]
    assert box.start() == start
    assert box.names() == {box.name: True}
    assert box.serves()


def test_a_flag_that_is_unknown_is_named_and_the_old_container_runs_again(make: Make) -> None:
    box = make()
    keeper = box.keeper()
    keeper.begin(box.proposal(Edit(add=("--no-such-flag",)), launcher="docker"), "e1", 1)
    keeper.stop()
    until(keeper, "stopped")
    keeper.start()
    status = until(keeper, "restored")
    assert status.trouble is not None
    assert status.trouble.kind == "unknown_flag", status.trouble
    assert box.names() == {box.name: True}


def test_a_daemon_that_is_silent_for_a_while_takes_back_no_server_that_runs(make: Make) -> None:
    box = make()
    keeper = box.keeper()
    slow = {"STAND_IN": '{"start_s": 3.0}'}
    keeper.begin(box.proposal(MORE, launcher="docker", env=slow), "e1", 1)
    keeper.stop()
    until(keeper, "stopped")
    keeper.start()
    wait_for(lambda: bool((now := keeper.status()) and now.new and now.new.pid), "nothing starts")
    with silent(box):
        time.sleep(1.0)  # the keeper looks ten times a second
    until(keeper, "ready")
    assert box.info()["max_running_requests"] == 8


def test_where_docker_does_not_tell_whether_one_runs_the_other_is_not_started(make: Make) -> None:
    """Two containers with networks of their own could both serve; a person is needed."""
    box = make()
    keeper = tried(box, MORE, bounds=BOUNDS.model_copy(update={"stop_s": 1.0}))
    with silent(box):
        keeper.restore()
        status = until(keeper, "lost")
    assert status.trouble is not None
    assert "docker does not tell whether it runs" in status.trouble.sentence
    assert box.names() == {box.name: True, f"{box.name}-perfsleuth-old": False}


@contextmanager
def silent(box: Box) -> Iterator[None]:
    """A daemon that answers nobody."""
    if box.image:
        pytest.skip("the daemon here is somebody's")
    note = box.root / "docker/silent"
    note.touch()
    yield
    note.unlink()


def test_of_a_container_that_goes_when_it_stops_a_copy_is_made_before(make: Make) -> None:
    box = make(options=("--rm",))
    argv = box.start()[0]
    keeper = tried(box, MORE)
    keeper.restore()
    status = until(keeper, "restored")
    assert box.start()[0] == argv
    assert box.names() == {box.name: True}
    assert any("without --rm" in step for step in status.steps)


def test_withdrawing_leaves_no_container_behind(make: Make) -> None:
    box = make()
    old = box.inspect()
    keeper = box.keeper()
    keeper.begin(box.proposal(MORE, launcher="docker"), "e1", 1)
    assert f"{box.name}-perfsleuth-new" in box.names()
    keeper.withdraw()
    until(keeper, "withdrawn")
    assert box.names() == {box.name: True}
    assert box.inspect()["Id"] == old["Id"]


def test_a_line_of_shell_in_the_container_is_refused_before(make: Make) -> None:
    box = make(shell="exec python3 -m sglang.launch_server {flags}")
    seen = ReadLauncher().read(LocalHost().answer([ReadLauncher(port=box.port)])[0])
    assert not seen.restartable
    assert "line of shell" in (seen.why_not or "")
    status = box.keeper().begin(box.proposal(MORE, launcher="docker"), "e1", 1)
    assert status.state == "withdrawn"
    assert box.names() == {box.name: True}


def test_everything_that_was_asked_of_docker_is_asked_again(make: Make, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    options = (
        "-v", f"{tmp_path}/data:/data:ro", "--mount", f"type=bind,source={tmp_path}/data,target=/more",
        "--tmpfs", "/scratch:size=64m", "--cap-add", "SYS_NICE", "--security-opt", "seccomp=unconfined", "--ipc", "host",
        "--memory", "1g", "--memory-swap", "1g", "--cpus", "1.5", "--label", "a=b c", "--hostname", "serving", "--add-host", "x:127.0.0.9",
        "--log-opt", "max-size=10m", "--user", "0:0", "--stop-timeout", "20", "--health-cmd", "true", "--health-interval", "30s",
        "--group-add", "44", "--oom-score-adj", "10", "--pids-limit", "500", "--init",
    )  # fmt: skip
    if not real_image():
        options = tuple(word for word in options if word not in ("--hostname", "serving", "--init"))
    box = make(options=options)
    keeper = box.keeper()
    status = keeper.begin(box.proposal(MORE, launcher="docker"), "e1", 1)
    assert status.state == "armed", status.trouble
    keeper.withdraw()
    until(keeper, "withdrawn")


def test_code_that_was_changed_inside_the_container_would_be_lost_and_is_refused(
    make: Make,
) -> None:
    box = make()
    inside = "/usr/lib/python3.11/site-packages/sglang/srt/server.py"
    if box.image:
        box.docker(
            "exec",
            box.name,
            "sh",
            "-c",
            "python3 -c 'import os; os.makedirs(\"/usr/lib/python3.11/site-packages/sglang/srt\")'; : > "
            + inside,
        )
    else:
        (box.root / "docker/changed").write_text(f"C /usr\nA {inside}\n")
    status = box.keeper().begin(box.proposal(MORE, launcher="docker"), "e1", 1)
    assert status.state == "withdrawn"
    assert status.trouble is not None
    assert inside in status.trouble.sentence
    assert box.names() == {box.name: True}


def test_a_container_in_our_place_that_runs_is_left_alone(make: Make) -> None:
    box = make()
    other = f"{box.name}-perfsleuth-new"
    box.docker(
        "run", "-d", "--name", other, "--network", "none", box.image or "sg:1", "sleep", "60"
    )
    status = box.keeper().begin(box.proposal(MORE, launcher="docker"), "e1", 1)
    assert status.state == "withdrawn"
    assert box.names() == {box.name: True, other: True}


def test_nobody_speaking_brings_the_old_container_back(make: Make) -> None:
    box = make()
    old = box.inspect()["Id"]
    bounds = BOUNDS.model_copy(update={"silence_s": 10.0})
    keeper = box.keeper()
    keeper.begin(box.proposal(MORE, launcher="docker", bounds=bounds), "e1", 1)
    first = box.pid
    keeper.stop()
    wait_for(
        lambda: box.pids() not in ([], [first]) and box.serves(),
        "the old container does not come back",
    )
    assert box.inspect()["Id"] == old
