"""What is looked after while the bot runs: leftovers of the inbox, lost jobs, what was heard, old rows, memory."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING

from bot import memory
from bot.beats import works_of
from bot.slack.reception.ears import Ears
from bot.slack.reception.front import Front
from tools.errors import ToolsError

if TYPE_CHECKING:
    from bot.jobs import Jobs
    from bot.store import Store

EVERY_S = 10.0
RECONCILE_S = 60.0
TIDY_S = 6 * 3600.0
DAY_S = 24 * 3600.0
_LOG = logging.getLogger("perfsleuth")


async def tend(
    store: Store,
    jobs: Jobs,
    front: Front,
    ears: Ears,
    late: Callable[[], object],
    due: Callable[[], object],
    keep_s: float = 90 * DAY_S,
) -> None:
    """Look after all of it until cancelled; what fails is told and tried again.

    `late` sees to proposals that nobody decided in their time, `due` to summaries whose time has come.
    What is over is kept for `keep_s`.
    """
    reconciled = tidied = monotonic()
    while True:
        await asyncio.sleep(EVERY_S)
        await front.again()
        try:
            await asyncio.to_thread(ears.flush)
            await asyncio.to_thread(due)
            if monotonic() - reconciled > RECONCILE_S:
                reconciled = monotonic()
                await asyncio.to_thread(memory.give_back)
                await asyncio.to_thread(reconcile, store, jobs)
                await asyncio.to_thread(late)
            if monotonic() - tidied > TIDY_S:
                tidied = monotonic()
                await asyncio.to_thread(store.tidy, keep_s)
                await asyncio.to_thread(jobs.tidy, keep_s)
        except ToolsError as why:
            _LOG.error("%s", why)


def reconcile(store: Store, jobs: Jobs) -> None:
    """Put accepted work back on its way, where a crash or a lost queue took it off; raises ToolsError."""
    if found := jobs.reconcile(store.runs.open(), works_of(store)):
        _LOG.info("%d pieces of accepted work are put back on their way", found)
