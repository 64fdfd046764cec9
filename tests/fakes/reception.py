"""The bot's front over a fake Slack, with a desk that only writes down what it is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.access import Access
from bot.desk.health_orders import HealthOrders
from bot.message import Message
from bot.settings import HostSettings, Service, Settings
from bot.slack.api.introduce import client_of, introduce
from bot.slack.api.wire import Wire
from bot.slack.reception.app import build
from bot.slack.reception.catch_up import CatchUp
from bot.slack.reception.ears import Ears
from bot.slack.reception.front import Front
from bot.slack.reception.groups import SlackGroups
from bot.slack.reception.home import Home
from bot.slack.reception.http import Http
from bot.slack.reception.intake import Intake
from bot.slack.reception.perf import Perf
from bot.slack.reception.reason import Reasons
from bot.slack.reception.seen_by import SeenBy
from bot.slack.reception.socket import Socket
from bot.store import Store
from tests.fakes import Workspace

SETTINGS = Settings(hosts={"CT129": HostSettings(local=True), "CT130": HostSettings(local=True)})


@dataclass
class Notes:
    """A desk that writes down; `fault` is raised instead, as often as `faults` says."""

    heard: list[tuple[Message, str]] = field(default_factory=list)
    pressed: list[tuple[Any, ...]] = field(default_factory=list)
    stopped: list[tuple[str, str, str]] = field(default_factory=list)
    fault: Exception | None = None
    faults: int = 0
    store: Store | None = None

    def hear(self, message: Message, incoming_id: str) -> None:
        if self.faults:
            self.faults -= 1
            assert self.fault
            raise self.fault
        if self.store:  # as the desk does, so that the thread is known
            self.store.runs.add(
                message.key,
                "host",
                host="CT129",
                channel=message.channel,
                thread=message.thread,
                user=message.user,
                text=message.text,
            )
        self.heard.append((message, incoming_id))  # last: who waits for it finds the run

    def press(
        self,
        button: str,
        run_id: int,
        user: str,
        channel: str,
        thread: str,
        incoming_id: str,
        *,
        right: bool | None = None,
        reason: str = "",
        shown: str = "",
        host: str = "",
    ) -> None:
        more = [one for one in (shown, host) if one]
        self.pressed.append((button, run_id, user, channel, thread, right, reason, *more))

    def stop(self, channel: str, thread: str, user: str, incoming_id: str) -> None:
        self.stopped.append((channel, thread, user))

    def texts(self) -> list[str]:
        return [message.text for message, _ in self.heard]


@dataclass
class Reception:
    """All that a test may look at."""

    desk: Notes
    store: Store
    front: Front
    intake: Intake
    ears: Ears
    catch_up: CatchUp
    wire: Wire
    groups: SlackGroups
    door: Socket | Http


@asynccontextmanager
async def reception(
    slack: Workspace, folder: Path, settings: Settings = SETTINGS, *, http: bool = False
) -> AsyncIterator[Reception]:
    """Open the front against the workspace."""
    service = Service.load(
        {**slack.environment(), "PERFSLEUTH_DATABASE_URL": f"sqlite:///{folder / 'bot.sqlite'}"}
    )
    store = Store.open(service.database_url, executor=service.executor)
    us = await introduce(service)
    wire = Wire(client_of(service))
    groups = SlackGroups(wire, us, asyncio.get_running_loop())
    access = Access(settings, groups)
    seen_by = SeenBy(store, settings, access)
    perf = Perf(seen_by, HealthOrders(store, settings, access, lambda _run: None))
    desk = Notes(store=store)
    home = Home(store, wire, seen_by)
    front = Front(store, desk, wire, home, lambda: None, learn=groups.learn)  # type: ignore[arg-type]
    ears = Ears(store)
    intake = Intake(store, us, ears, front.apologise, groups.foresee)
    app = build(service, us, intake, front, perf, Reasons(wire))
    catch_up = CatchUp(store, wire, us, intake, ears, front.take_up)
    door: Socket | Http
    door = (
        Http(app, "127.0.0.1", 0, slack.settings.signing_secret)
        if http
        else Socket(app, slack.settings.app_token, catch_up.want)
    )
    await door.open()
    looking = asyncio.create_task(catch_up.run())
    try:
        yield Reception(desk, store, front, intake, ears, catch_up, wire, groups, door)
    finally:
        await intake.close()
        await door.close()
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)
        await front.close()
        await wire.close()
        store.close()


def play(
    folder: Path,
    scene: Callable[[Workspace, Reception], Awaitable[None]],
    *,
    settings: Settings = SETTINGS,
    http: bool = False,
    **named: Any,
) -> None:
    """Play a scene between people and the front, in a loop of its own; `named` is the workspace's."""

    async def scenery() -> None:
        async with (
            Workspace(**named) as slack,
            reception(slack, folder, settings, http=http) as bot,
        ):
            if not http:
                await slack.connected()
            await scene(slack, bot)

    asyncio.run(scenery())
