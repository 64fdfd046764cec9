"""Ten minutes of compressed days: questions all day, mornings by a clock that walks through each night, kills."""

from __future__ import annotations

import os
import random
import resource
import time
from datetime import date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from bot.demo import shipped_path
from bot.store import Store
from tests.fakes import FakeSlack, Message
from tests.lab.sshd import Lab
from tests.soak.left_behind import LeftBehind
from tests.soak.replicas import Kills, Replicas
from tests.soak.test_never_twice_never_lost import LIMITS
from tests.soak.threads import kinds

SEED = int(os.environ.get("SOAK_SEED", "23"))
SOAK_S = 600.0
SETTLED_S = 480.0  # what lies, and then all that waited behind it; and a busy machine
# In Morocco two changes of clocks lie five weeks apart: in 2027 02:30 comes twice on 7 February,
# and does not exist on 14 March; 02:00 neither.
ZONE = ZoneInfo("Africa/Casablanca")
MORNINGS = {"02:30": "all", "02:00": "cases"}  # in a channel each; of which hosts
DAYS = [date(2027, 2, 5) + timedelta(days=n) for n in range(39)]
QUESTION = "why is {host} slow? it does 55 tok/s, it was 70"
CASES = 4


def hours_of(day: date) -> list[float]:
    """Return the half hours of a night, midnight to six by the wall; on a change of clocks more, or fewer."""
    at, end = (
        datetime(day.year, day.month, day.day, hour, tzinfo=ZONE).timestamp() for hour in (0, 6)
    )
    return [at + 1800.0 * n for n in range(int((end - at) / 1800.0) + 1)]


def shown(at: float) -> str:
    return datetime.fromtimestamp(at, ZONE).strftime("%H:%M")


class Soak:
    """Ten minutes of it: what was asked, which mornings came, and at what hour."""

    def __init__(self, slack: FakeSlack, folder: Path, url: str, lab: Lab) -> None:
        self.slack, self.chance = slack, random.Random(SEED)
        self.store = Store.open(url)
        self.channels = [slack.world.add_channel(f"team{n}").id for n in range(4)]
        self.mornings = {
            slack.world.add_channel(f"mornings-{n}").id: at for n, at in enumerate(MORNINGS)
        }
        self.left = LeftBehind(url)
        self.fleet = Replicas(slack, folder, url, self._hosts(lab))
        self.kills = Kills(self.fleet, self.left, self.chance)
        self.asked: list[Message] = []

    def _hosts(self, lab: Lab) -> str:
        hosts = LIMITS + f'[hosts.lab]\nssh = "lab"\nssh_config = "{lab.config}"\n'
        for number in range(CASES):
            hosts += (
                f'[hosts.CT{100 + number}]\ncase = "{shipped_path("ct129")}"\ngroups = ["cases"]\n'
            )
        for channel, at in self.mornings.items():
            hosts += f'[[summaries]]\nchannel = "{channel}"\nat = "{at}"\nzone = "{ZONE.key}"\n'
            hosts += f'groups = ["{MORNINGS[at]}"]\n' if MORNINGS[at] != "all" else ""
        return hosts

    def run(self) -> None:
        began = time.monotonic()
        for number, day in enumerate(DAYS):
            self._night(day, began + SOAK_S * number / len(DAYS), SOAK_S / len(DAYS))
        ends_by = time.monotonic() + SETTLED_S
        while not self.settled:
            assert time.monotonic() < ends_by, (self.store.runs.open(), self.left.lying)
            self.kills.tick(kill=False)
            time.sleep(0.2)
        time.sleep(5)  # for a second answer, if there were one

    def _night(self, day: date, from_s: float, lasts_s: float) -> None:
        hours = hours_of(day)
        asks = self.chance.sample(range(len(hours)), 2)
        for place, hour in enumerate(hours):
            self.fleet.set_clock(hour)
            if place in asks:
                self._ask()
            self._until(from_s + lasts_s * (place + 1) / len(hours))
            for channel, at in self.mornings.items():
                early = all(shown(one) < at for one in hours[: place + 1])
                assert not (early and self._came(channel, day)), f"{day} was told before {at}"
        accepted_by = time.monotonic() + 60
        while not all(self._came(channel, day) for channel in self.mornings):
            assert time.monotonic() < accepted_by, f"a morning of {day} never came"
            self._until(time.monotonic() + 0.2)

    def _until(self, when: float) -> None:
        while time.monotonic() < when:
            self.kills.tick()
            time.sleep(0.05)

    def key(self, channel: str, day: date) -> str:
        return f"summary:{channel}:{MORNINGS[self.mornings[channel]]}:{day.isoformat()}"

    def _ask(self) -> None:
        number = len(self.asked)
        host = "lab" if number % 3 == 0 else f"CT{100 + self.chance.randrange(CASES)}"
        channel = self.channels[number % len(self.channels)]
        self.asked.append(self.slack.mention(QUESTION.format(host=host), channel, "sam"))

    def _came(self, channel: str, day: date) -> bool:
        return self.store.runs.by_key(self.key(channel, day)) is not None

    def close(self) -> None:
        self.fleet.close()
        self.left.close()
        self.store.close()

    @property
    def settled(self) -> bool:
        return (
            self.kills.quiet
            and not self.store.runs.open()
            and not self.store.letters.count_open()
            and all(kinds(self.slack, one)["verdict"] for one in self.asked)
        )

    def told(self) -> str:
        """Say in figures what it was."""
        waited_s = [self.slack.replies(one.channel, one.ts)[-1].ts for one in self.asked]
        slowest_s = max(
            float(at) - float(one.ts) for at, one in zip(waited_s, self.asked, strict=True)
        )
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return (
            f"seed {SEED}: {len(DAYS)} days, {dict(self.kills.of)}, {len(self.asked)} questions, the last word on "
            f"one at most {slowest_s:.0f} s after it; gone on with: {self.left.told()}; a replica held up to "
            f"{self.fleet.peak_mb:.0f} MB; {used.ru_utime + used.ru_stime:.0f} s of CPU"
        )
