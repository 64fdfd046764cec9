"""Ctrl-C comes at any moment, also while what it would end holds its lock."""

from __future__ import annotations

import signal
import threading
from typing import cast

from bot.experiment.on_host import OnHost
from bot.trying.carried import _Stop
from tests.lab.sshd import wait_for


class Locked:
    """Hands that need a lock to be closed."""

    def __init__(self) -> None:
        self.lock, self.closed = threading.Lock(), list[bool]()

    def close(self) -> None:
        self.closed.append(self.lock.acquire(timeout=10))


def test_what_is_interrupted_goes_on_and_is_closed_when_its_lock_is_free() -> None:
    hands = Locked()
    stop = _Stop(cast("OnHost", hands), "me")
    with hands.lock:
        stop(signal.SIGINT, None)
        assert stop.by == "me"
    wait_for(lambda: hands.closed, "nothing is closed")
    assert hands.closed == [True]


def test_without_ctrl_c_nothing_is_closed_at_the_end() -> None:
    hands = Locked()
    stop = _Stop(cast("OnHost", hands), "me")
    stop.end()
    wait_for(
        lambda: "perfsleuth-stop" not in {one.name for one in threading.enumerate()}, "it waits on"
    )
    assert not hands.closed
