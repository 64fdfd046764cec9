"""The bot as a process: everything is opened, runs until a signal, drains and closes."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack

from bot import log, memory, settings, traces
from bot.experiment.on_host import OnHost
from bot.pulse.pulse import Pulse
from bot.reach import reach
from bot.settings import Service, Settings, SettingsError
from bot.slack.api.check import missing_sentence
from bot.slack.api.introduce import introduce
from bot.slack.office import Office, Reach, Watched, as_it_is, open_office
from bot.slack.reception.http import parted
from bot.threads import Threads
from bot.work.experiments import OnIt

DRAIN_S = 8.0  # for what runs; what is cut short goes on after the next start
_STOPPED = 130
# Rules and parsers compute in threads beside the event loop. With Python's 5 ms between switches 20
# of them hold back every step of an ack by up to 0.1 s (measured: acks of 2.9 s; so, of .5 s).
_SWITCH_S = 0.0005
_LOG = logging.getLogger("perfsleuth")


def serve(http: str | None) -> None:
    """Be the bot in Slack until SIGTERM or Ctrl-C; raise ToolsError with one sentence if it cannot.

    `http` is HOST:PORT to listen on for signed requests; None: Socket Mode.
    """
    known, service = settings.load(), Service.load()
    if sentence := missing_sentence(service, http=http is not None):
        raise SettingsError(sentence)
    address = parted(http) if http is not None else None
    log.begin(as_json=service.json_log)
    traced = traces.begin()
    sys.setswitchinterval(_SWITCH_S)
    memory.bound()
    drained = asyncio.run(_until_a_signal(known, service, address))
    traced()
    if not drained:
        # a thread that still asks a host would hold the process; its run goes on after the start
        logging.shutdown()
        os._exit(0)


async def run(
    known: Settings,
    service: Service,
    stop: asyncio.Event,
    *,
    address: tuple[str, int] | None = None,
    host_of: Reach = reach,
    watched_by: Watched = as_it_is,
    on_host: OnIt = OnHost,
    up: Callable[[Office], None] = lambda _: None,
) -> bool:
    """Be the bot until `stop` is set; `up` is called when it is there.

    Return False where a run was cut short, whose thread may still live. Raises ToolsError.
    """
    threads = Threads()
    asyncio.get_running_loop().set_default_executor(threads)
    async with AsyncExitStack() as opened:
        pulse = Pulse(service.metrics)
        opened.callback(pulse.close)
        us = await introduce(service)
        office = await open_office(
            known,
            service,
            us,
            address,
            opened,
            threads,
            host_of=host_of,
            watched_by=watched_by,
            on_host=on_host,
        )
        hosts = f"{len(known.hosts)} host{'' if len(known.hosts) == 1 else 's'}"
        if not known.hosts:
            _LOG.warning("no host is set up, so only files can be judged: list hosts in hosts.toml")
        _LOG.info("up: @%s in %s, %s, %s", us.name, us.workspace or us.team, hosts, office.mode)
        pulse.of(office, asyncio.get_running_loop())
        up(office)
        await office.until(stop)
        _LOG.info("stopping: nothing new is taken, what runs may finish")
        drained = await office.drain(DRAIN_S)
    _LOG.info("stopped")
    return drained


async def _until_a_signal(
    known: Settings, service: Service, address: tuple[str, int] | None
) -> bool:
    stop, up = asyncio.Event(), asyncio.Event()
    _listen(stop)
    bot = asyncio.create_task(
        run(known, service, stop, address=address, up=lambda _office: up.set())
    )
    asked = asyncio.create_task(stop.wait())
    await asyncio.wait({bot, asked}, return_when=asyncio.FIRST_COMPLETED)
    if not (up.is_set() or bot.done()):
        bot.cancel()  # it waits for Slack, or for the database
        await asyncio.gather(bot, return_exceptions=True)
        return True
    return await bot


def _listen(stop: asyncio.Event) -> None:
    """The first signal asks for an end, the second one is the end."""
    loop = asyncio.get_running_loop()

    def asked() -> None:
        if stop.is_set():
            os._exit(_STOPPED)
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, asked)
