"""The keeper killed at each state: its understudy goes on, and one server runs in the end; never two, never none."""

from __future__ import annotations

import os
import signal
import socket
import time
from pathlib import Path

import pytest

from tests.change.engine import BOUNDS, StandIn, keepers, stand_in, until
from tests.change.held import TWO
from tests.change.processes import both_keepers
from tests.lab.sshd import wait_for
from tools.change import Edit
from tools.change.keeper import Keeper
from tools.errors import HostError

BAD = Edit(add=("--no-such-flag",))


def begun(server: StandIn, edit: Edit = TWO, **more: object) -> Keeper:
    keeper = server.keeper()
    status = keeper.begin(server.proposal(edit, **more), "e1", 1)  # type: ignore[arg-type]
    assert status.state == "armed", status.trouble
    return keeper


def kill_the_keeper(server: StandIn) -> None:
    first, second = both_keepers(server.port)
    os.kill(first, signal.SIGKILL)
    wait_for(
        lambda: len(now := keepers(server.port)) == 2 and now[0] == second,
        "the understudy does not take over",
    )


@pytest.mark.parametrize("at", ["armed", "stopping", "stopped", "starting", "ready", "restoring"])
@pytest.mark.parametrize("end", ["kept", "restored"])
def test_the_understudy_goes_on_where_the_keeper_was_killed(
    tmp_path: Path, at: str, end: str
) -> None:
    mood = (
        '{"start_s": 1.0, "on_term": "ignore"}'
        if at in ("stopping", "starting", "restoring")
        else "{}"
    )
    with stand_in(
        tmp_path, "--max-running-requests", "64", "--tp", "2", env={"STAND_IN": mood}
    ) as server:
        before = server.start()
        keeper = begun(server, bounds=BOUNDS.model_copy(update={"stop_s": 1.0}))
        for verb, state, then in ((Keeper.stop, "stopping", "stopped"), (Keeper.start, "starting", "ready"),
                                  (Keeper.restore, "restoring", "restored")):  # fmt: skip
            if at == "armed" and state == "stopping":
                kill_the_keeper(server)
            if state == "restoring" and end == "kept" and at != "restoring":
                keeper.keep()
                until(keeper, "kept")
                break
            verb(keeper)
            if at == state:
                until(keeper, state)
                kill_the_keeper(server)
            until(keeper, then)
            assert len(server.pids()) == (0 if then == "stopped" else 1)
            if at == then:
                kill_the_keeper(server)
        status = keeper.status()
        assert status
        assert any("its understudy goes on" in step for step in status.steps)
        assert server.serves()
        if status.state == "restored":
            assert server.start() == before
        else:
            assert server.info()["max_running_requests"] == 2


def test_a_failure_that_the_keeper_did_not_live_to_undo_is_undone(tmp_path: Path) -> None:
    with stand_in(tmp_path, "--max-running-requests", "64") as server:
        before = server.start()
        keeper = begun(server, BAD)
        keeper.stop()
        until(keeper, "stopped")
        keeper.start()
        os.kill(keepers(server.port)[0], signal.SIGKILL)
        status = until(keeper, "restored")
        assert status.trouble
        assert status.trouble.kind == "unknown_flag"
        assert server.start() == before


def test_a_new_understudy_is_made_when_one_is_killed(tmp_path: Path) -> None:
    with stand_in(tmp_path, "--max-running-requests", "64") as server:
        keeper = begun(server)
        for _ in range(3):
            first, second = both_keepers(server.port)
            os.kill(second, signal.SIGKILL)
            wait_for(
                lambda s=second: len(now := keepers(server.port)) == 2 and s not in now,
                "no new understudy",
            )
            assert keepers(server.port)[0] == first
        keeper.stop()
        until(keeper, "stopped")
        kill_the_keeper(server)
        keeper.restore()
        until(keeper, "restored")
        assert server.serves()


def test_an_understudy_that_died_unseen_takes_nobody_with_it(tmp_path: Path) -> None:
    """What the keeper sends to it next breaks a pipe."""
    with stand_in(tmp_path, "--max-running-requests", "64") as server:
        keeper = begun(server)
        first, second = both_keepers(server.port)
        os.kill(second, signal.SIGSTOP)
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(f"\0perfsleuth-{server.port}")
            line.sendall(b'{"verb": "stop", "name": "e1", "fence": 1}\n')
            time.sleep(0.3)  # it has told the understudy, and waits to hear that it knows
            os.kill(second, signal.SIGKILL)
            assert b'"state": "' in line.recv(1 << 16)
        until(keeper, "stopped")
        wait_for(lambda: len(keepers(server.port)) == 2, "no new understudy")
        assert keepers(server.port)[0] == first


def test_killed_again_and_again_it_still_comes_to_an_end(tmp_path: Path) -> None:
    with stand_in(
        tmp_path, "--max-running-requests", "64", env={"STAND_IN": '{"start_s": 0.5}'}
    ) as server:
        before = server.start()
        keeper = begun(server)
        keeper.stop()
        for _ in range(4):
            kill_the_keeper(server)
        until(keeper, "stopped")
        keeper.restore()
        for _ in range(4):
            kill_the_keeper(server)
        until(keeper, "restored")
        assert server.start() == before


def test_both_killed_leave_a_host_that_says_so_when_it_is_asked(tmp_path: Path) -> None:
    with stand_in(tmp_path, "--max-running-requests", "64") as server:
        keeper = begun(server)
        keeper.stop()
        until(keeper, "stopped")
        for pid in reversed(keepers(server.port)):
            os.kill(pid, signal.SIGSTOP)  # neither may see the other one go
        for pid in keepers(server.port):
            os.kill(pid, signal.SIGKILL)
        wait_for(lambda: not keepers(server.port), "a keeper lives on")
        assert keeper.status() is None
        assert not server.pids(), (
            "the old one was stopped: nobody is left to start it, and that is seen"
        )
        with pytest.raises(HostError, match="look at the host"):
            keeper.restore()


def test_the_end_of_who_asked_is_not_the_end_of_the_keeper(tmp_path: Path) -> None:
    with stand_in(tmp_path, "--max-running-requests", "64") as server:
        keeper = begun(server)
        first, second = both_keepers(server.port)
        groups = {os.getpgid(first), os.getpgid(second)}
        sessions = {os.getsid(first), os.getsid(second), os.getsid(0)}
        assert len(groups) == 2
        assert len(sessions) == 3
        keeper.host.close()
        time.sleep(0.2)
        assert keepers(server.port) == [first, second]


@pytest.mark.parametrize(
    "states", [("armed", "withdrawn"), ("stopped", "restored"), ("ready", "restored")]
)
def test_when_nobody_is_heard_the_old_server_comes_back_by_itself(
    tmp_path: Path, states: tuple[str, str]
) -> None:
    at, end = states
    with stand_in(tmp_path, "--max-running-requests", "64") as server:
        before = server.start()
        keeper = begun(server, bounds=BOUNDS.model_copy(update={"silence_s": 6.0}))
        if at != "armed":
            keeper.stop()
            until(keeper, "stopped")
        if at == "ready":
            keeper.start()
            until(keeper, "ready")
        wait_for(
            lambda: (Keeper(keeper.host, server.port).status() or keeper).state == end,
            "the dead-man sleeps",
        )  # type: ignore[union-attr]
        status = keeper.status()
        assert status
        assert status.trouble
        assert status.trouble.kind == "silence"
        assert "Nobody was heard for 6 s" in status.trouble.sentence
        assert server.start() == before
        assert server.serves()


def test_a_bot_that_speaks_for_ever_does_not_hold_the_host_for_ever(tmp_path: Path) -> None:
    with stand_in(tmp_path, "--max-running-requests", "64") as server:
        before = server.start()
        keeper = begun(server, bounds=BOUNDS.model_copy(update={"whole_s": 5.0}))
        keeper.stop()
        status = until(keeper, "restored")
        assert status.trouble
        assert "the whole change took more than 5 s" in status.trouble.sentence.lower()
        assert server.start() == before


def test_the_understudy_keeps_the_dead_mans_time(tmp_path: Path) -> None:
    with stand_in(tmp_path, "--max-running-requests", "64") as server:
        before = server.start()
        keeper = begun(server, bounds=BOUNDS.model_copy(update={"silence_s": 6.0}))
        keeper.stop()
        until(keeper, "stopped")
        kill_the_keeper(server)
        wait_for(
            lambda: bool(server.pids()) and server.serves(), "the old server does not come back"
        )
        assert server.start() == before
