"""`perfsleuth demo --slack`: a pretend Slack, the real bot in it, and a page to talk to it, on loopback."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from pydantic import SecretStr

from bot import log, serve
from bot.demo import shipped_path
from bot.demo.acts import Acts
from bot.demo.pace import Pace
from bot.demo.page_server import PageServer
from bot.demo.view import View
from bot.demo.workspace import Workspace
from bot.settings import Access, HostSettings, Service, Settings
from tools.errors import ToolsError

PERSON = "sam"
STARTS_S = 60.0  # of the bot on a busy machine
_STOPPED = 130  # the exit status of Ctrl-C
_NAME = "perfsleuth-demo"


class PortTaken(ToolsError):
    """Something else listens there."""


def demo(port: int) -> None:
    """Serve the demo until Ctrl-C; raise ToolsError with one sentence if it cannot.

    `port` is the page's on 127.0.0.1; 0: any that is free.
    """
    log.begin(level=logging.WARNING)
    asyncio.run(_until_a_signal(port))


async def _until_a_signal(port: int) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, _end, stop)
    await run(port, stop, _invite)
    sys.stdout.write("The demo is over; nothing of it is kept.\n")


def _end(stop: asyncio.Event) -> None:
    """The first signal asks for an end, the second one is the end."""
    if stop.is_set():
        os._exit(_STOPPED)
    stop.set()
    sys.stdout.write("\nEnding…\n")
    sys.stdout.flush()


def _invite(url: str) -> None:
    sys.stdout.write(
        f"A pretend Slack is at {url}\n"
        "Open it in a browser and ask. The bot is the real one; CT129 and CT130 answer from synthetic cases.\n"
        "Nothing leaves this machine. Ctrl-C ends it.\n"
    )
    sys.stdout.flush()


async def run(port: int, stop: asyncio.Event, up: Callable[[str], None], pace: float = 1.0) -> None:
    """Be the demo until `stop` is set; `up` is told the page's address once the bot is there."""
    with tempfile.TemporaryDirectory(prefix="perfsleuth-demo-") as folder:
        async with Workspace(**tokens()) as slack:
            me = slack.world.user(PERSON).id
            view = View(slack.state, me)
            page = PageServer(view, Acts(slack, me))
            slack.listen(page.changed)

            def there() -> None:
                view.bot_is("up")
                up(page.url)

            try:
                await page.start(port)
            except OSError:
                raise PortTaken(f"Port {port} is taken: choose another with --port.") from None
            try:
                await _with_bot(slack, Path(folder), stop, Pace(pace), there, me)
            finally:
                view.bot_is("gone")
                await page.close()


def tokens() -> dict[str, str]:
    """Draw secrets for this start: a page elsewhere in the browser must not talk to the pretend Slack."""
    drawn = [secrets.token_hex(16) for _ in range(3)]
    return {
        "bot_token": f"xoxb-{drawn[0]}",
        "app_token": f"xapp-{drawn[1]}",
        "signing_secret": drawn[2],
    }


async def _with_bot(
    slack: Workspace,
    folder: Path,
    stop: asyncio.Event,
    pace: Pace,
    up: Callable[[], None],
    approver: str,
) -> None:
    async def told() -> None:
        await slack.connected(STARTS_S)
        up()

    telling = asyncio.create_task(told())
    try:
        await serve.run(
            _hosts(approver),
            _service(slack, folder),
            stop,
            host_of=pace.host_of,
            watched_by=pace.watched_by,
            on_host=pace.on_host,
        )
    finally:
        telling.cancel()


def _hosts(approver: str) -> Settings:
    notes = "synthetic: no real host is in it"
    return Settings(
        hosts={
            "CT129": HostSettings(case=shipped_path("ct129"), notes=notes),
            "CT130": HostSettings(case=shipped_path("ct130"), notes=notes),
        },
        access=Access(approve=(approver,)),
    )


def _service(slack: Workspace, folder: Path) -> Service:
    return Service(
        bot_token=SecretStr(slack.settings.bot_token),
        app_token=SecretStr(slack.settings.app_token),
        signing_secret=SecretStr(slack.settings.signing_secret),
        slack_api=slack.api_url,
        database_url=f"sqlite:///{folder / 'perfsleuth.sqlite'}",
        executor=_NAME,
    )
