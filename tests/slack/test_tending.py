"""While the bot runs what is left over is taken up, and what is old is cleared away."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bot.slack import tending
from tools.errors import ToolsError


class Everything:
    """Store, jobs, front and ears in one, that write down what is asked of them; one call fails."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.runs = self.replicas = self
        self.fails = 1

    async def again(self) -> None:
        self.done.append("again")

    def flush(self) -> None:
        if self.fails:
            self.fails -= 1
            raise ToolsError("The database does not answer.")
        self.done.append("flush")

    def open(self) -> list[Any]:
        return []

    def others(self) -> list[Any]:
        return []

    def reconcile(self, _runs: list[Any], _works: set[str]) -> int:
        self.done.append("reconcile")
        return 0


def test_all_of_it_is_looked_after_and_a_failure_is_told_and_tried_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("EVERY_S", "RECONCILE_S", "TIDY_S"):
        monkeypatch.setattr(tending, name, 0.01)
    all_of_it, tidied = Everything(), []
    of_store, of_jobs = Everything(), Everything()
    of_store.tidy = lambda keep_s: tidied.append(("store", keep_s))  # type: ignore[attr-defined]
    of_jobs.tidy = lambda keep_s: tidied.append(("jobs", keep_s))  # type: ignore[attr-defined]

    async def story() -> None:
        tender: Any = tending.tend(
            of_store,
            of_jobs,
            all_of_it,
            all_of_it,
            lambda: all_of_it.done.append("late"),
            lambda: all_of_it.done.append("due"),
        )  # type: ignore[arg-type]
        task = asyncio.create_task(tender)
        async with asyncio.timeout(60):
            while len(tidied) < 2:
                await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(story())
    assert {"again", "flush", "late", "due"} <= set(all_of_it.done)
    assert "reconcile" in of_jobs.done
    assert dict(tidied) == {"store": 90 * tending.DAY_S, "jobs": 90 * tending.DAY_S}
    assert "does not answer" in caplog.text
