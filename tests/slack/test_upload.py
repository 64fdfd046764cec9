"""Files of ours come into their thread once, whatever breaks off."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from bot.letter import Attached
from tests.slack.delivering import delivering

EVIDENCE = Attached(
    kind="evidence", run=1, name="CT129-run1-evidence.txt", title="What was seen", text="E1 quiet"
)
CHART = Attached(
    kind="chart",
    run=1,
    name="CT129-run1-step.png",
    title="A step",
    alt="A step of 58 ms",
    text="png",
)


@pytest.mark.parametrize("attached", [EVIDENCE, CHART])
def test_a_file_of_ours_is_in_the_thread_once(tmp_path: Path, attached: Attached) -> None:
    async def story() -> None:
        async with delivering(tmp_path) as lab:
            run = lab.asked()
            await lab.sent(lab.say(run, "file", attached=attached))
            (said,) = lab.replies(run)
            (file,) = said.files
            assert file["name"] == attached.name
            assert lab.slack.content(file["id"]) == attached.text.encode()
            (call,) = lab.slack.calls("files.getUploadURLExternal")
            assert call.args.get("alt_txt", "") == attached.alt
            assert ("snippet_type" in call.args) == (attached.kind == "evidence")

    asyncio.run(story())


@pytest.mark.parametrize(
    "step", ["files.getUploadURLExternal", "upload", "files.completeUploadExternal"]
)
@pytest.mark.parametrize("how", ["drop_before", "drop_after", "ratelimited", "status"])
def test_an_upload_that_breaks_off_is_done_once_in_the_end(
    tmp_path: Path, step: str, how: Any
) -> None:
    async def story() -> None:
        async with delivering(tmp_path) as lab:
            lab.slack.faults.next(step, how)
            run = lab.asked()
            await lab.sent(lab.say(run, "file", attached=EVIDENCE))
            assert lab.slack.faults.hits == 1
            assert len(lab.replies(run)) == 1

    asyncio.run(story())


def test_bytes_that_slack_will_not_have_are_given_up_and_the_thread_is_told(tmp_path: Path) -> None:
    async def story() -> None:
        async with delivering(tmp_path) as lab:
            lab.slack.faults.next("upload", "status", code=413, times=9)
            run = lab.asked()
            file = lab.say(run, "file", attached=EVIDENCE)
            await lab.sent(lab.say(run, "answer"), f"fault:{file}")
            assert lab.store.letters.status_of(file) == "dead"
            assert lab.slack.faults.hits == 1

    asyncio.run(story())


def test_a_file_of_which_there_is_nothing_is_not_sent(tmp_path: Path) -> None:
    async def story() -> None:
        async with delivering(tmp_path, content=lambda _attached: None) as lab:
            run = lab.asked()
            await lab.sent(lab.say(run, "file", attached=CHART))
            assert lab.replies(run) == []

    asyncio.run(story())


def test_without_the_scope_the_thread_is_told_and_goes_on(tmp_path: Path) -> None:
    async def story() -> None:
        async with delivering(tmp_path) as lab:
            lab.slack.settings.scopes.discard("files:write")
            run = lab.asked()
            chart = lab.say(run, "chart", kind="file", attached=CHART)
            file = lab.say(run, "file", attached=EVIDENCE)
            await lab.sent(lab.say(run, "answer"), f"fault:{file}")
            assert lab.store.letters.status_of(chart) == "dead"
            assert any("files:write" in message.text for message in lab.replies(run))

    asyncio.run(story())
