"""A plan of several changes: asked for in words, approved as one by a person who may, and by nobody else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bot.approvals import LIVES_S
from bot.letter import Letter
from bot.store.change_tables import proposals as rows
from tests.desk.test_deciding import alone, card_of, decide, last_act
from tests.proposal.made import proposal
from tests.proposal.servers import launcher
from tests.work.room import Room, text_of
from tools.change import Plan

ASK = "tune CT129 for prefill, two hours at most"


@pytest.fixture
def room(make_room: Callable[..., Room]) -> Room:
    room = make_room(access={"approve": ("USAM", "SOPS")})
    room.more["ReadLauncher"] = launcher()
    return room


@pytest.fixture
def ts(room: Room) -> str:
    ts = room.say(ASK)
    room.work()
    return ts


@pytest.fixture
def card(room: Room, ts: str) -> Letter:
    return card_of(room, ts)


def campaigns(room: Room) -> list[Any]:
    return [run for run in room.runs() if run.kind in ("campaign", "experiment")]


def plan_of(host: str = "CT129", port: int = 30000) -> Plan:
    return Plan(
        goal="prefill", budget_s=3600, proposals=(proposal(host, port),), sources=("it may help",)
    )


def test_words_bring_one_card_that_shows_all_of_the_plan(room: Room, ts: str, card: Letter) -> None:
    first = room.said(ts)[0]
    assert first.startswith("I make a plan for CT129: what could help prefill, in 120 minutes.")
    said = text_of(card)
    assert said.startswith("Plan for CT129:30000: one change for prefill.")
    for part in (
        "1. --mamba-scheduler-strategy extra_buffer, without --disable-radix-cache: 2.5 times as fast (1.25 to 10)",
        "The prefix cache is off",  # the source of it
        "and at most 120: nothing begins that would not fit.",
        "The server is restarted once, and once more where the change is taken back.",
        "1 request runs now.",
        "Kept if prefill is better by more than 3 % and more than its interval",
        "Else it is taken back before the next: the old command line is started again",
        "If I fall silent for 5 min",
        "--chunked-prefill-size 16384: at best",  # and why it is not tried
    ):
        assert part in said, part
    assert "Asked for by sam. Expires at " in said.splitlines()[-1]
    assert card.asks.startswith("CT129:30000 is restarted up to 2 times within 120 minutes: ")
    assert not campaigns(room)


def test_an_approval_begins_one_campaign_and_the_card_says_who(
    room: Room, ts: str, card: Letter
) -> None:
    decide(room, "approve", card, ts)
    (run,) = campaigns(room)
    assert (run.kind, run.host, run.port, run.user) == ("campaign", "CT129", 30000, "USAM")
    assert [one.id for one in room.queue] == [run.id]
    assert room.store.experiments.approved(run.id) is None, "a plan is no experiment"
    edit = next(one for one in room.letters(ts) if one.edits == card.key)
    assert edit.buttons == ()
    assert text_of(edit).splitlines()[-1].startswith("Approved by sam at ")
    assert "I carry the plan out on CT129: one change." in room.said(ts)[-2]
    assert last_act(room).outcome == f"accepted (run {run.id})"


def test_a_double_click_a_second_approver_and_a_late_decline_change_nothing(
    room: Room, ts: str, card: Letter
) -> None:
    for user, button in (("USAM", "approve"), ("USAM", "approve"), ("UOPS", "approve"), ("UOPS", "decline")):  # fmt: skip
        decide(room, button, card, ts, user=user)
    assert text_of(alone(room)).startswith("sam approved this at ")
    assert len(campaigns(room)) == 1


@pytest.mark.parametrize("user", ["UANA", "UEVE"])
def test_who_may_not_approve_begins_nothing_and_it_is_audited(
    room: Room, ts: str, card: Letter, user: str
) -> None:
    decide(room, "approve", card, ts, user=user)
    assert not campaigns(room)
    assert alone(room).only_for == user
    act = last_act(room)
    assert (act.user, act.act) == (user, "approve")
    assert act.outcome.startswith("refused: ")


def test_a_forged_button_approves_nothing(room: Room, ts: str, card: Letter) -> None:
    offer = room.store.proposals.of_run(card.run or 0)
    assert offer
    assert offer.plan
    for shown in ("f" * 64, offer.plan.proposals[0].digest):  # of one change of it
        decide(room, "approve", card, ts, shown=shown)
        assert "not of this proposal" in text_of(alone(room))
    decide(room, "approve", card, "1700000000.999999")
    assert "belongs to another conversation" in text_of(alone(room))
    decide(room, "approve", card, ts, channel="DSAM")
    assert "belongs to another conversation" in text_of(alone(room))
    room.press("approve", 77, ts, shown=card.shown)
    assert "no longer have that proposal" in text_of(alone(room))
    assert not campaigns(room)


def test_a_plan_that_was_edited_in_the_database_is_not_approved(
    room: Room, ts: str, card: Letter
) -> None:
    with room.store._database.writing() as connection:
        connection.execute(rows.update().values(body=plan_of().model_dump_json()))
    decide(room, "approve", card, ts)
    assert "not of this proposal" in text_of(alone(room))
    assert not campaigns(room)


def test_an_expired_plan_is_told_and_its_card_says_so(room: Room, ts: str, card: Letter) -> None:
    now = room.store._database.now
    room.store._database.now = lambda: now() + LIVES_S
    room.desk._deciding_on._approvals._now = room.store._database.now
    decide(room, "approve", card, ts)
    assert "has expired" in text_of(alone(room))
    edit = next(one for one in room.letters(ts) if one.edits == card.key)
    assert text_of(edit).splitlines()[-1].startswith("Expired at ")
    assert not campaigns(room)


def test_a_plan_and_a_single_change_of_one_server_replace_each_other(
    room: Room, ts: str, card: Letter
) -> None:
    room.say("set --chunked-prefill-size 4096 on CT129 and measure", thread=ts)
    room.work()
    single = card_of(room, ts)
    decide(room, "approve", card, ts)
    assert "There is a newer proposal" in text_of(alone(room))
    room.say("tune it for prefill", thread=ts)
    room.work()
    decide(room, "approve", single, ts)
    assert "There is a newer proposal" in text_of(alone(room))
    assert not campaigns(room)


def test_while_a_plan_is_carried_out_nothing_else_is_approved_there(
    room: Room, ts: str, card: Letter
) -> None:
    decide(room, "approve", card, ts)
    room.queue.clear()
    room.say("set --chunked-prefill-size 4096 on CT129", thread=ts)
    room.work()
    decide(room, "approve", card_of(room, ts), ts)
    assert "A plan is being carried out on CT129:30000" in text_of(alone(room))
    assert len(campaigns(room)) == 1


def test_that_nothing_is_predicted_to_help_is_an_answer(room: Room) -> None:
    ts = room.say("tune CT129 for throughput")
    room.work()
    assert room.said(ts)[-1].startswith("Nothing that I could try on CT129 is predicted to help")
    assert not [one for one in room.letters(ts) if "approve" in one.buttons]


def test_a_plan_that_takes_too_long_or_names_no_host_is_told_at_once(room: Room) -> None:
    late = room.say("tune CT129 for 3 days and 25 hours")
    assert "minutes or hours up to a day" in room.said(late)[-1]
    which = room.say("tune the server for prefill, two hours at most")
    assert "Which host do you mean?" in room.said(which)[-1]
    room.say("CT129", thread=which)
    assert [run.kind for run in room.queue] == ["plan"]


def test_who_may_not_ask_about_the_host_plans_nothing(make_room: Callable[..., Room]) -> None:
    room = make_room(CT129={"ask": ("USAM",)})
    ts = room.say(ASK, user="UANA")
    assert "you may not ask me about CT129" in room.said(ts)[-1]
    assert not room.queue


def test_a_plan_that_is_stopped_shows_no_card(room: Room) -> None:
    ts = room.say(ASK)
    room.store.runs.ask_stop(room.queue[0].id, "USAM")
    room.work()
    assert "nothing is planned" in room.said(ts)[-1]
    assert not [one for one in room.letters(ts) if "approve" in one.buttons]
