"""However a person started it: it comes back where it was, writing to where it wrote."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.change.engine import StandIn, keepers, stand_in, until
from tests.lab.sshd import of_processes, wait_for
from tools.change import Edit
from tools.change.keeper import Keeper

TWO = Edit(drop=("--max-running-requests",), add=("--max-running-requests", "2"))


def changed(server: StandIn, edit: Edit = TWO) -> Keeper:
    keeper = server.keeper()
    status = keeper.begin(server.proposal(edit), "e1", 1)
    assert status.state == "armed", status.trouble
    keeper.stop()
    until(keeper, "stopped")
    keeper.start()
    until(keeper, "ready", "restored")
    return keeper


def streams(pid: int) -> list[str]:
    return [str(Path(f"/proc/{pid}/fd/{number}").readlink()) for number in range(3)]


@pytest.mark.parametrize("how", ["nohup", "script", "tmux", "tmux-shell", "screen", "screen-shell"])
def test_it_comes_back_however_it_was_started(tmp_path: Path, how: str) -> None:
    with stand_in(tmp_path, "--max-running-requests", "64", how=how) as server:
        before, out = server.start(), streams(server.pid)
        keeper = changed(server)
        assert server.info()["max_running_requests"] == 2
        assert how in ("screen", "tmux") or streams(server.pid) == out
        assert "/dev/null" not in streams(server.pid)[1:]
        if how == "tmux":
            assert server.tmux(
                "display-message", "-p", "-t", server.session, "#{pane_pid}"
            ).strip() == str(server.pid)
        keeper.restore()
        until(keeper, "restored")
        assert server.start() == before
        assert how in ("screen", "tmux") or streams(server.pid) == out
        assert server.serves()
        if how.startswith("tmux"):
            pane = ("capture-pane", "-p", "-S", "-", "-t", server.session)
            wait_for(lambda: "ready to roll" in server.tmux(*pane), "the pane does not show it")
        if how == "script":
            assert "script over" in server.text()


@pytest.mark.parametrize("how", ["tmux", "tmux-shell"])
@pytest.mark.parametrize("said", [0, 5, 60])
def test_what_the_old_server_said_in_a_pane_is_not_of_the_new_ones_log(
    tmp_path: Path, how: str, said: int
) -> None:
    with stand_in(tmp_path, "--max-running-requests", "64", how=how) as server:
        with Path(streams(server.pid)[1]).open("w") as pane:
            pane.writelines(f"old line {n}\n" for n in range(said))
        keeper = changed(server)
        wait_for(
            lambda: "ready to roll" in "\n".join(keeper.log(4000)), "the pane does not show it"
        )
        log = keeper.log(4000)
        assert [
            line for line in log if "old line" in line or "'max_running_requests': 64" in line
        ] == []
        assert len([line for line in log if "server_args=" in line]) == 1


def test_a_pane_that_is_the_servers_own_shows_why_the_new_one_did_not_start(tmp_path: Path) -> None:
    with stand_in(tmp_path, "--max-running-requests", "64", how="tmux") as server:
        before = server.start()
        keeper = changed(server, Edit(add=("--no-such-flag",)))
        status = until(keeper, "restored")
        assert status.trouble
        assert status.trouble.kind == "unknown_flag"
        assert server.start() == before
        wait_for(
            lambda: not server.tmux("show-options", "-p", "-t", server.session),
            "the pane's settings were left changed",
        )


@pytest.mark.parametrize("how", ["tmux", "screen"])
def test_a_keeper_that_was_killed_brings_it_back_into_the_terminal_too(
    tmp_path: Path, how: str
) -> None:
    with stand_in(tmp_path, "--max-running-requests", "64", how=how) as server:
        before = server.start()
        keeper = server.keeper()
        keeper.begin(server.proposal(TWO), "e1", 1)
        keeper.stop()
        until(keeper, "stopped")
        os.kill(keepers(server.port)[0], signal.SIGKILL)
        keeper.start()
        until(keeper, "ready")
        keeper.restore()
        until(keeper, "restored")
        assert server.start() == before
        assert server.serves()


def test_a_terminal_that_closed_meanwhile_does_not_keep_the_server_from_coming_back(
    tmp_path: Path,
) -> None:
    with stand_in(tmp_path, "--max-running-requests", "64", how="tmux-shell") as server:
        before = server.start()
        keeper = changed(server)
        pane = Path(streams(server.pid)[1])
        server.tmux("kill-server")
        wait_for(lambda: not pane.exists(), "the pane lives on")
        keeper.restore()
        until(keeper, "restored")
        assert server.start() == before
        assert streams(server.pid) == ["/dev/null"] * 3
        assert server.serves()


class Piped(StandIn):
    """Its output goes through a program: `server | tee log`, or where `to` says."""

    to = "2>&1 | tee -a {log} > /dev/null"

    def launch(self) -> None:
        words = " ".join(f"'{word}'" for word in self.argv)
        line = f"{words} {self.to.format(log=self.log, folder=self.folder)} &"
        subprocess.run(
            ["bash", "-c", line],
            env=self.environ,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            check=True,
        )


def test_a_pipe_to_tee_stays_open_as_long_as_it_is_needed_and_not_longer(tmp_path: Path) -> None:
    server = Piped(tmp_path, "--max-running-requests", "64")
    try:
        out = streams(server.pid)[1]
        reader = next(pid for pid in readers_of(out) if pid != server.pid)
        keeper = changed(server)
        assert streams(server.pid)[1] == out
        keeper.restore()
        until(keeper, "restored")
        wait_for(lambda: server.text().count("ready to roll") == 3, "tee does not write it")
        os.kill(server.pid, signal.SIGKILL)
        wait_for(lambda: reader not in readers_of(out), "the keeper holds the pipe for ever")
        assert keepers(server.port)
    finally:
        server.clear()


def readers_of(pipe: str) -> list[int]:
    found = []
    for path in of_processes("fd/0"):
        try:
            if str(path.readlink()) == pipe:
                found.append(int(path.parts[2]))
        except OSError:
            continue
    return found


@pytest.mark.parametrize(
    ("to", "append"), [(">> {log} 2>&1", True), ("> {log} 2>&1", False), ("> {log} 2> {folder}/err", False), ("> {log} 2>> {log}", None)]
)  # fmt: skip
def test_a_log_is_gone_on_with_and_never_cut(tmp_path: Path, to: str, append: bool | None) -> None:
    server = type("Own", (Piped,), {"to": to})(tmp_path, "--max-running-requests", "64")
    try:
        flags = [flags_of(server.pid, fd) for fd in (1, 2)]
        keeper = changed(server)
        assert [flags_of(server.pid, fd) for fd in (1, 2)] == flags
        assert append is None or bool(flags[0] & os.O_APPEND) == append
        assert "ready to roll" in "\n".join(keeper.log(100))
        keeper.restore()
        until(keeper, "restored")
        assert server.text().count("ready to roll") == 3
        assert "\0" not in server.text()
    finally:
        server.clear()


def flags_of(pid: int, fd: int) -> int:
    text = Path(f"/proc/{pid}/fdinfo/{fd}").read_text()
    return int(text.split("flags:")[1].split()[0], 8) & ~os.O_CLOEXEC & ~os.O_NOCTTY


def test_a_log_that_was_moved_away_is_still_the_one_that_is_written(tmp_path: Path) -> None:
    with stand_in(tmp_path, "--max-running-requests", "64") as server:
        moved = server.log.rename(tmp_path / "serve.log.1")
        keeper = changed(server)
        assert moved.read_text().count("ready to roll") == 2
        assert not server.log.exists()
        assert keeper.log(5)


def test_output_into_a_socket_cannot_be_given_back_and_is_refused_before(tmp_path: Path) -> None:
    class Wired(StandIn):
        def launch(self) -> None:
            import socket

            self.mine, its = socket.socketpair()
            self.process = subprocess.Popen(
                self.argv,
                env=self.environ,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=its,
                stderr=its,
            )
            its.close()

        def text(self) -> str:
            return ""

    server = Wired(tmp_path)
    try:
        first = server.pid
        status = server.keeper().begin(server.proposal(TWO), "e1", 1)
        assert status.state == "withdrawn"
        assert status.trouble
        assert (
            status.trouble.sentence
            == "Its output goes into a socket, which cannot be opened again."
        )
        assert server.pid == first
    finally:
        server.clear()
        server.process.wait()
        server.mine.close()
