"""A store, a desk and a worker in one process: what people say goes in, letters come out."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bot.demo import shipped
from bot.desk.desk import Desk
from bot.investigate import Event
from bot.letter import Letter
from bot.message import GivenFile, Message
from bot.narrator import Line, Table
from bot.settings import Access, HostSettings, Limits, Settings
from bot.store import Run, Store
from bot.work import Fetched, Work
from tools.errors import Unreachable
from tools.host import Asks, Host, Output
from tools.hosts.replay import ReplayHost
from tools.probes import PROBES


class Replayed(ReplayHost):
    """A host of the past that counts what it is asked, and can do something before each round."""

    def __init__(self, name: str, case: str, before: Callable[[int], None]) -> None:
        looks = shipped(case).evidence(PROBES)
        super().__init__(
            name, {look.probe.key: look.output for look in looks if look.probe and look.output}
        )
        self.asked: list[str] = []
        self.rounds, self.closed, self._before = 0, 0, before

    def answer(self, probes: Sequence[Asks], /) -> Sequence[Output]:
        self.rounds += 1
        self._before(self.rounds)
        self.asked += [type(probe).__name__ for probe in probes]
        return super().answer(probes)

    def close(self) -> None:
        self.closed += 1


@dataclass
class Watching:
    """An audience that writes down what it is told."""

    events: list[tuple[int, Event]] = field(default_factory=list)
    began_with: list[tuple[int, int]] = field(default_factory=list)
    over: list[int] = field(default_factory=list)

    def began(self, run: Run, looks: int) -> None:
        self.began_with.append((run.id, looks))

    def tell(self, run: Run, event: Event) -> None:
        self.events.append((run.id, event))

    def ended(self, run: Run) -> None:
        self.over.append(run.id)

    def letters(self) -> None:
        return


class Everybody:
    """A workspace where EVE is from elsewhere."""

    def members(self, group_id: str, /) -> frozenset[str]:
        return frozenset({"UOPS"}) if group_id == "SOPS" else frozenset()

    def stranger(self, user: str, /) -> bool:
        return user == "UEVE"


class Room:
    """All parts but Slack. `work()` carries out what was enqueued, in order, until nothing is left."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        hosts = settings.pop("hosts", ("CT129", "CT130"))
        self.settings = Settings(
            hosts={name: HostSettings(local=True, **settings.get(name, {})) for name in hosts},
            access=Access(**settings.get("access", {})),
            limits=Limits(**settings.get("limits", {})),
        )
        self.store = Store.open(f"sqlite:///{folder / 'store.sqlite'}")
        self.watching = Watching()
        self.queue: list[Run] = []
        self.hosts: list[Replayed] = []
        self.before: Callable[[int], None] = lambda _round: None
        self.fetched = Fetched()
        self.unreachable = ""
        self.cases: dict[str, str] = {}  # whose answers stand for a host's; else its own
        self.more: dict[
            str, Output
        ] = {}  # answers beside those of the case, by the key of the question
        self.hands: list[Any] = []  # of experiments; none: they are not carried out here
        self.worker = Work(
            self.store,
            self.settings,
            self.watching,
            self._reach,
            fetch=lambda _message: self.fetched,
            names={"USAM": "sam", "UANA": "ana"}.get,  # type: ignore[arg-type]
            on_host=lambda host: self.hands[-1],
        )
        self.worker.enqueue = self.queue.append
        self.desk = Desk(
            self.store,
            self.settings,
            self.queue.append,
            Everybody(),
            self.watching,
            names=lambda user: {"USAM": "sam", "UANA": "ana"}.get(user, ""),
        )
        self._number = itertools.count(1)

    def _reach(self, name: str, _settings: Settings) -> Host:
        if self.unreachable:
            return _Dead(name, self.unreachable)  # type: ignore[return-value]
        host = Replayed(
            name, self.cases.get(name, name.lower()), lambda number: self.before(number)
        )
        host._answers |= self.more
        self.hosts.append(host)
        return host

    def say(
        self,
        text: str = "",
        user: str = "USAM",
        thread: str = "",
        channel: str = "CGPU",
        **more: Any,
    ) -> str:
        """Let somebody write, and return the ts of the message."""
        ts = f"1700000000.{next(self._number):06d}"
        message = Message(
            channel=channel, ts=ts, thread=thread or ts, user=user, text=text,
            **{"files": (), "pasted": ()} | more,
        )  # fmt: skip
        self.desk.hear(message, f"msg:{message.key}")
        return ts

    def upload(self, *paths: Path, text: str = "", **more: Any) -> str:
        self.fetched = Fetched(paths=paths)
        files = tuple(GivenFile(id=f"F{n}", name=path.name) for n, path in enumerate(paths))
        return self.say(text, files=files, **more)

    def press(
        self,
        button: Any,
        run_id: int,
        thread: str,
        user: str = "USAM",
        name: str = "",
        channel: str = "CGPU",
        **more: Any,
    ) -> None:
        name = name or f"act:{next(self._number)}"
        self.desk.press(button, run_id, user, channel, thread, name, **more)

    def work(self) -> None:
        while self.queue:
            self.worker.carry_out(self.queue.pop(0).id)

    def letters(self, thread: str = "", kind: str = "") -> list[Letter]:
        """Return what is to be delivered, oldest first."""
        due = [due.letter for due in self.store.letters.due(10_000)]
        return [
            one for one in due
            if (not thread or one.thread == thread) and (not kind or one.kind == kind)
        ]  # fmt: skip

    def said(self, thread: str = "") -> list[str]:
        """Return each letter as text, without files and the ends of trails."""
        return [text_of(one) for one in self.letters(thread) if one.parts]

    def runs(self) -> list[Run]:
        return [run for n in range(1, 200) if (run := self.store.runs.get(n))]


class _Dead:
    """A host that nobody reaches."""

    def __init__(self, name: str, why: str) -> None:
        self.name, self._why = name, why

    def answer(self, probes: Sequence[Asks], /) -> Sequence[Output]:
        raise Unreachable(self._why)

    def close(self) -> None:
        return


def text_of(letter: Letter) -> str:
    return "\n".join(_text(part) for part in letter.parts)


def _text(part: Line | Table) -> str:
    return part.text if isinstance(part, Line) else str(part.rows)


@pytest.fixture
def make_room(tmp_path: Path) -> Iterator[Callable[..., Room]]:
    rooms: list[Room] = []

    def make(**settings: Any) -> Room:
        rooms.append(Room(tmp_path, **settings))
        return rooms[-1]

    yield make
    for room in rooms:
        room.store.close()


@pytest.fixture
def room(make_room: Callable[..., Room]) -> Room:
    return make_room()
