"""A trail goes on in the same message when another process takes over."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.slack.delivering import case_of, delivering, looks_of, told
from tests.slack.trails import end, kinds, opened, seen


def test_after_a_restart_the_same_message_goes_on(tmp_path: Path) -> None:
    async def story() -> None:
        async with delivering(tmp_path) as lab:
            run, trail = await opened(lab)
            lab.store.runs.begin(run.id)
            lab.trails.began(run, 0)
            before = looks_of(2)
            told(lab, run, before)
            lab.store.cases.save(run.id, case_of(looks_of(3)))  # the third is told as well
            await lab.slack.until(lambda: "E2" in seen(trail))
            assert trail.stream is not None
            await lab.dies()
            async with delivering(tmp_path, slack=lab.slack) as second:
                again = second.store.runs.begin(run.id)
                assert again is not None
                second.trails.began(again, 2)
                told(second, again, looks_of(3)[2:])
                await lab.slack.until(lambda: "E3" in seen(trail))
                assert "I was restarted and go on." in seen(trail)
                assert "Looking at CT129" in seen(trail)
                assert [seen(trail).count(f"E{n}") for n in (1, 2, 3)] == [1, 1, 1]
                assert trail.stream is None
                await second.sent(end(second, again))
                assert "restarted" not in seen(trail)
                assert "3 looks" in seen(trail)
                assert len(second.replies(run)) == 1

    asyncio.run(story())


def test_a_trail_whose_process_died_at_the_end_is_ended_by_the_next_one(tmp_path: Path) -> None:
    async def story() -> None:
        async with delivering(tmp_path) as lab:
            run, trail = await opened(lab)
            told(lab, run, looks_of(2))
            lab.store.cases.save(run.id, case_of(looks_of(2)))
            await lab.slack.until(lambda: "E2" in seen(trail))
            await lab.dies()
            async with delivering(tmp_path, slack=lab.slack) as second:
                await second.sent(end(second, run))
                assert "stop" not in kinds(trail)
                assert trail.stream is None
                assert "2 looks" in seen(trail)

    asyncio.run(story())


def test_a_first_message_that_may_have_arrived_is_found_and_goes_on(tmp_path: Path) -> None:
    async def story() -> None:
        async with delivering(tmp_path, timeout_s=0.6) as lab:
            lab.slack.faults.next("chat.startStream", "drop_after")
            run, trail = await opened(lab)
            lab.trails.began(run, 0)
            told(lab, run, looks_of(2))
            await lab.slack.until(lambda: "E2" in seen(trail))
            assert len(lab.replies(run)) == 1

    asyncio.run(story())
