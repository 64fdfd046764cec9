"""Follow-ups: answered from the looks of the thread, with new ones where needed and none asked twice."""

from __future__ import annotations

import pytest

from tests.work.room import Room, text_of

ASK = "don't leave perf on the table on CT129. it does 55 tok/s, it was 70. cuda graphs? nccl?"


@pytest.fixture
def thread(room: Room) -> str:
    ts = room.say(ASK)
    room.work()
    return ts


def answer(room: Room, thread: str, text: str, **more: object) -> str:
    room.say(text, thread=thread, **more)
    room.work()
    letters = room.letters(thread, "answer")
    return text_of(letters[-1]) if letters else ""


def test_why_not_is_answered_from_the_looks_alone(room: Room, thread: str) -> None:
    said = answer(room, thread, "why not NCCL?")
    assert "NCCL" in said
    assert len(room.hosts) == 1, "nothing was asked of the host"
    run = room.store.runs.get(2)
    assert run
    assert (run.kind, run.state, run.about, run.category) == ("followup", "done", 1, None)


def test_it_is_answered_without_a_mention_where_it_is_clear(room: Room, thread: str) -> None:
    assert answer(room, thread, "what if we had NVLink?", user="UANA", addressed=False)
    before = len(room.letters(thread))
    for chatter in ("ok will do", "I think the riser is bad, let me ask Bob", "thanks", "help"):
        room.say(chatter, thread=thread, addressed=False)
    room.say("why not NCCL?", thread=thread, addressed=False, others=True)
    room.work()
    assert len(room.letters(thread)) == before


def test_a_new_look_is_kept_and_never_asked_again(room: Room, thread: str) -> None:
    answer(room, thread, "grep the log for retract")
    assert room.hosts[1].asked == ["GrepServerLog"]
    answer(room, thread, "grep the log for retract")
    assert len(room.hosts) == 2, "the answer was kept"
    first, second = room.store.cases.load(1), room.store.cases.load(2)
    assert first
    assert second
    assert len(second.asked) == len(first.asked) + 1


def test_another_question_is_judged_on_the_same_looks(room: Room, thread: str) -> None:
    said = answer(room, thread, "our users say long prompts take ages since the move")
    assert said
    assert len(room.hosts) == 1


def test_raw_evidence_comes_as_a_file(room: Room, thread: str) -> None:
    answer(room, thread, "show E5")
    attached = next(one.attached for one in room.letters(thread) if one.key == "run:2:file")
    assert attached
    assert attached.looks == ("E5",)
    text = (room.worker.content(attached) or b"").decode()
    assert "\nE5  " in text
    assert "\nE4  " not in text


def test_a_follow_up_while_it_still_looks_is_answered_after_the_verdict(room: Room) -> None:
    thread = room.say(ASK)
    room.say("why not NCCL?", thread=thread)
    assert "I am still looking" in room.said(thread)[-1]
    room.work()
    keys = [letter.key for letter in room.letters(thread)]
    assert keys.index("run:2:answer") > keys.index("run:1:verdict")
    assert "NCCL" in room.said(thread)[-1]


def test_comparing_with_a_host_that_was_never_seen_looks_at_it_first(
    room: Room, thread: str
) -> None:
    said = answer(room, thread, "compare with CT130")
    assert [host.name for host in room.hosts] == ["CT129", "CT130"]
    assert room.letters(thread, "trail")[-1].run == 2
    assert "CT130" in said
    answer(room, thread, "compare with ct130")
    assert len(room.hosts) == 2, "it was seen"


def test_after_a_comparison_the_thread_is_still_about_its_own_host(room: Room, thread: str) -> None:
    answer(room, thread, "compare with CT130")
    assert not [said for said in room.said(thread) if "I am still looking" in said]
    assert "PCIe links" in answer(room, thread, "what should I do?")
    run = room.runs()[-1]
    assert (run.host, run.about) == ("CT129", 1)


def test_a_follow_up_that_names_a_host_is_about_that_host(room: Room) -> None:
    thread = room.say("why are CT129 and CT130 slow?")
    room.work()
    assert "PCIe links" in answer(room, thread, "what should I do about CT129?")
    assert "PCIe links" not in answer(room, thread, "how sure are you about CT130?")


@pytest.mark.parametrize(
    "text", ["I rebooted it, still slow", "we replaced the riser", "still slow"]
)
def test_what_was_done_since_is_looked_at_and_not_answered_from_old_looks(
    room: Room, thread: str, text: str
) -> None:
    before = len(room.hosts)
    answer(room, thread, text)
    assert len(room.hosts) == before + 1
    room.say(text, thread=thread, addressed=False)
    assert not room.queue, "people tell it each other, too"


@pytest.mark.parametrize("text", ["can you just fix it", "restart sglang"])
def test_who_wants_a_change_is_told_that_nothing_is_changed_and_what_to_do(
    room: Room, thread: str, text: str
) -> None:
    said = answer(room, thread, text)
    assert said.startswith("I cannot do that: I only read")
    assert "Power the Proxmox host off and on" in said


def test_a_change_that_is_named_is_not_proposed_where_the_start_was_not_seen(
    room: Room, thread: str
) -> None:
    said = answer(room, thread, "set --tp-size 1 please")
    assert said.startswith("How this server was started cannot be seen")
    assert "so I do not restart it" in said


def test_check_again_in_words_looks_again_for_the_first_question(room: Room, thread: str) -> None:
    room.say("check again", thread=thread)
    room.work()
    run = room.store.runs.get(2)
    assert run
    assert (run.kind, run.host, run.text, run.about) == ("host", "CT129", ASK, 1)
    assert text_of(room.letters(thread, "verdict")[-1]).startswith("Compared with the look")


def test_what_is_gone_is_said(room: Room, thread: str) -> None:
    room.store.tidy(-10)
    assert answer(room, thread, "why not NCCL?").startswith("I no longer have what I saw")


def test_files_are_followed_up_without_asking_anybody(room: Room) -> None:
    thread = room.say("what is wrong?", pasted=("some text of no form " * 30,))
    room.work()
    assert answer(room, thread, "grep the log for retract")
    assert answer(room, thread, "what could you not check?")
    assert not room.hosts


def test_a_stopped_follow_up_answers_without_the_new_look(room: Room, thread: str) -> None:
    room.say("grep the log for retract", thread=thread)
    room.desk.stop("CGPU", thread, "UANA", "evt:1")
    room.work()
    assert room.said(thread)[-1].startswith("Stopped before I had begun.")
