"""What delivers, all of it, to a fake Slack in the same loop: the store is real, and so are the sockets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from bot.investigate import Asking, Learned
from bot.letter import Attached, Letter
from bot.narrator import Line
from bot.slack.api.outage import Outage
from bot.slack.api.pace import Pace
from bot.slack.api.wire import Wire
from bot.slack.delivery.courier import Courier
from bot.slack.delivery.postman import Postman
from bot.slack.delivery.trail import Trails
from bot.store import Run, Store
from tests.fakes import TEAM, Message, Workspace
from tools.case import Case
from tools.evidence import Evidence, learn
from tools.host import Output
from tools.probes import PROBES

SAM = "U0SAM00001"
GPU = "C0GPU00001"


@dataclass
class Delivering:
    """The parts, and what tests say with them."""

    slack: Workspace
    store: Store
    wire: Wire
    trails: Trails
    courier: Courier
    task: asyncio.Task[None]

    def asked(self, text: str = "why is CT129 slow?", channel: str = "gpu", **more: Any) -> Run:
        """Somebody asks: a message in Slack, and the run of it."""
        message = self.slack.mention(text, channel)
        where: dict[str, Any] = {"channel": message.channel, "thread": message.ts, "user": SAM}
        key = f"{message.channel}/{message.ts}"
        run = self.store.runs.add(key, "host", host="CT129", text=text, **where, **more)
        assert run is not None
        return run

    def say(
        self, run: Run, name: str = "verdict", text: str = "It is the link (E1).", **more: Any
    ) -> str:
        """A letter of a run; its key."""
        key = f"run:{run.id}:{name}"
        given: dict[str, Any] = {
            "kind": "trail" if name.startswith("trail") else name,
            "channel": run.channel,
            "thread": run.thread,
            "run": run.id,
            "parts": (Line("text", text),),
        }
        assert self.store.letters.add(Letter.model_validate({"key": key, **given, **more}))
        self.courier.wake()
        return key

    def replies(self, run: Run) -> list[Message]:
        return self.slack.replies(run.channel, run.thread)

    async def dies(self) -> None:
        """Deliver nothing more: the next process shares its store."""
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)

    async def sent(self, *keys: str, within_s: float = 60.0) -> None:
        """Wait until these letters are delivered."""
        letters = self.store.letters
        await self.slack.until(
            lambda: all(letters.status_of(key) == "sent" for key in keys), within_s
        )


@asynccontextmanager
async def delivering(
    folder: Path,
    *,
    slack: Workspace | None = None,
    content: Callable[[Attached], bytes | None] = lambda attached: attached.text.encode() or None,
    message_every_s: float = 0.01,
    tiers: dict[str, int] | None = None,
    timeout_s: float = 5.0,
    stream_s: float = 240.0,
    courier: bool = True,
    url: str | None = None,
    executor: str = "perfsleuth-0",
    **settings: Any,
) -> AsyncIterator[Delivering]:
    """Everything that delivers; with `slack` the second process of a bot whose first one died."""
    own = slack is None
    if slack is None:
        slack = await Workspace(**{"rates": False, **settings}).start()
    store = Store.open(url or f"sqlite:///{folder / 'store.sqlite'}", executor=executor)
    pace = Pace(message_every_s=message_every_s, tiers={} if tiers is None else tiers)
    client = AsyncWebClient(token=slack.settings.bot_token, base_url=slack.api_url)
    wire = Wire(client, pace=pace, outage=Outage(longest_s=0.4), timeout_s=timeout_s)
    trails = Trails(store, wire, team=TEAM, wake=lambda: carrier.wake(), stream_s=stream_s)
    carrier = Courier(Postman(store, wire, trails, content), store.letters, poll_s=0.2)
    task = asyncio.create_task(carrier.run() if courier else asyncio.sleep(0))
    try:
        yield Delivering(slack, store, wire, trails, carrier, task)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await trails.close()
        await wire.close()
        store.close()
        if own:
            await slack.stop()


def look(number: int, probe: str = "ReadKernelLog") -> Evidence:
    """A look that came back."""
    output = Output(stdout="kernel: quiet\n", status=0, took_s=0.2)
    return learn(number, PROBES[probe](), "CT129", output)


def looks_of(count: int) -> list[Evidence]:
    """So many looks, each at something else."""
    return [look(n, name) for n, name in enumerate(_plain_probes()[:count], start=1)]


def told(delivering: Delivering, run: Run, looks: list[Evidence]) -> None:
    """A worker asks, and learns."""
    delivering.trails.tell(run, Asking(tuple(one.probe for one in looks if one.probe)))
    for one in looks:
        delivering.trails.tell(run, Learned(one))


def case_of(looks: list[Evidence]) -> Case:
    return Case.of("CT129", "why is CT129 slow?", "captured", looks)


def _plain_probes() -> list[str]:
    return [
        name
        for name, probe in PROBES.items()
        if not any(field.is_required() for field in probe.model_fields.values())
    ]
