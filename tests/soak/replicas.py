"""Three replicas of the bot on one PostgreSQL, killed at random and at the worst moments, which come back."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from bot.work.work import RESTARTS
from tests.fakes import FakeSlack
from tests.fakes.process import BotProcess
from tests.soak.left_behind import Kind, LeftBehind, Piece, kinds_of

REPLICAS = 3
ROOT = Path(__file__).parents[2]
KILL_S = (4.0, 14.0)  # between two kills
HUNT_S = 8.0  # how long at most somebody who is at work is waited for
DOWN_S = (
    (1.0, 20.0),
    (45.0, 75.0),
)  # until it is started again: before it is missed, or long after
HUNTED: tuple[Kind | None, ...] = ("letter", "run", None)  # by what it is at; None: whoever it is


class Replicas:
    """The processes; their names are bot-0, bot-1 ... Their mornings follow the file `clock`."""

    def __init__(self, slack: FakeSlack, folder: Path, url: str, hosts: str) -> None:
        self.clock = folder / "clock"
        self.bots: dict[str, BotProcess] = {}
        self.peak_mb = 0.0
        self.set_clock(0.0)
        for name in (f"bot-{number}" for number in range(REPLICAS)):
            place = folder / name
            place.mkdir()
            self.bots[name] = BotProcess(
                slack,
                place,
                hosts,
                module="tests.soak.bot_on_a_clock",
                PERFSLEUTH_DATABASE_URL=url,
                PERFSLEUTH_EXECUTOR=name,
                SOAK_CLOCK=str(self.clock),
                PYTHONPATH=str(ROOT),
            )

    def set_clock(self, now: float) -> None:
        """Set it in one step: a replica that reads it meanwhile sees one time or the other."""
        new = self.clock.with_suffix(".new")
        new.write_text(str(now))
        new.rename(self.clock)

    def start(self) -> None:
        for name, bot in self.bots.items():
            before = self.ups(name)
            bot.start(wait=False)
            bot.slack.until(lambda: self.ups(name) > before, 120)  # noqa: B023 - called at once

    def ups(self, name: str) -> int:
        """Count how often it came up."""
        bot = self.bots[name]
        return bot.log.count(" up: @") if bot.log_file.exists() else 0

    def dead(self) -> set[str]:
        """Return who is no process at the moment."""
        return {n for n, bot in self.bots.items() if bot.process and bot.process.poll() is not None}

    def kill(self, name: str) -> None:
        """SIGKILL: it says nothing, ends nothing, gives nothing back."""
        self.peak_mb = max(self.peak_mb, self.bots[name].peak_mb())
        self.bots[name].kill()

    def close(self) -> None:
        for name, bot in self.bots.items():
            if bot.process and bot.process.poll() is None:
                self.kill(name)


def _worn(pieces: Iterable[Piece]) -> bool:
    """Say whether somebody is at a run that is given up when it ends one more process: who hunts runs finds one often."""
    return any(one.kind == "run" and one.mark == f"running{RESTARTS - 1}" for one in pieces)


@dataclass
class Kills:
    """Kills, and starts again; `tick` is called often. One replica is always left alive."""

    fleet: Replicas
    left: LeftBehind
    chance: random.Random
    of: Counter[str] = field(default_factory=Counter)  # what those who were killed were at
    _hunted: Kind | None = None
    _next: float = 0.0
    _down: dict[str, tuple[float, int]] = field(default_factory=dict)  # until when; ups by then

    def tick(self, *, kill: bool = True) -> None:
        now = time.monotonic()
        for name, (until, _) in self._down.items():
            bot = self.fleet.bots[name]
            if until <= now and bot.process and bot.process.poll() is not None:
                bot.start(wait=False)
        for name, (until, ups) in list(self._down.items()):
            if until <= now and self.fleet.ups(name) > ups:
                del self._down[name]
        self.left.look(now, self.fleet.dead())
        if kill and now >= self._next and (victim := self._victim(now)):
            self._kill(victim, now)

    @property
    def quiet(self) -> bool:
        """Say whether all are up, and nothing that a killed one was at lies about."""
        return not self._down and not self.left.lying

    def _victim(self, now: float) -> str | None:
        """Return who is killed now; None: nobody yet."""
        held = self.left.held()
        up = [name for name in self.fleet.bots if name not in self._down]
        if len(up) < 2 or not (up := [name for name in up if not _worn(held[name])]):
            return None
        if self._hunted is None:
            return self.chance.choice(up)
        if at_it := [name for name in up if self._hunted in kinds_of(held[name])]:
            return self.chance.choice(at_it)
        return self.chance.choice(up) if now > self._next + HUNT_S else None

    def _kill(self, victim: str, now: float) -> None:
        self.fleet.kill(victim)
        self._down[victim] = (
            now + self.chance.uniform(*self.chance.choice(DOWN_S)),
            self.fleet.ups(victim),
        )
        self.of["kills"] += 1
        for kind in kinds_of(self.left.died(victim, now)) or {"nothing"}:
            self.of[f"at a {kind}" if kind != "nothing" else "at nothing"] += 1
        self._next = now + self.chance.uniform(*KILL_S)
        self._hunted = self.chance.choice(HUNTED)
