"""From "Propose the change" to an approval: who may, what counts, and that it counts once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bot.approvals import LIVES_S, Approvals
from bot.letter import Letter
from bot.offers import card, expire
from bot.store import Offer
from bot.store.change_tables import proposals as rows
from tests.proposal.made import proposal
from tests.proposal.servers import launcher
from tests.work.room import Room, text_of
from tools.change import Change

ASK = "don't leave perf on the table on CT129. it does 55 tok/s, it was 70"


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


def card_of(room: Room, ts: str) -> Letter:
    return next(one for one in reversed(room.letters(ts)) if one.buttons == ("approve", "decline"))


def offered(room: Room, ts: str) -> Letter:
    room.press("propose", 1, ts)
    room.work()
    return card_of(room, ts)


def decide(room: Room, button: str, card: Letter, ts: str, user: str = "USAM", **more: Any) -> None:
    room.press(button, card.run or 0, ts, user=user, **{"shown": card.shown} | more)


def alone(room: Room) -> Letter:
    return [one for one in room.letters() if one.only_for][-1]


def experiments(room: Room) -> list[Any]:
    return [run for run in room.runs() if run.kind == "experiment"]


def last_act(room: Room) -> Any:
    return room.store.audit.newest(1)[0]


def test_the_button_proposes_what_a_restart_can_mend_with_all_that_is_to_be_known(
    room: Room, ts: str
) -> None:
    said = text_of(offered(room, ts))
    assert said.startswith(
        "Proposed for CT129:30000: --mamba-scheduler-strategy extra_buffer, without --disable-radix-cache.\n"
    )
    assert "Because: The prefix cache is off" in said
    assert "Expected: prefill 2.5 times as fast (1.25 to 10)" in said
    assert "1 request runs now." in said
    assert "Kept if prefill is better by more than 3 %" in said
    assert "- --disable-radix-cache\n+ --mamba-scheduler-strategy extra_buffer\n" in said
    assert "with the radix cache refuses speculation at launch" in said
    assert "Its flags are checked against what is known of SGLang 0.5.11, not its source." in said
    assert "--api-key <dropped>" in said
    assert "Asked for by sam. Expires at " in said.splitlines()[-1]
    assert not experiments(room)


def test_what_no_flag_mends_is_told_as_work_for_a_person(make_room: Callable[..., Room]) -> None:
    room = make_room()
    ts = room.say("why is CT130 slow?")
    room.work()
    room.press("propose", 1, ts)
    room.press("propose", 1, ts)
    said = [one for one in room.said(ts) if "nothing that I could try" in one or "no remedy" in one]
    assert len(said) == 1
    assert not room.queue


def test_a_second_press_while_it_is_proposed_says_where_it_stands(room: Room, ts: str) -> None:
    offered(room, ts)
    room.press("propose", 1, ts, user="UANA")
    assert not room.queue
    assert "It is proposed in this thread already, until " in text_of(alone(room))


def test_an_approval_begins_one_experiment_and_the_card_says_who_and_when(
    room: Room, ts: str
) -> None:
    card = offered(room, ts)
    decide(room, "approve", card, ts)
    (run,) = experiments(room)
    assert (run.host, run.port, run.user, run.state) == ("CT129", 30000, "USAM", "waiting")
    assert [one.id for one in room.queue] == [run.id]
    approved = room.store.experiments.approved(run.id)
    assert approved is not None
    assert (approved.by, approved.digest) == ("USAM", card.shown)
    edit = next(one for one in room.letters(ts) if one.edits == card.key)
    assert edit.buttons == ()
    assert text_of(edit).splitlines()[-1].startswith("Approved by sam at ")
    trail = next(one for one in room.letters(ts) if one.key == f"run:{run.id}:trail")
    assert (
        "Trying on CT129: --mamba-scheduler-strategy extra_buffer, without --disable-radix-cache."
        in text_of(trail)
    )
    act = last_act(room)
    assert (act.user, act.act, act.host) == ("USAM", "approve", "CT129")
    assert act.outcome == f"accepted (run {run.id})"


def test_a_double_click_and_a_second_approver_are_told_and_change_nothing(
    room: Room, ts: str
) -> None:
    card = offered(room, ts)
    decide(room, "approve", card, ts)
    decide(room, "approve", card, ts)
    assert text_of(alone(room)).startswith("sam approved this at ")
    decide(room, "approve", card, ts, user="UOPS")
    assert text_of(alone(room)).startswith("sam approved this at ")
    decide(room, "decline", card, ts, user="UOPS")
    assert len(experiments(room)) == 1
    assert last_act(room).outcome.startswith("refused: sam approved this")


@pytest.mark.parametrize("user", ["UANA", "UEVE"])
def test_who_may_not_approve_is_told_who_may_and_it_is_audited(
    room: Room, ts: str, user: str
) -> None:
    card = offered(room, ts)
    decide(room, "approve", card, ts, user=user)
    assert not experiments(room)
    letter = alone(room)
    assert letter.only_for == user
    may = "You may not approve changes on CT129. sam, a user group may. Nothing was done."
    assert user != "UANA" or text_of(letter) == may
    act = last_act(room)
    assert (act.user, act.act) == (user, "approve")
    assert act.outcome.startswith("refused: ")


def test_who_asked_for_it_may_take_it_off_the_table_and_not_approve_it(room: Room) -> None:
    ts = room.say(ASK, user="UANA")
    room.work()
    room.press("propose", 1, ts, user="UANA")
    room.work()
    card = card_of(room, ts)
    decide(room, "approve", card, ts, user="UANA")
    assert not experiments(room)
    decide(room, "decline", card, ts, user="UANA")
    edit = next(one for one in room.letters(ts) if one.edits == card.key)
    assert text_of(edit).splitlines()[-1].startswith("Declined by ana at ")
    decide(room, "approve", card, ts)
    assert "ana declined this" in text_of(alone(room))
    assert not experiments(room)


def test_a_button_of_another_proposal_approves_nothing(room: Room, ts: str) -> None:
    card = offered(room, ts)
    decide(room, "approve", card, ts, shown="f" * 64)
    assert "not of this proposal" in text_of(alone(room))
    other = room.store.proposals.add(
        900, proposal("CT130"), user="USAM", channel="CGPU", thread=ts, lives_s=60
    )
    decide(room, "approve", card, ts, shown=other.digest)
    assert "not of this proposal" in text_of(alone(room))
    room.press("approve", 77, ts, shown=card.shown)
    assert "no longer have that proposal" in text_of(alone(room))
    assert not experiments(room)


def test_a_click_from_another_conversation_approves_nothing(room: Room, ts: str) -> None:
    card = offered(room, ts)
    decide(room, "approve", card, "1700000000.999999")
    assert "belongs to another conversation" in text_of(alone(room))
    decide(room, "approve", card, ts, channel="DSAM")
    assert "belongs to another conversation" in text_of(alone(room))
    assert not experiments(room)


def test_a_body_that_was_edited_in_the_database_is_not_approved(room: Room, ts: str) -> None:
    card = offered(room, ts)
    with room.store._database.writing() as connection:
        other = proposal(new=("python3", "-m", "http.server")).model_dump_json()
        connection.execute(rows.update().values(body=other))
    decide(room, "approve", card, ts)
    assert "not of this proposal" in text_of(alone(room))
    assert not experiments(room)


def test_an_expired_proposal_is_told_and_its_card_says_so(room: Room, ts: str) -> None:
    card = offered(room, ts)
    now = room.store._database.now
    room.store._database.now = lambda: now() + LIVES_S
    room.desk._deciding_on._approvals._now = room.store._database.now
    decide(room, "approve", card, ts)
    assert "has expired" in text_of(alone(room))
    edit = next(one for one in room.letters(ts) if one.edits == card.key)
    assert text_of(edit).splitlines()[-1].startswith("Expired at ")
    assert edit.buttons == ()
    assert not experiments(room)


def test_what_nobody_decided_loses_its_buttons_by_itself(room: Room, ts: str) -> None:
    card = offered(room, ts)
    approvals = Approvals(room.store, lambda _user: "", room.store._database.now)
    assert expire(room.store, approvals) == 0
    now = room.store._database.now
    room.store._database.now = lambda: now() + LIVES_S
    assert expire(room.store, approvals) == 1
    assert [one.edits for one in room.letters(ts) if one.edits] == [card.key]
    assert expire(room.store, approvals) == 0


def test_a_newer_proposal_for_the_server_replaces_the_one_before(room: Room, ts: str) -> None:
    old = offered(room, ts)
    room.say("set --chunked-prefill-size 4096 on CT129 and measure", thread=ts)
    room.work()
    new = card_of(room, ts)
    assert "+ --chunked-prefill-size 4096" in text_of(new)
    edit = next(one for one in room.letters(ts) if one.edits == old.key)
    assert text_of(edit).splitlines()[-1].startswith("Replaced by a newer proposal")
    decide(room, "approve", old, ts)
    assert "There is a newer proposal" in text_of(alone(room))
    assert not experiments(room)
    decide(room, "approve", new, ts)
    assert len(experiments(room)) == 1


def test_a_server_that_is_being_changed_is_not_changed_a_second_time(room: Room, ts: str) -> None:
    decide(room, "approve", offered(room, ts), ts)
    (run,) = experiments(room)
    room.store.experiments.take("CT129", 30000, run.id)
    room.queue.clear()
    room.say("set --chunked-prefill-size 4096 on CT129", thread=ts)
    room.work()
    decide(room, "approve", card_of(room, ts), ts)
    assert f"is being changed by another experiment (run {run.id})" in text_of(alone(room))
    assert len(experiments(room)) == 1


def test_try_it_means_the_remedy_of_the_verdict(room: Room, ts: str) -> None:
    room.say("try it", thread=ts)
    room.work()
    assert "without --disable-radix-cache" in text_of(card_of(room, ts))


def test_people_who_talk_to_each_other_are_left_alone_and_who_asks_to_measure_is_heard(
    room: Room, ts: str
) -> None:
    for said in ("set chunked prefill to 4096 tonight, ana", "I will try it tomorrow"):
        room.say(said, thread=ts, addressed=False)
    assert not room.queue
    room.say("set chunked prefill to 4096 and measure", thread=ts, addressed=False)
    assert [run.kind for run in room.queue] == ["proposal"]


def test_try_it_without_a_verdict_says_so(room: Room) -> None:
    ts = room.say("set --chunked-prefill-size 4096 and measure")
    assert "Which host do you mean?" in room.said(ts)[-1] or "CT129" in room.said(ts)[-1]
    assert not [run for run in room.runs() if run.kind == "proposal"]


def test_put_it_back_without_anything_kept_says_so(room: Room, ts: str) -> None:
    room.say("put it back", thread=ts)
    assert "no change that I kept" in room.said(ts)[-1]
    assert not room.queue


def test_words_of_who_may_not_ask_about_the_host_propose_nothing(
    make_room: Callable[..., Room],
) -> None:
    room = make_room(CT129={"ask": ("USAM",)})
    ts = room.say("set --chunked-prefill-size 4096 on CT129", user="UANA")
    assert "you may not ask me about CT129" in room.said(ts)[-1]
    assert not room.queue


def test_a_server_of_which_the_start_is_not_seen_is_not_proposed_for(room: Room, ts: str) -> None:
    room.more.clear()
    room.press("propose", 1, ts)
    room.work()
    assert "How this server was started cannot be seen" in room.said(ts)[-1]
    assert room.runs()[-1].state == "done"


@pytest.mark.parametrize(
    "situation", ["kubernetes_pod", "slurm_batch_job", "supervised_shell_loop"]
)
def test_a_server_that_may_not_be_restarted_has_no_button_and_the_reason(
    room: Room, ts: str, situation: str
) -> None:
    room.more["ReadLauncher"] = launcher(situation)
    room.press("propose", 1, ts)
    room.work()
    _what_set_it, letter = room.letters(ts, "answer")
    assert letter.buttons == ()
    assert text_of(letter).startswith("I cannot restart this server safely: ")


def test_a_card_repeats_host_and_change_before_an_approval_counts() -> None:
    offer = Offer(
        3, 7, "CT129", 30000, "C1", "1.0", "U1", proposal(), proposal().digest, "pending", 0.0, 60.0
    )
    made = card(offer, "Expires at 00:01 UTC.", "sam")
    assert made.asks == (
        "CT129:30000 is restarted: --chunked-prefill-size 4096 (was 2048). 3 requests run now."
    )
    assert made.shown == proposal().digest
    assert Change(set={"chunked_prefill_size": 4096}) == offer.proposal.change
