"""What Slack will not have is said more plainly, elsewhere, or later; and somebody is told."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

from bot.narrator import Line, Table
from tests.slack.delivering import delivering


def test_a_workspace_that_knows_old_blocks_alone_gets_those(tmp_path: Path) -> None:
    async def story() -> None:
        old = frozenset({"section", "rich_text", "header", "actions", "context", "divider"})
        async with delivering(tmp_path, only_blocks=old) as lab:
            run = lab.asked()
            table = Table(("", "measured"), (("decode", "55"),))
            key = lab.say(run, buttons=("right",), parts=(Line("verdict", "The link."), table))
            await lab.sent(key)
            (said,) = lab.replies(run)
            kinds = {block["type"] for block in said.blocks}
            assert kinds <= old
            assert "actions" in kinds

    asyncio.run(story())


def test_a_workspace_that_takes_no_blocks_at_all_gets_the_text(tmp_path: Path) -> None:
    async def story() -> None:
        async with delivering(tmp_path, only_blocks=frozenset()) as lab:
            run = lab.asked()
            await lab.sent(lab.say(run))
            (said,) = lab.replies(run)
            assert said.blocks == []
            assert "It is the link" in said.text

    asyncio.run(story())


@pytest.mark.parametrize("error", ["not_in_channel", "is_archived", "restricted_action"])
def test_where_nothing_can_be_said_the_asker_is_told_in_person(tmp_path: Path, error: str) -> None:
    async def story() -> None:
        async with delivering(tmp_path) as lab:
            run = lab.asked()
            for name in ("verdict", "answer"):
                lab.slack.faults.next("chat.postMessage", "error", word=error)
                key = lab.say(run, name)
                await lab.slack.until(lambda key=key: lab.store.letters.status_of(key) == "dead")
                await lab.slack.until(
                    lambda: lab.slack.messages("@sam")
                )  # told before the next fault
            await asyncio.sleep(0.3)
            (told,) = lab.slack.messages("@sam")
            assert "I could not answer where you asked" in told.text

    asyncio.run(story())


def test_what_slack_does_not_take_in_any_form_is_said(tmp_path: Path) -> None:
    async def story() -> None:
        async with delivering(tmp_path) as lab:
            lab.slack.faults.next("chat.postMessage", "error", word="invalid_arguments")
            run = lab.asked()
            key = lab.say(run)
            await lab.sent(f"fault:{key}")
            (said,) = lab.replies(run)
            assert "Slack does not take my answer (invalid_arguments)." in said.text

    asyncio.run(story())


def test_a_bad_token_holds_the_letters_and_is_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> None:
        async with delivering(tmp_path) as lab:
            lab.slack.settings.revoked = True
            keys = [lab.say(lab.asked()) for _ in range(3)]
            await lab.slack.until(lambda: len(lab.slack.calls("chat.postMessage")) == 3)
            await lab.slack.until(
                lambda: {lab.store.letters.status_of(key) for key in keys} == {"due"}
            )

    with caplog.at_level(logging.WARNING, "perfsleuth.slack"):
        asyncio.run(story())
    (said,) = [record.getMessage() for record in caplog.records]
    assert "token_revoked" in said
    assert "xoxb" not in caplog.text
