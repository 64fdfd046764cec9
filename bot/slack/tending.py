"""What is looked after while the bot runs: leftovers of the inbox, lost jobs, what was heard, old rows."""

from __future__ import annotations

import asyncio
import logging
from time import monotonic
from typing import TYPE_CHECKING

from bot.slack.reception.ears import Ears
from bot.slack.reception.front import Front
from tools.errors import ToolsError

if TYPE_CHECKING:
    from bot.jobs import Jobs
    from bot.store import Store

EVERY_S = 10.0
RECONCILE_S = 60.0
TIDY_S = 6 * 3600.0
KEEP_S = 90 * 24 * 3600.0  # sent letters, cases and handled events are kept for so long
_LOG = logging.getLogger("perfsleuth")


async def tend(store: Store, jobs: Jobs, front: Front, ears: Ears) -> None:
    """Look after all of it until cancelled; what fails is told and tried again."""
    reconciled = tidied = monotonic()
    while True:
        await asyncio.sleep(EVERY_S)
        await front.again()
        try:
            await asyncio.to_thread(ears.flush)
            if monotonic() - reconciled > RECONCILE_S:
                reconciled = monotonic()
                await asyncio.to_thread(reconcile, store, jobs)
            if monotonic() - tidied > TIDY_S:
                tidied = monotonic()
                await asyncio.to_thread(store.tidy, KEEP_S)
                await asyncio.to_thread(jobs.tidy, KEEP_S)
        except ToolsError as why:
            _LOG.error("%s", why)


def reconcile(store: Store, jobs: Jobs) -> None:
    """Put accepted work back on its way, where a crash or a lost queue took it off; raises ToolsError."""
    if found := jobs.reconcile(store.runs.open()):
        _LOG.info("%d pieces of accepted work are put back on their way", found)
