"""A new server that does not come up is taken back by itself, and said why in one line."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.change.engine import BOUNDS, StandIn, keepers, stand_in, until
from tests.lab.sshd import wait_for
from tools.change import Edit, Status


def failing(**mood: object) -> Edit:
    return Edit(add=("--json-model-override-args", json.dumps({"stand_in": mood})))


def tried(server: StandIn, edit: Edit, **bounds: float) -> Status:
    before = server.start()
    keeper = server.keeper()
    status = keeper.begin(server.proposal(edit, bounds=BOUNDS.model_copy(update=bounds)), "e1", 1)
    assert status.state == "armed", status.trouble
    keeper.stop()
    until(keeper, "stopped")
    keeper.start()
    status = until(keeper, "restored", "ready")
    assert status.state == "restored", status
    assert server.start() == before
    assert server.serves()
    assert status.trouble
    assert "\n" not in status.trouble.sentence
    return status


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory):
    with stand_in(tmp_path_factory.mktemp("server"), "--max-running-requests", "64") as one:
        yield one


@pytest.fixture
def server(running: StandIn):
    yield running
    let_go(running)


def let_go(server: StandIn) -> None:
    server.keeper().dismiss()
    wait_for(lambda: not keepers(server.port), "the keeper does not leave")


@pytest.mark.parametrize(
    ("edit", "kind", "says"),
    [
        (Edit(add=("--no-such-flag", "1")), "unknown_flag", "The installed version does not know --no-such-flag 1. It ended with status 2."),
        (Edit(add=("--attention-backend", "nosuch")), "bad_value",
         "The installed version does not take that value for --attention-backend: invalid choice: 'nosuch'. It ended with status 2."),
        (Edit(add=("--max-running-requests", "many")), "bad_value", "for --max-running-requests: invalid int value: 'many'"),
        (failing(fail="weights"), "out_of_memory", "No memory was left for the KV cache after the weights."),
        (failing(fail="cuda_oom"), "out_of_memory", "The GPU's memory ran out."),
        (failing(fail="host_oom"), "out_of_memory", "The host's memory ran out."),
        (failing(fail="capture_oom"), "out_of_memory", "The GPU's memory ran out while CUDA graphs were captured."),
        (failing(fail="capture"), "graph_capture", "It crashed while CUDA graphs were captured."),
        (failing(fail="crash"), "crashed", "The server ended while it started (status 1)."),
    ],
)  # fmt: skip
def test_a_start_that_fails_is_explained(server: StandIn, edit: Edit, kind: str, says: str) -> None:
    status = tried(server, edit)
    assert status.trouble
    assert status.trouble.kind == kind
    assert says in status.trouble.sentence


def test_the_line_that_shows_it_is_told(server: StandIn) -> None:
    status = tried(server, failing(fail="crash"))
    assert status.trouble
    assert status.trouble.line == "AssertionError: tp_size must divide the heads"


def test_a_hang_a_slow_start_and_a_server_that_never_listens_are_told_apart(
    server: StandIn,
) -> None:
    hung = tried(server, failing(fail="hang"), ready_s=9)
    assert hung.trouble
    assert hung.trouble.kind == "hung"
    assert "its log is silent since" in hung.trouble.sentence
    let_go(server)
    slow = tried(server, failing(fail="slow"), ready_s=9)
    assert slow.trouble
    assert slow.trouble.kind == "slow_start"
    assert "though its log still grows" in slow.trouble.sentence
    let_go(server)
    lying = tried(server, failing(fail="never_bind"), ready_s=9)
    assert "ready to roll" in server.text()
    assert lying.trouble
    assert lying.trouble.kind == "hung"


def test_who_waits_for_a_hang_can_have_the_old_one_back_at_once(server: StandIn) -> None:
    before = server.start()
    keeper = server.keeper()
    keeper.begin(
        server.proposal(failing(fail="hang"), bounds=BOUNDS.model_copy(update={"ready_s": 3000})),
        "e1",
        1,
    )
    keeper.stop()
    until(keeper, "stopped")
    keeper.start()
    until(keeper, "starting")
    keeper.restore()
    assert until(keeper, "restored").trouble is None
    assert server.start() == before


def squat(port: int, *, proxy: bool = False) -> subprocess.Popen[bytes]:
    text = f"import socket,time\ns=socket.socket()\ns.setsockopt(1,2,1)\ns.bind(('127.0.0.1',{port}))\ns.listen()\ntime.sleep(3600)"
    return subprocess.Popen([sys.executable, "-c", text])


def test_a_port_that_somebody_else_took_is_told_and_nothing_is_started_beside_it(
    tmp_path: Path,
) -> None:
    with stand_in(tmp_path, "--max-running-requests", "64") as one:
        keeper = one.keeper()
        keeper.begin(one.proposal(Edit(add=("--tp", "2"))), "e1", 1)
        keeper.stop()
        until(keeper, "stopped")
        other = squat(one.port)
        try:
            wait_for(lambda: taken(one.port), "nobody listens")
            keeper.start()
            status = until(keeper, "lost", "restored")
            assert status.state == "lost"
            assert status.trouble
            assert status.trouble.kind == "wrong_server"
            assert f"Port {one.port} is taken by process {other.pid}" in status.trouble.sentence
            assert not one.pids()
            hand = [step for step in status.steps if "by hand: " in step]
            assert "nohup" in hand[0]
            assert one.key not in " ".join(status.steps)
            assert "--api-key '<dropped>'" in hand[0]
        finally:
            other.kill()
            other.wait()


def taken(port: int) -> bool:
    rows = [row.split() for row in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return any(row[3] == "0A" and int(row[1].rpartition(":")[2], 16) == port for row in rows)


def test_the_sentence_of_a_server_that_was_never_bound_is_not_believed(tmp_path: Path) -> None:
    """The new one says that it is ready to roll, though another one holds its port: it ends with status 3."""
    with stand_in(tmp_path, "--max-running-requests", "64") as one:
        keeper = one.keeper()
        keeper.begin(one.proposal(failing(start_s=1.5)), "e1", 1)
        keeper.stop()
        until(keeper, "stopped")
        keeper.start()
        until(keeper, "starting")
        wait_for(lambda: bool(one.pids()), "nothing starts")
        with socket.socket() as other:  # a process of its own might come after the server
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            other.bind(("127.0.0.1", one.port))
            other.listen()
            wait_for(lambda: keeper.status().state in ("restoring", "lost"), "it is believed")  # type: ignore[union-attr]
        status = until(keeper, "restored", "lost")
        assert status.trouble
        assert status.trouble.kind == "port_in_use"
        assert (
            "whatever its log says of being ready. It ended with status 3."
            in status.trouble.sentence
        )
        assert "ready to roll" in one.text()


def test_a_server_that_hangs_because_its_port_is_taken_is_not_waited_for(tmp_path: Path) -> None:
    with stand_in(tmp_path, "--max-running-requests", "64") as one:
        keeper = one.keeper()
        bounds = BOUNDS.model_copy(update={"ready_s": 600})
        hangs = failing(fail="never_bind", start_s=1.0)
        keeper.begin(one.proposal(hangs, bounds=bounds), "e1", 1)
        keeper.stop()
        until(keeper, "stopped")
        keeper.start()
        wait_for(lambda: bool(one.pids()), "nothing starts")
        other = squat(one.port)
        try:
            status = until(keeper, "restoring", "lost")
        finally:
            other.kill()
            other.wait()
        assert status.trouble
        assert status.trouble.kind == "wrong_server"
        assert until(keeper, "restored", "lost").old.command == status.old.command


def test_a_loop_that_starts_it_again_is_noticed(tmp_path: Path) -> None:
    with stand_in(tmp_path, "--max-running-requests", "64") as one:
        keeper, before = one.keeper(), one.start()
        keeper.begin(one.proposal(Edit(add=("--tp", "2"))), "e1", 1)
        keeper.stop()
        until(keeper, "stopped")
        one.launch()
        wait_for(one.serves, "the loop does not start it")
        keeper.start()
        status = until(keeper, "restored", "lost", "ready")
        assert status.state == "restored"
        assert status.trouble
        assert status.trouble.kind == "wrong_server"
        assert any("something else started it" in step for step in status.steps)
        assert status.old.pid == one.pid
        assert one.start() == before
