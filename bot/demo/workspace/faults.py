"""Faults on demand: what goes wrong with the next calls, with every n-th, or for a while."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["ratelimited", "error", "status", "hang", "drop_before", "drop_after"]


@dataclass(frozen=True)
class Fault:
    """One way for a call to go wrong.

    `ratelimited`: 429 with Retry-After `seconds`; `error`: 200 with `word`; `status`: an HTML page with `code`;
    `hang`: no answer for `seconds`, then the connection is cut, nothing done; `drop_before` and `drop_after`:
    the connection is cut before, or after, it was done.
    """

    kind: Kind
    seconds: float = 1.0
    word: str = "internal_error"
    code: int = 503


@dataclass
class Faults:
    """Asked once for each call of a method (uploads are `upload`, downloads `download`)."""

    queued: dict[str, deque[Fault]] = field(default_factory=dict)
    nth: list[tuple[int, Fault, frozenset[str]]] = field(default_factory=list)
    hits: int = 0
    out_until: float = 0.0
    out_how: Fault = field(default_factory=lambda: Fault("status", code=503))
    cut_sent: int = 0
    cut_nth: int = 0
    _counts: dict[int, int] = field(default_factory=dict)

    def next(
        self,
        method: str,
        kind: Kind,
        *,
        times: int = 1,
        seconds: float = 1.0,
        word: str = "",
        code: int = 503,
    ) -> None:
        """The next `times` calls of `method` ("*": of any) go wrong in this way."""
        fault = Fault(kind, seconds, word or "internal_error", code)
        self.queued.setdefault(method, deque()).extend([fault] * times)

    def every(
        self,
        n: int,
        kind: Kind,
        *,
        methods: tuple[str, ...] = (),
        seconds: float = 1.0,
        code: int = 503,
    ) -> None:
        """Every n-th call goes wrong, of these methods or of all."""
        self.nth.append((n, Fault(kind, seconds, code=code), frozenset(methods)))

    def outage(self, seconds: float, kind: Kind = "status") -> None:
        """From now on every call, and every new socket, is refused for so long."""
        self.out_until = time.monotonic() + seconds
        self.out_how = Fault(kind)

    def over(self) -> None:
        """No more faults."""
        self.queued.clear()
        self.nth.clear()
        self.out_until = 0.0
        self.cut_nth = 0

    @property
    def is_out(self) -> bool:
        """Is there an outage now?"""
        return time.monotonic() < self.out_until

    def cut_socket_every(self, n: int) -> None:
        """After every n-th envelope the socket is reset, whether or not the app has read it. 0: never."""
        self.cut_nth = n

    def cuts_socket(self) -> bool:
        """Asked once for each envelope that was sent."""
        self.cut_sent += 1
        return bool(self.cut_nth) and self.cut_sent % self.cut_nth == 0

    def take(self, method: str) -> Fault | None:
        """What goes wrong with this call; None: nothing."""
        if self.is_out:
            self.hits += 1
            return self.out_how
        for name in (method, "*"):
            if self.queued.get(name):
                self.hits += 1
                return self.queued[name].popleft()
        for number, (n, fault, methods) in enumerate(self.nth):
            if methods and method not in methods:
                continue
            self._counts[number] = self._counts.get(number, 0) + 1
            if self._counts[number] % n == 0:
                self.hits += 1
                return fault
        return None
