"""One change on a real process: taken, kept, taken back, and who may say so."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.change.engine import KEY, SECRET, StandIn, keepers, stand_in, until
from tests.change.held import GONE, TWO, begun, changed
from tests.lab.sshd import wait_for
from tools.change.keeper import Keeper
from tools.errors import HostError
from tools.host import Asks, Output
from tools.hosts.local import LocalHost

ODD = ("--max-running-requests", "64", "--served-model-name", "\udcff\udcfe \n'", "--schedule-policy", "", "--tp", "2")  # fmt: skip


def test_a_change_that_is_kept_stays_and_the_keeper_leaves(server: StandIn) -> None:
    keeper = changed(server)
    assert server.info()["max_running_requests"] == 2
    keeper.keep()
    status = until(keeper, "kept")
    assert status.new
    assert (status.new.pid, status.new.healthy) == (server.pid, True)
    keeper.dismiss()
    wait_for(lambda: not keepers(server.port), "the keeper does not leave")
    assert keeper.status() is None
    assert server.serves()


def test_the_old_command_line_and_environment_come_back_byte_for_byte(tmp_path: Path) -> None:
    env = {"LINES": "one\ntwo", "BYTES": "\udcff\udc80", "EMPTY": "", "HF_TOKEN": SECRET}
    with stand_in(tmp_path, *ODD, env=env) as server:
        before, first = server.start(), server.pid
        keeper = changed(server)
        there = server.start()
        assert there[0] == [w for w in before[0] if w not in (b"--max-running-requests", b"64")] + [
            b"--max-running-requests",
            b"2",
        ]
        assert there[1:] == before[1:]
        keeper.restore()
        status = until(keeper, "restored")
        assert server.start() == before
        assert server.pid != first
        assert (status.old.pid, status.old.healthy) == (server.pid, True)
        assert server.serves()
        assert b"LINES=one\ntwo" in before[1]
        assert b"BYTES=\xff\x80" in before[1]
        assert b"" in before[0]


def test_a_variable_that_is_there_twice_and_one_without_a_value_come_back_too(
    tmp_path: Path,
) -> None:
    class Twice(StandIn):
        def launch(self) -> None:
            env = [*(f"{k}={v}" for k, v in self.environ.items()), "A=1", "A=2", "ODD"]
            text = f"import ctypes,os\nargv=[os.fsencode(w) for w in {self.argv}]\n"
            text += f"env=[os.fsencode(w) for w in {env}]\n"
            text += f"f=os.open({str(self.log)!r},os.O_WRONLY|os.O_CREAT|os.O_APPEND)\nos.dup2(f,1);os.dup2(f,2)\n"
            text += "c=lambda r:(ctypes.c_char_p*(len(r)+1))(*r,None)\n"
            text += (
                "if not os.fork(): os.setsid(); ctypes.CDLL(None).execve(argv[0],c(argv),c(env))\n"
            )
            subprocess.run([self.argv[0], "-c", text], check=True, cwd=self.folder)

    server = Twice(tmp_path, "--max-running-requests", "64")
    try:
        before = server.start()
        assert before[1][-3:] == [b"A=1", b"A=2", b"ODD"]
        keeper = changed(server)
        keeper.restore()
        until(keeper, "restored")
        assert server.start() == before
    finally:
        server.clear()


def test_variables_are_given_and_taken_away(server: StandIn) -> None:
    before = server.start()
    keeper = changed(
        server, TWO, env={"NCCL_DEBUG": "INFO", "SGLANG_NEW": "1"}, unset_env=("LANG",)
    )
    env = server.start()[1]
    assert env == [
        b"NCCL_DEBUG=INFO" if one == b"NCCL_DEBUG=WARN" else one
        for one in before[1]
        if one != b"LANG=C.UTF-8"
    ] + [b"SGLANG_NEW=1"]
    keeper.restore()
    until(keeper, "restored")
    assert server.start() == before


def test_the_digest_of_the_new_one_is_known_before(server: StandIn) -> None:
    keeper = begun(server)
    told = keeper.status()
    assert told
    assert told.new
    keeper.stop()
    until(keeper, "stopped")
    keeper.start()
    there = until(keeper, "ready")
    assert there.new
    assert there.new.digest == told.new.digest != told.old.digest


def test_before_the_old_one_is_touched_it_is_only_left(server: StandIn) -> None:
    first = server.pid
    for name, leave in (("e1", Keeper.withdraw), ("e2", Keeper.restore)):
        keeper = begun(server, name=name)
        leave(keeper)
        until(keeper, "withdrawn")
        assert server.pid == first
        assert server.serves()


def test_draining_waits_until_nothing_runs_and_not_longer_than_it_may(server: StandIn) -> None:
    keeper = begun(server)
    keeper.drain(30)
    assert until(keeper, "drained").running_requests is None
    keeper.dismiss()
    wait_for(lambda: not keepers(server.port), "the keeper does not leave")
    body = json.dumps({"text": "x", "sampling_params": {"max_new_tokens": 5000}})
    long = subprocess.Popen(["curl", "-s", "-o", "/dev/null", "-H", f"Authorization: Bearer {KEY}", "-d", body,
                             f"http://127.0.0.1:{server.port}/generate"])  # fmt: skip
    try:
        wait_for(
            lambda: '"num_running_reqs": 1' in server.ask("/v1/loads")[1],
            "the request does not run",
        )
        keeper = begun(server, name="e2")
        keeper.drain(1.0)
        status = until(keeper, "drained")
        assert "1 requests still run after 1 s" in status.steps[-1]
    finally:
        long.kill()
        long.wait()


@pytest.mark.parametrize("what", ["restarted", "gone", "other edits"])
def test_a_host_that_is_not_as_it_was_is_left_alone(server: StandIn, what: str) -> None:
    proposal = server.proposal(TWO)
    if what == "other edits":
        proposal = proposal.model_copy(update={"edits": (GONE,)})
    else:
        os.kill(server.pid, 9)
        wait_for(lambda: not server.pids(), "it does not end")
        if what == "restarted":
            server.launch()
            wait_for(server.serves, "it does not come back")
    status = server.keeper().begin(proposal, "e1", 1)
    assert status.state == "withdrawn"
    assert status.trouble
    assert status.trouble.kind == "host_changed"
    assert not keepers(server.port)
    said = {
        "restarted": "Another process serves",
        "gone": "No model server runs",
        "other edits": "do not give the command line",
    }
    assert said[what] in status.trouble.sentence


class Listening(LocalHost):
    """This machine, and everything that it ever said."""

    said = ""

    def answer(self, probes: Sequence[Asks], /) -> Sequence[Output]:
        outputs = super().answer(probes)
        self.said += "".join(one.stdout + one.stderr for one in outputs)
        return outputs


def test_no_secret_leaves_the_host_or_stands_in_an_argument(tmp_path: Path) -> None:
    with stand_in(tmp_path, "--max-running-requests", "64") as server:
        host = Listening()
        keeper = Keeper(host, server.port)
        keeper.begin(server.proposal(TWO), "e1", 1)
        keeper.stop()
        until(keeper, "stopped")
        keeper.start()
        until(keeper, "ready")
        assert any("server_args=" in line for line in keeper.log(100))
        keeper.restore()
        until(keeper, "restored")
        assert "keeper" in host.said
        for secret in (KEY, SECRET):
            assert secret not in host.said
        for pid in keepers(server.port):
            words = (
                Path(f"/proc/{pid}/cmdline").read_bytes()
                + Path(f"/proc/{pid}/environ").read_bytes()
            )
            assert KEY.encode() not in words
            assert SECRET.encode() not in words


def test_the_log_tells_of_the_start_that_was_last(server: StandIn) -> None:
    server.log.write_text(server.log.read_text() + "an old line\n")
    keeper = changed(server)
    lines = keeper.log(50)
    assert "ready to roll" in "\n".join(lines)
    assert "an old line" not in lines
    assert len(keeper.log(2)) == 2


def test_nobody_holds_a_host_where_no_change_was_begun(server: StandIn) -> None:
    assert server.keeper().status() is None
    with pytest.raises(HostError, match="no keeper answers"):
        server.keeper().stop()
