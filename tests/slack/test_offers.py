"""The card of a proposal in Slack: within the limits, pressed for what was shown, edited when it is decided."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from bot.approvals import Approvals
from bot.letter import Letter
from bot.offers import card, decided, key_of
from bot.slack.blocks import render
from bot.slack.reception.clicks import pressed
from bot.store import Offer, Store
from tests.fakes import faults_of
from tests.proposal.made import NEW, OLD, proposal
from tests.slack.delivering import SAM, Delivering, delivering
from tools.change import Change, Proposal

HARSH = "x" * 90


def offered(store: Store, channel: str, thread: str, made: Proposal | None = None) -> Offer:
    return store.proposals.add(
        7, made or proposal(), user=SAM, channel=channel, thread=thread, lives_s=600
    )


def letter_of(offer: Offer) -> Letter:
    return card(offer, "Expires at 12:00 UTC.", "sam")


def body(**more: Any) -> dict[str, Any]:
    action = {"action_id": "approve", "value": f"{'a' * 64}:7", "action_ts": "1.5"} | more
    return {
        "user": {"id": "U1"},
        "container": {"channel_id": "C1", "message_ts": "2.0", "thread_ts": "1.0"},
        "actions": [action],
    }


def test_a_card_is_one_message_within_slack_s_limits_whatever_is_proposed() -> None:
    flags = {f"a_flag_of_a_long_name_{number}": "v" * 500 for number in range(12)}
    words = [
        word for name, value in flags.items() for word in (f"--{name.replace('_', '-')}", value)
    ]
    huge = proposal(
        change=Change(set=flags), new=(*NEW, *words), traps=tuple(HARSH * 9 for _ in range(60)),
        interrupts=tuple(HARSH * 9 for _ in range(40)), undo=HARSH * 40,
    )  # fmt: skip
    offer = Offer(1, 7, "CT129", 30000, "C1", "1.0", "U1", huge, huge.digest, "pending", 0.0, 9.0)
    for made in (offer, Offer(**(vars(offer) | {"body": proposal()}))):
        rendered = render(letter_of(made), {})
        assert not faults_of(rendered.blocks)
        assert len(rendered.blocks) <= 50
        (row,) = [one for one in rendered.blocks if one["type"] == "actions"]
        assert [one["action_id"] for one in row["elements"]] == ["approve", "decline"]


def test_the_whole_command_line_is_a_block_that_slack_folds() -> None:
    made = proposal()
    offer = Offer(1, 7, "CT129", 30000, "C1", "1.0", "U1", made, made.digest, "pending", 0.0, 9.0)
    folded = [one for one in render(letter_of(offer), {}).blocks if one["type"] == "section"]
    assert [one["text"]["text"] for one in folded] == [" ".join(NEW)]
    assert OLD[-1] == "***"


def test_a_click_carries_the_digest_of_what_was_shown() -> None:
    found = pressed(body())
    assert found is not None
    name, press = found
    assert (press.action, press.run, press.shown, press.user) == ("approve", 7, "a" * 64, "U1")
    assert name == f"act:approve:{'a' * 28}:7:U1:1.5"
    declined = pressed(body(action_id="decline"))
    assert declined is not None
    assert declined[1].shown == "a" * 64


@pytest.mark.parametrize(
    "value", ["7", ":7", "a:7", f"{'a' * 63}:7", f"{'A' * 64}:7", f"{'a' * 64}:", f"{'a' * 64}:x", f"{'a' * 64}:7:8", "yes:7"]
)  # fmt: skip
def test_a_value_that_is_none_of_ours_is_no_click(value: str) -> None:
    assert pressed(body(value=value)) is None


def test_when_it_is_decided_the_card_says_by_whom_and_has_no_buttons(tmp_path: Path) -> None:
    async def whole(it: Delivering) -> None:
        run = it.asked()
        offer = offered(it.store, run.channel, run.thread)
        it.store.letters.add(letter_of(offer))
        await it.sent(key_of(offer))
        (message,) = it.replies(run)
        assert {name for name, _ in it.slack.buttons(message)} == {"approve", "decline"}
        assert it.store.proposals.approve(offer.id, offer.digest, SAM)
        edit = decided(it.store, offer, Approvals(it.store, lambda _user: "sam", lambda: 0.0))
        assert edit is not None
        it.store.letters.add(edit)
        await it.sent(edit.key)
        (message,) = it.replies(run)
        assert not it.slack.buttons(message)
        assert "Approved by sam at " in message.text
        assert "Proposed for CT129:30000" in message.text
        assert not it.store.letters.add(edit), "it is edited once"

    asyncio.run(_with(tmp_path, whole))


def test_an_edit_of_a_dead_process_is_made_again_and_makes_no_second_message(
    tmp_path: Path,
) -> None:
    async def whole(it: Delivering) -> None:
        run = it.asked()
        offer = offered(it.store, run.channel, run.thread)
        it.store.letters.add(letter_of(offer))
        await it.sent(key_of(offer))
        it.store.proposals.decline(offer.id, SAM)
        edit = decided(it.store, offer, Approvals(it.store, lambda _user: "sam", lambda: 0.0))
        assert edit is not None
        await it.dies()
        it.store.letters.add(edit)
        it.store.letters.sending(edit.key)  # and then it died
        async with delivering(tmp_path, slack=it.slack) as after:
            await after.sent(edit.key)
            (message,) = it.replies(run)
            assert "Declined by sam" in message.text

    asyncio.run(_with(tmp_path, whole))


def test_a_card_that_never_arrived_is_not_edited_and_holds_nobody(tmp_path: Path) -> None:
    async def whole(it: Delivering) -> None:
        run = it.asked()
        offer = offered(it.store, run.channel, run.thread)
        it.store.letters.add(letter_of(offer))
        it.store.letters.dead(key_of(offer), "gone")
        it.store.proposals.decline(offer.id, SAM)
        edit = decided(it.store, offer, Approvals(it.store, lambda _user: "sam", lambda: 0.0))
        assert edit is not None
        it.store.letters.add(edit)
        await it.sent(edit.key)
        assert it.replies(run) == []

    asyncio.run(_with(tmp_path, whole))


async def _with(folder: Path, story: Callable[[Delivering], Awaitable[None]]) -> None:
    async with delivering(folder) as it:
        await story(it)
