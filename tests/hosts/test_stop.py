"""A host that is closed while it is asked: what came is kept, nothing there lives on, it can be asked again."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.hosts.asks import Ask
from tests.lab.sshd import Lab, alive, wait_for
from tools.batch import Batch
from tools.host import STOPPED, Command, Host, Output
from tools.hosts.local import LocalHost
from tools.hosts.replay import ReplayHost
from tools.hosts.ssh import SshHost

ENDS_S = 60  # what is asked would go on for two minutes; `make bench` says how soon it really ends
QUICK = Ask("echo", "quick")


@pytest.fixture(params=["ssh", "local"])
def own_host(request: pytest.FixtureRequest, lab: Lab) -> Iterator[Host]:
    host = SshHost("lab", config_file=lab.config) if request.param == "ssh" else LocalHost()
    yield host
    host.close()


class Noted(Ask):
    """It tells that it is being asked."""

    def __init__(self, *argv: str) -> None:
        super().__init__(*argv)
        self.begun = threading.Event()

    def command(self) -> Command:
        self.begun.set()
        return super().command()


class Asking:
    """A batch that is being asked in a thread of its own, and what came of it."""

    def __init__(self, host: Host, *asks: Ask) -> None:
        self.outputs: Sequence[Output] = ()
        self._host, self._asks = host, asks
        self._thread = threading.Thread(target=self._ask, daemon=True)
        self._thread.start()

    def _ask(self) -> None:
        self.outputs = self._host.answer(self._asks)

    def end(self) -> None:
        """Wait for the end."""
        self._thread.join(ENDS_S)
        assert not self._thread.is_alive(), "who asks was never let go"


def slow(note: Path) -> Ask:
    text = f"trap '' TERM HUP INT; sleep 300 & echo $! > {note}.child; echo $$ > {note}; wait; sleep 300"
    return Ask("sh", "-c", text, limit_s=120)


def pids(note: Path) -> list[int]:
    wait_for(lambda: note.exists() and note.read_text().strip(), f"nobody wrote {note}")
    return [int(note.read_text()), int(Path(f"{note}.child").read_text())]


def test_a_stop_keeps_what_came_and_leaves_nothing_behind(
    own_host: Host, tmp_path: Path, batches: list[Batch]
) -> None:
    asking = Asking(own_host, QUICK, slow(tmp_path / "note"))
    numbers = pids(tmp_path / "note")
    wait_for(lambda: len(batches[0]._answers) == 1, "the quick answer does not cross the line")
    assert all(map(alive, numbers))
    own_host.close()
    asking.end()
    wait_for(lambda: not any(map(alive, numbers)), "a process lives on after the stop")
    assert [(output.stdout, output.lost) for output in asking.outputs] == [
        ("quick\n", ""),
        ("", STOPPED),
    ]


def test_who_was_stopped_can_be_asked_again(own_host: Host, tmp_path: Path) -> None:
    asking = Asking(own_host, slow(tmp_path / "note"))
    pids(tmp_path / "note")
    own_host.close()
    own_host.close()
    asking.end()
    assert own_host.answer([QUICK])[0].stdout == "quick\n"


def test_those_who_wait_for_their_turn_are_stopped_too(lab: Lab, tmp_path: Path) -> None:
    with SshHost("lab", config_file=lab.config) as host:
        first = Asking(host, slow(tmp_path / "note"))
        pids(tmp_path / "note")
        quick = Noted("echo", "quick")
        second = Asking(host, quick)
        assert quick.begun.wait(60)
        host.close()
        first.end()
        second.end()
        assert second.outputs[0].lost == STOPPED


def test_a_host_that_never_greets_holds_nobody_who_stops() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        host = SshHost("127.0.0.1", port=port, config_file=Path("/dev/null"), connect_s=300)
        asking = Asking(host, QUICK)
        silent.settimeout(60)
        with silent.accept()[0]:
            host.close()
            asking.end()
        assert asking.outputs[0].lost == STOPPED


def test_a_host_that_nobody_asks_can_be_closed(own_host: Host) -> None:
    own_host.close()
    assert own_host.answer([QUICK])[0].stdout == "quick\n"
    ReplayHost("past", {}).close()
