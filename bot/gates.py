"""The gates: so many are asked through one jump host at a time, over all replicas."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bot.settings import Settings
from bot.store import Store
from tools.errors import ToolsError, Unreachable

WAIT_S = 600.0  # longer than any batch: who waits that long stands behind something broken
_AGAIN_S, _LONGEST_S = 0.05, 1.0
_LOG = logging.getLogger("perfsleuth.work")
JumpOf = Callable[[str, Settings], str]


def jump_of(name: str, settings: Settings) -> str:
    """Return the jump host through which OpenSSH would reach a host, or ""; raises Unreachable."""
    told = settings.host(name)
    if told.case or told.local or name in ("local", "localhost"):
        return ""
    from tools.hosts.ssh import SshHost

    return SshHost(told.ssh or name, name=name, config_file=told.ssh_config).route().jump


class Gates:
    """Thread-safe. A route is resolved once for each host and process.

    A thread that is through is through: whoever asks a host inside a gate takes no second place.
    """

    def __init__(
        self,
        store: Store,
        settings: Settings,
        jump: JumpOf = jump_of,
        *,
        wait_s: float = WAIT_S,
    ) -> None:
        self._store, self._settings, self._jump = store, settings, jump
        self._wait_s = wait_s
        self._known: dict[str, str] = {}
        self._ended = threading.Event()
        self._inside = threading.local()

    @contextmanager
    def through(self, host: str) -> Iterator[None]:
        """Wait for a place at the jump host of a host, and hold it; raises Unreachable or StoreError."""
        jump = self._jump_of(host)
        if not jump or getattr(self._inside, "jump", None) == jump:
            yield
            return
        number = self._taken(jump)
        self._inside.jump = jump
        try:
            yield
        finally:
            self._inside.jump = None
            try:
                self._store.places.give_back(number)
            except ToolsError as why:  # it runs out by itself
                _LOG.warning("the place at %s is given back later: %s", jump, why)

    def close(self) -> None:
        """Let nobody wait any longer."""
        self._ended.set()

    def _jump_of(self, host: str) -> str:
        if host not in self._known:
            self._known[host] = self._jump(host, self._settings)
        return self._known[host]

    def _taken(self, jump: str) -> int:
        room, pause_s = self._settings.limits.per_jump, _AGAIN_S
        until = time.monotonic() + self._wait_s
        while (number := self._store.places.take(f"jump {jump}", room)) is None:
            if time.monotonic() > until or self._ended.wait(pause_s):
                raise Unreachable(
                    f"{room} others are asked through {jump}, and none of them came to an end"
                )
            pause_s = min(2 * pause_s, _LONGEST_S)
        return number
