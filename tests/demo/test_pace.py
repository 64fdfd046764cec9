"""The pace of the demo: looks come one after the other, and a stop ends the waiting."""

from __future__ import annotations

import threading
import time

from bot.audience import Nobody
from bot.demo import shipped, shipped_path
from bot.demo.pace import SHORTEST_S, Pace
from bot.investigate import Event, Learned
from bot.settings import HostSettings, Settings
from bot.store.run import Run
from tools.probes import PROBES

KNOWN = Settings(hosts={"CT129": HostSettings(case=shipped_path())})
RUN = Run(1, "k", "host", "running", "CT129", None, "C1", "1.0", "U1", "", "", 0.0)
LOOKS = [Learned(look) for look in shipped().evidence(PROBES)]


class Told(Nobody):
    def __init__(self) -> None:
        self.events: list[Event] = []

    def tell(self, run: Run, event: Event) -> None:
        self.events.append(event)


def test_a_look_comes_after_its_time_and_not_before() -> None:
    pace, told = Pace(), Told()
    pace.host_of("CT129", KNOWN)
    began = time.monotonic()
    pace.watched_by(told).tell(RUN, LOOKS[0])
    assert time.monotonic() - began >= SHORTEST_S
    assert told.events == [LOOKS[0]]


def test_a_stop_ends_the_waiting_and_loses_no_look() -> None:
    pace, told = Pace(10_000), Told()  # at this pace a single look takes 25 minutes
    host = pace.host_of("ct129", KNOWN)
    audience = pace.watched_by(told)
    work = threading.Thread(target=lambda: [audience.tell(RUN, look) for look in LOOKS])
    work.start()
    host.close()
    work.join(60)
    assert not work.is_alive()
    assert told.events == LOOKS


def test_a_run_without_a_host_is_not_slowed() -> None:
    told = Told()
    began = time.monotonic()
    Pace(10_000).watched_by(told).tell(RUN, LOOKS[0])
    assert time.monotonic() - began < 60, "at this pace a single look takes 25 minutes"
