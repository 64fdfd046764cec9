"""Who holds a server up is seen on the host itself, from real processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.change.engine import KEY, SECRET, StandIn, on_host, stand_in
from tools.change import Identity
from tools.engine import Launcher
from tools.hosts.local import LocalHost
from tools.probes.launcher import ReadLauncher


def seen(port: int) -> Launcher:
    output = LocalHost().answer([ReadLauncher(port=port)])[0]
    assert SECRET not in output.stdout
    assert KEY not in output.stdout
    return ReadLauncher().read(output)


class Loop(StandIn):
    """A server in a loop of a shell script, as many start one."""

    def launch(self) -> None:
        line = " ".join([sys.executable, "-m", "sglang.launch_server", *self.flags])
        script = self.folder / "loop.sh"
        script.write_text(
            f"# while this is a comment only\nwhile true; do\n  {line} >> {self.log} 2>&1\n  sleep 1\ndone\n"
        )
        self.launched = subprocess.Popen(
            ["bash", str(script)], cwd=self.folder, env=self.environ, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def clear(self) -> None:
        self.launched.kill()
        self.launched.wait()
        super().clear()


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[Loop]:
    server = Loop(tmp_path)
    yield server
    server.clear()


def test_a_server_under_nohup_is_plain_and_is_identified(tmp_path: Path) -> None:
    with stand_in(tmp_path, "--tp", "2") as server:
        found = seen(server.port)
        assert (found.kind, found.restartable, found.pid) == ("plain", True, server.pid), (
            found.why_not
        )
        assert (found.log_kind, found.log_path, found.log_appends) == (
            "file",
            str(server.log),
            True,
        )
        assert "HF_TOKEN" in found.variables
        assert found.command[-2:] == ("--api-key", "<dropped>")
        told = {name: getattr(found, name) for name in Identity.model_fields}
        assert Identity(**told) == server.proposal().identity


def test_a_shell_loop_would_start_the_old_server_again(loop: Loop) -> None:
    found = seen(loop.port)
    assert (found.kind, found.restartable) == ("supervised", False)
    assert found.supervisor == f"a shell loop in {loop.folder}/loop.sh"


@pytest.mark.parametrize(
    ("text", "loops"),
    [
        ("while true; do run; done", True), ("until run; do sleep 5; done", True), ("a; while :; do run; done", True),
        ("for ((;;)); do run; done", True), ("# wait; while it loads\nrun", False), ("run --while 3\necho until later", False),
        ("for i in 1 2; do echo $i; done\nrun", False),
    ],
)  # fmt: skip
def test_a_loop_is_told_from_a_word_of_the_same_name(text: str, loops: bool) -> None:
    assert on_host("proc", "launcher_parents")["_loops"](text) is loops


def test_a_script_without_a_loop_is_none(tmp_path: Path) -> None:
    with stand_in(tmp_path, how="script") as server:
        found = seen(server.port)
        assert (found.kind, found.restartable) == ("plain", True), found.why_not
        assert found.parents[0].script == str(server.folder / "run.sh")


def test_the_pane_of_tmux_is_named(tmp_path: Path) -> None:
    with stand_in(tmp_path, how="tmux") as server:
        found = seen(server.port)
        assert (found.terminal, found.terminal_name) == ("tmux", f"{server.session}:0.0")
        assert found.remarks == ("its output goes to a tmux pane and is kept nowhere else",)


@pytest.mark.skipif(os.getuid() != 0, reason="takes another user's place, which root alone may")
def test_a_login_that_may_not_read_the_server_is_told_whose_it_must_be(tmp_path: Path) -> None:
    with stand_in(tmp_path) as server:
        command = ReadLauncher(port=server.port).command()
        done = subprocess.run(
            ["/usr/bin/env", "python3", "-I", "-", str(server.port)], input=command.stdin, capture_output=True, text=True,
            user=65534, group=65534, extra_groups=[], check=False, cwd="/",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        said = json.loads(done.stdout)
        if "absent" in said:
            pytest.skip("processes of other users are hidden here")
        found = ReadLauncher().parse(done.stdout)
        assert not found.restartable
        assert "log in as root" in (found.why_not or "")
        assert found.digest is None


@pytest.mark.skipif(os.getuid() != 0, reason="becomes another user, which root alone may")
def test_a_users_own_systemd_is_asked_as_that_user() -> None:
    host = on_host("systemd_ask")
    status, out, _ = host["asked"](("id", "-u"), become=host["as_user"](65534))
    assert (status, out.strip()) == (0, "65534")
    assert host["as_user"](0) is None


@pytest.mark.parametrize(
    ("cgroup", "unit"),
    [
        ("0::/system.slice/sglang.service", ("sglang.service", None)),
        ("0::/system.slice/system-sglang.slice/sglang@0.service", ("sglang@0.service", None)),
        (
            "0::/user.slice/user-1000.slice/user@1000.service/app.slice/sg.service",
            ("sg.service", 1000),
        ),
        ("0::/user.slice/user-1000.slice/session-4.scope", (None, None)),
        ("0::/user.slice/user-1000.slice/user@1000.service/tmux-spawn-1f.scope", (None, None)),
        ("0::/system.slice/docker-" + "ab" * 32 + ".scope", (None, None)),
        (
            "12:pids:/system.slice/sg.service\n1:name=systemd:/system.slice/sg.service\n0::/",
            ("sg.service", None),
        ),
    ],
)
def test_the_unit_is_read_from_the_control_group(
    cgroup: str, unit: tuple[str | None, int | None]
) -> None:
    assert on_host("systemd_ask")["unit_in"](cgroup) == unit


def test_the_digest_is_of_what_was_started_and_not_of_what_each_start_brings_anew() -> None:
    digest = on_host("identity")["digest_of"]
    one = digest([b"a", b"b"], [b"A=1", b"INVOCATION_ID=x", b"B=2"], b"/", b"/bin/a")
    assert one == digest([b"a", b"b"], [b"B=2", b"INVOCATION_ID=y", b"A=1"], b"/", b"/bin/a")
    assert one != digest([b"a", b"b "], [b"A=1", b"B=2"], b"/", b"/bin/a")
    assert one != digest([b"ab"], [b"A=1", b"B=2"], b"/", b"/bin/a")
    assert one != digest([b"a", b"b"], [b"A=1", b"B=3"], b"/", b"/bin/a")
