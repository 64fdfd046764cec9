"""Many hosts at once, bounded: each is looked at once, and each result is told as it comes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext

from bot.health.judges import Aside, Judges
from bot.health.look import look_at
from bot.health.looked import Looked
from bot.settings import Settings
from tools.errors import ToolsError
from tools.host import Host

AT_ONCE = 48  # of a process: most of a look is waiting, and slow hosts must not hold up the others
HOST_S = 45.0  # after which a look is given up: a light batch is bounded by 30 s on the host
Reach = Callable[[str, Settings], Host]
Gate = Callable[[str], AbstractContextManager[None]]
Claim = Callable[[int], Sequence[str]]


@contextmanager
def open_gate(_host: str) -> Iterator[None]:
    """Let everybody through: no host has a limit of its own."""
    yield


def sweep(
    hosts: Sequence[str],
    settings: Settings,
    reach: Reach,
    *,
    at_once: int = AT_ONCE,
    gate: Gate = open_gate,
    stopped: Callable[[], bool] = lambda: False,
) -> Iterator[Looked]:
    """Yield one result for each host, in the order in which they come; see `claimed`."""
    waiting = list(reversed(hosts))

    def claim(count: int) -> Sequence[str]:
        return [waiting.pop() for _ in range(min(count, len(waiting)))]

    yield from claimed(claim, settings, reach, at_once=at_once, gate=gate, stopped=stopped)


def claimed(
    claim: Claim,
    settings: Settings,
    reach: Reach,
    *,
    at_once: int = AT_ONCE,
    gate: Gate = open_gate,
    stopped: Callable[[], bool] = lambda: False,
    aside: Aside = nullcontext,
) -> Iterator[Looked]:
    """Yield results of hosts that are claimed as there is room for them, until there is none to claim.

    `gate` holds back who would be one too many, by jump host or by lease; `stopped` is asked before
    more are claimed, and what is not begun is not told. Where they are more than there is room for,
    other processes judge them; who waits for those does so in `aside()`.
    """
    with Judges(settings, aside) as judges, ThreadPoolExecutor(at_once, "sweep") as pool:
        running: dict[Future[Looked], str] = {}
        while True:
            for name in () if stopped() else claim(at_once - len(running)):
                running[pool.submit(_look, name, settings, reach, gate, judges)] = name
            if len(running) == at_once:
                judges.many()
            if not running:
                return
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for one in done:
                del running[one]
                yield one.result()


def _look(name: str, settings: Settings, reach: Reach, gate: Gate, judges: Judges) -> Looked:
    at = time.time()
    try:
        with gate(name):
            host = reach(name, settings)
            timer = threading.Timer(HOST_S, host.close)
            timer.daemon = True
            timer.start()
            try:
                return look_at(name, host, settings, judges)
            finally:
                timer.cancel()
    except ToolsError as why:
        return Looked.unreachable(name, at, str(why))
