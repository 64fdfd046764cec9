"""All parts of the bot in Slack, opened in their order, drained and closed in the other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from time import time

from slack_bolt.app.async_app import AsyncApp

from bot.access import Access
from bot.approvals import Approvals
from bot.audience import Audience
from bot.desk.desk import Desk
from bot.desk.health_orders import HealthOrders
from bot.experiment.on_host import OnHost
from bot.jobs import Jobs
from bot.offers import expire
from bot.reach import reach
from bot.replica import Replica
from bot.settings import Service, Settings
from bot.slack.api.introduce import client_of
from bot.slack.api.us import Us
from bot.slack.api.wire import Wire
from bot.slack.delivery.courier import Courier
from bot.slack.delivery.postman import Postman
from bot.slack.delivery.trail import Trails
from bot.slack.reception.app import build
from bot.slack.reception.catch_up import CatchUp
from bot.slack.reception.ears import Ears
from bot.slack.reception.files import fetcher
from bot.slack.reception.front import Front
from bot.slack.reception.groups import SlackGroups
from bot.slack.reception.home import Home
from bot.slack.reception.http import Http
from bot.slack.reception.intake import Intake
from bot.slack.reception.perf import Perf
from bot.slack.reception.reason import Reasons
from bot.slack.reception.seen_by import SeenBy
from bot.slack.reception.shelf import Shelf
from bot.slack.reception.socket import Socket
from bot.slack.tending import DAY_S, reconcile, tend
from bot.threads import Threads
from bot.work.due import Summaries
from bot.work.experiments import OnIt
from bot.work.helping import Helping
from bot.work.work import Work
from tools.host import Host

ANNOUNCED_S = 2.0  # work waits no longer for its first message: Slack may be away
FLUSH_S = 5.0  # for what is ready to be said when the bot ends
SETTLE_S = 5.0  # for calls in threads that nobody awaits any more; the store is closed after them
Reach = Callable[[str, Settings], Host]
Watched = Callable[[Audience], Audience]


def as_it_is(audience: Audience) -> Audience:
    """Let whoever watches see at once what happens."""
    return audience


@dataclass
class Office:
    """What must be stopped in order. `close` runs once, after `drain` or without it."""

    replica: Replica
    jobs: Jobs
    courier: Courier
    intake: Intake
    front: Front
    door: Socket | Http
    helping: Helping
    tasks: list[asyncio.Task[None]]

    @property
    def mode(self) -> str:
        """Say how it listens."""
        return "Socket Mode" if isinstance(self.door, Socket) else f"HTTP on port {self.door.port}"

    async def until(self, stop: asyncio.Event) -> None:
        """Return when `stop` is set; raise what ended a part that should never end."""
        stopped = asyncio.create_task(stop.wait())
        try:
            done, _ = await asyncio.wait(
                {stopped, *self.tasks}, return_when=asyncio.FIRST_COMPLETED
            )
            for task in done - {stopped}:
                task.result()
        finally:
            stopped.cancel()

    async def drain(self, within_s: float) -> bool:
        """Take nothing more, let what runs end, say what is ready. False: something was cut short."""
        await self.intake.close()
        await self.door.close()
        await self.front.close()
        self.helping.stop()
        drained = await asyncio.to_thread(self.jobs.drain, within_s)
        drained = self.helping.stop() and drained
        await self.courier.flush(FLUSH_S)
        return drained


async def open_office(
    known: Settings,
    service: Service,
    us: Us,
    address: tuple[str, int] | None,
    opened: AsyncExitStack,
    threads: Threads,
    *,
    host_of: Reach = reach,
    watched_by: Watched = as_it_is,
    on_host: OnIt = OnHost,
) -> Office:
    """Open everything and begin to work; what `opened` holds closes it again, the store after the last of `threads`.

    `address` is where signed HTTP requests are taken, None for Socket Mode. Raises StoreError,
    JobsError or HttpError with one sentence.
    """
    loop = asyncio.get_running_loop()
    replica = await asyncio.to_thread(Replica.open, service, known)
    opened.callback(replica.close)
    opened.push_async_callback(threads.settled, SETTLE_S)
    service, store = replica.service, replica.store
    wire = Wire(client_of(service))
    opened.push_async_callback(wire.close)
    wakers: list[Callable[[], None]] = []

    def wake() -> None:
        for waker in wakers:
            waker()

    trails = Trails(store, wire, team=us.team, wake=wake)
    opened.push_async_callback(trails.close)
    groups = SlackGroups(wire, us, loop)
    shelf = await asyncio.to_thread(Shelf)
    opened.callback(shelf.close)
    work = Work(
        store,
        known,
        watched_by(trails),
        replica.gated(host_of),
        fetch=fetcher(wire, loop, shelf),
        names=groups.name,
        announced_s=ANNOUNCED_S,
        on_host=on_host,
        through=replica.gates.through,
    )
    courier = Courier(Postman(store, wire, trails, work.content), store.letters)
    wakers.append(courier.wake)
    jobs = Jobs(service, known.limits, work.carry_out, replica.lock)
    work.enqueue = jobs.enqueue  # before the launch, which takes up what a dead process was doing
    await asyncio.to_thread(
        replica.begin, jobs
    )  # whoever thought us dead learns first that we live
    await asyncio.to_thread(jobs.launch)
    opened.callback(jobs.close)
    late = partial(expire, store, Approvals(store, groups.name, time))
    desk = Desk(store, known, jobs.enqueue, groups, trails, names=groups.name)
    access = Access(known, groups)
    seen_by = SeenBy(store, known, access)
    due = Summaries(store, known, access, jobs.enqueue).accept
    perf = Perf(seen_by, HealthOrders(store, known, access, jobs.enqueue))
    home = Home(store, wire, seen_by)
    front = Front(store, desk, wire, home, wake, learn=groups.learn)
    ears = await asyncio.to_thread(Ears, store)
    intake = Intake(store, us, ears, front.apologise, groups.foresee)
    app = build(service, us, intake, front, perf, Reasons(wire))
    catch_up = CatchUp(store, wire, us, intake, ears, front.take_up)
    door = _door(app, service, address, catch_up)
    keep = service.keep_days * DAY_S
    tasks: list[asyncio.Task[None]] = []
    opened.push_async_callback(_ended, tasks)
    office = Office(replica, jobs, courier, intake, front, door, work.helping, tasks)
    for working in (courier.run(), catch_up.run(), tend(store, jobs, front, ears, late, due, keep)):
        tasks.append(asyncio.create_task(working))
    await asyncio.to_thread(reconcile, store, jobs)
    work.helping.start()
    opened.callback(work.helping.stop)
    await door.open()
    catch_up.want()
    await front.again(older_than_s=0)
    return office


def _door(
    app: AsyncApp, service: Service, address: tuple[str, int] | None, catch_up: CatchUp
) -> Socket | Http:
    if address is not None:
        secret = service.signing_secret
        return Http(app, *address, secret.get_secret_value() if secret else "")
    token = service.app_token.get_secret_value() if service.app_token else ""
    return Socket(app, token, catch_up.want)


async def _ended(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
