"""What becomes of what people say: work, a word, or silence; each once, refused politely, audited."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from bot.message import Message
from bot.slack.delivery.addresses import Addresses
from bot.store import Run
from tests.work.room import Room, text_of
from tools.errors import ToolsError

Make = Callable[..., Room]


def last(room: Room) -> str:
    return room.said()[-1]


def acts(room: Room) -> list[tuple[str, str, str, str | None]]:
    return [
        (one.user, one.act, one.outcome, one.host) for one in reversed(room.store.audit.newest())
    ]


def test_a_question_is_work_with_its_trail_and_audited(room: Room) -> None:
    ts = room.say("why is ct129:30001 slow?")
    (run,) = room.queue
    assert (run.kind, run.host, run.port, run.state, run.thread) == (
        "host",
        "CT129",
        30001,
        "waiting",
        ts,
    )
    assert acts(room) == [("USAM", "ask", "accepted (run 1)", "CT129")]


def test_the_same_message_twice_is_one_run_and_is_handed_on_again(room: Room) -> None:
    message = Message(
        channel="CGPU", ts="1.1", thread="1.1", user="USAM", text="why is CT129 slow?"
    )
    room.desk.hear(message, "evt:1")
    room.desk.hear(message, "evt:2")
    assert [run.id for run in room.queue] == [1, 1]
    assert len(room.letters()) == 1
    assert len(room.runs()) == 1
    room.work()
    room.desk.hear(message, "evt:3")
    assert not room.queue


def test_a_word_is_said_once_whatever_happened_since(make_room: Make) -> None:
    room = make_room(limits={"open_per_user": 1})
    room.say("why is CT129 slow?")
    message = Message(
        channel="CGPU", ts="9.1", thread="9.1", user="USAM", text="why is CT130 slow?"
    )
    room.desk.hear(message, "evt:1")
    assert "You have 1 investigation open" in last(room)
    room.work()
    room.desk.hear(message, "evt:1")
    assert not room.queue, "the answer stands; a repeat does not become work"


def test_many_threads_that_hear_one_message_make_one_run(room: Room) -> None:
    message = Message(
        channel="CGPU", ts="1.1", thread="1.1", user="USAM", text="why is CT129 slow?"
    )
    threads = [
        threading.Thread(target=room.desk.hear, args=(message, f"evt:{n}")) for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(room.runs()) == 1
    assert len(room.letters()) == 1


def test_many_who_ask_about_one_host_at_once_share_one_run(room: Room) -> None:
    def ask(n: int) -> None:
        message = Message(
            channel="CGPU", ts=f"1.{n}", thread=f"1.{n}", user=f"U{n}", text="why is CT129 slow?"
        )
        room.desk.hear(message, f"evt:{n}")

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    states = [run.state for run in room.runs()]
    assert (states.count("waiting"), states.count("joined")) == (1, 7)
    room.work()
    assert {run.state for run in room.runs()} == {"done"}
    assert len(room.letters(kind="verdict")) == 8
    assert len(room.hosts) == 1


def test_a_queue_that_does_not_answer_loses_nothing(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_: Run) -> None:
        raise ToolsError("The queue of work does not answer.")

    monkeypatch.setattr(room.desk, "_enqueue", fails)
    room.say("why is CT129 slow?")
    assert [run.state for run in room.store.runs.open()] == ["waiting"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "I find out why an LLM server is slow"),
        ("hello!", "I find out why an LLM server is slow"),
        ("Help", "I find out why an LLM server is slow"),
        ("hosts", "Hosts that you may ask me about:\nCT129\nCT130"),
        ("thanks!", "You are welcome."),
        ("stop", "Nothing is running in this thread."),
        ("why is it slow?", "Which host do you mean? I know CT129, CT130."),
        ("why is ct131 slow?", "I do not know ct131, and look only at hosts that I was given. I know CT129, CT130."),
        ("ssh root@10.0.0.7 and look", "I do not know root@10.0.0.7"),
    ],
)  # fmt: skip
def test_what_takes_no_work_is_answered_at_once(room: Room, text: str, says: str) -> None:
    room.say(text)
    assert says in last(room)
    assert not room.queue


def test_a_host_is_never_whatever_a_message_names(make_room: Make) -> None:
    room = make_room(hosts=())
    for text in ("why is ct129 slow?", "why is it slow?", "root@10.0.0.7:22 is slow"):
        room.say(text)
        assert "No host is set up yet" in last(room)
    assert not room.queue
    assert not room.runs()


def test_the_only_host_needs_no_name(make_room: Make) -> None:
    room = make_room(hosts=("CT129",))
    room.say("why is it slow?")
    assert room.queue[0].host == "CT129"


@pytest.mark.parametrize("more", [{}, {"addressed": False}])
def test_the_name_that_was_asked_for_completes_the_question(
    room: Room, more: dict[str, Any]
) -> None:
    ts = room.say("it does 55 tok/s, it was 70. nccl?")
    room.say("ok, let me see", thread=ts, addressed=False)
    room.say("CT130", user="UANA", thread=ts, addressed=False)
    assert not room.queue, "neither chatter nor somebody else's word"
    room.say("ct130", thread=ts, **more)
    (run,) = room.queue
    assert (run.host, run.thread) == ("CT130", ts)
    assert "55 tok/s now, 70 remembered" in last(room)


@pytest.mark.parametrize("text", ["CT-130", "ct 130", "ct130 please"])
def test_a_name_may_be_spelled_as_people_spell_it(room: Room, text: str) -> None:
    ts = room.say("why is it slow?")
    room.say(text, thread=ts, addressed=False)
    assert room.queue[0].host == "CT130"


def test_a_name_that_nobody_knows_is_no_dead_end(room: Room) -> None:
    ts = room.say("why is it slow?")
    room.say("ct128", thread=ts, addressed=False)
    assert "I do not know ct128" in last(room)


@pytest.mark.parametrize("text", ["ok", "Great!", "I see", "ok, got it"])
def test_a_nod_is_no_question(room: Room, text: str) -> None:
    ts = room.say("why is CT129 slow?")
    room.work()
    before = len(room.letters())
    room.say(text, thread=ts)
    assert not room.queue
    assert len(room.letters()) == before


def test_anger_at_a_verdict_is_about_the_verdict(room: Room) -> None:
    ts = room.say("why is CT129 slow?")
    room.work()
    room.say("this is bullshit, you are useless", thread=ts)
    room.work()
    assert last(room).startswith("I am sorry that this does not help.")


def test_who_wants_a_bare_restart_is_told_how_one_with_a_change_is_proposed(room: Room) -> None:
    room.say("please restart sglang on CT129")
    assert "do not restart a server as it is" in last(room)
    assert "“set --max-running-requests 48 and measure”" in last(room)
    assert [run.kind for run in room.queue] == ["host"], "and it is looked at"
    room.say("fix CT130")
    assert "“try it” below the verdict has me propose the restart" in last(room)
    room.say("why is CT130 slow since the restart?")
    assert "restart a server" not in last(room)


@pytest.mark.parametrize(
    "text",
    [
        "restart CT129 with --chunked-prefill-size 4096",
        "please restart CT129 with chunked prefill 4096",
        "restart CT129 with chunked prefill size of 4k",
        "restart CT129 with cuda graphs off",
    ],
)
def test_a_restart_with_a_change_is_proposed(room: Room, text: str) -> None:
    room.say(text)
    assert [run.kind for run in room.queue] == ["proposal"]
    assert last(room).startswith("I prepare a proposal for CT129: --")


def test_several_hosts_are_a_run_each_and_too_many_are_refused(make_room: Make) -> None:
    room = make_room(hosts=("A1", "A2", "A3", "A4"))
    ts = room.say("why are A1, A2 and A3 slow?")
    assert [(run.host, run.thread) for run in room.queue] == [("A1", ts), ("A2", ts), ("A3", ts)]
    room.say("why are A1, A2, A3 and A4 slow?")
    assert "You name 4 hosts; I look at up to 3" in last(room)


def test_another_server_on_the_same_host_is_another_question(room: Room) -> None:
    room.say("why is CT129:30000 slow?")
    room.say("why is CT129:30001 slow?")
    room.say("why is CT129 slow?")
    assert [run.state for run in room.runs()] == ["waiting", "waiting", "joined"]


def test_who_joins_is_told_where_and_who_is_first_reads_the_place_in_the_queue(
    make_room: Make,
) -> None:
    room = make_room(hosts=("A1", "A2", "A3"), limits={"at_once": 1})
    first = room.say("why is A1 slow?")
    assert "number" not in last(room)
    room.say("why is A2 slow?")
    assert "You are number 1 in the queue" in last(room)
    room.say("why is A3 slow?")
    assert "You are number 2 in the queue" in last(room)
    room.say("why is A1 slow?", user="UANA")
    assert "A1 is in the queue already for sam" in last(room)
    assert room.letters()[-1].parts[0].cites == ("its thread",)  # type: ignore[union-attr]
    room.say("and now, A1?", user="UANA", thread=first)
    assert last(room).startswith("I am still looking")


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        ({"open_per_user": 1}, "You have 1 investigation open"),
        ({"open_per_channel": 1}, "This channel has 1 investigation open"),
        ({"per_hour": 1}, "You have asked once within the hour"),
    ],
)
def test_limits_are_told_politely_and_audited(
    make_room: Make, limits: dict[str, int], says: str
) -> None:
    room = make_room(limits=limits)
    room.say("why is CT129 slow?")
    room.say("why is CT130 slow?")
    assert says in last(room)
    assert "lease ask again later" in last(room) or "lease wait" in last(room)
    assert acts(room)[-1][2].startswith("refused: limit")
    assert len(room.queue) == 1


def test_others_may_ask_where_one_person_may_not(make_room: Make) -> None:
    room = make_room(limits={"open_per_user": 1})
    room.say("why is CT129 slow?")
    room.say("why is CT130 slow?", user="UANA")
    assert len(room.queue) == 2


def test_who_may_not_ask_is_refused_and_audited_and_nothing_is_asked(make_room: Make) -> None:
    room = make_room(CT130={"ask": ("SOPS",)})
    room.say("why is CT130 slow?")
    assert last(room).startswith("I am sorry, you may not ask me about CT130 here.")
    assert acts(room) == [("USAM", "look", "refused", None)]
    room.say("why is CT130 slow?", user="UOPS")
    room.say("hosts")
    assert [run.user for run in room.queue] == ["UOPS"]
    assert "CT130" not in last(room)
    room.say("why is CT129 slow?", user="UEVE")
    assert "Guests and people of other workspaces" in last(room)


def test_a_thread_gives_nobody_what_its_host_forbids(make_room: Make) -> None:
    room = make_room(CT130={"ask": ("SOPS",)})
    ts = room.say("why is CT130 slow?", user="UOPS")
    room.work()
    for text in ("why not NCCL?", "check again", "stop"):
        room.say(text, thread=ts)
        assert "you may not ask me about CT130" in last(room), text
    room.say("compare with CT130", thread=room.say("why is CT129 slow?"))
    assert "you may not ask me about CT130" in last(room)
    room.queue.clear()
    room.press("check_again", 1, ts)
    letter = room.letters()[-1]
    assert letter.only_for == "USAM"
    assert "you may not ask me about CT130" in text_of(letter)
    room.press("show_evidence", 1, ts)
    assert not room.queue
    assert not [one for one in room.letters() if one.key == "run:1:evidence"]
    assert acts(room)[-1] == ("USAM", "press show_evidence", "refused", "CT130")


def test_a_follow_up_that_names_a_host_is_refused_as_a_question_about_it(make_room: Make) -> None:
    room = make_room(CT130={"ask": ("SOPS",)})
    ts = room.say("why is CT130 slow?", user="UOPS")
    room.say("why is CT129 slow?", user="UOPS", thread=ts)
    room.work()
    room.say("why not NCCL on CT130?", thread=ts)
    assert "you may not ask me about CT130" in last(room)
    room.say("why not NCCL?", thread=ts)
    room.work()
    assert last(room).startswith("NCCL")


def test_in_a_thread_of_ours_people_may_talk_to_each_other(room: Room) -> None:
    ts = room.say("why is CT129 slow?")
    for text in ("CT130 is slow too", "hm, let me ask Bob", "thanks", "help", "hosts", ""):
        room.say(text, thread=ts, addressed=False, user="UANA")
    room.say("stop it, Bob", thread=ts, addressed=False, others=True)
    room.say("see this", thread=ts, addressed=False, pasted=("a log\n" * 20,))
    assert len(room.letters(ts)) == 1
    assert len(room.queue) == 1
    room.say("hello there", thread="55.5", addressed=False)
    assert len(room.letters()) == 1


@pytest.mark.parametrize("word", ["stop", "Stop!", "please stop", "cancel that", "stop it"])
def test_stop_in_the_thread_stops_also_without_a_mention(room: Room, word: str) -> None:
    ts = room.say("why is CT129 slow?")
    room.store.runs.begin(1)
    room.say(word, thread=ts, addressed=False, user="UANA")
    assert room.store.runs.stop_asked([1]) == {1: "UANA"}


def test_what_waits_is_stopped_at_once_and_who_joined_goes_on(room: Room) -> None:
    ts = room.say("why is CT129 slow?")
    second = room.say("is it the power cap on CT129?", user="UANA")
    third = room.say("why is CT129 slow?", user="UBOB")
    room.queue.clear()
    room.say("stop", thread=ts)
    assert "Stopped before I had begun." in room.said(ts)[-1]
    assert room.letters(ts)[-1].key == "run:1:trail-end"
    assert [run.id for run in room.queue] == [2]
    room.work()
    assert [run.state for run in room.runs()] == ["stopped", "done", "done"]
    assert room.letters(second, "verdict")
    assert room.letters(third, "verdict")


def test_who_joined_may_leave(room: Room) -> None:
    room.say("why is CT129 slow?")
    second = room.say("why is CT129 slow?", user="UANA")
    room.say("stop", user="UANA", thread=second)
    assert "I wait no longer" in room.said(second)[-1]
    room.work()
    assert [run.state for run in room.runs()] == ["done", "stopped"]
    assert len(room.letters(second, "verdict")) == 1


def test_the_platforms_stop_is_a_stop_and_where_nothing_runs_it_is_silent(room: Room) -> None:
    ts = room.say("why is CT129 slow?")
    room.store.runs.begin(1)
    room.desk.stop("CGPU", ts, "USAM", "evt:9")
    assert room.store.runs.stop_asked([1]) == {1: "USAM"}
    room.desk.stop("CGPU", "77.7", "USAM", "evt:10")
    room.desk.stop("CGPU", ts, "UEVE", "evt:11")
    assert room.letters()[-1].only_for == "UEVE"


def test_who_joins_elsewhere_gets_the_address_of_the_thread_that_tells(room: Room) -> None:
    room.say("why is CT129 slow?")
    second = room.say("why is CT129 slow?", user="UANA", channel="CELSE")
    room.store.letters.link("run:1:trail", "https://lab.slack.com/archives/CGPU/p1")
    addresses = Addresses(room.store, None)  # type: ignore[arg-type]
    links = asyncio.run(addresses.of(room.letters(second)[0]))
    assert links == {"its thread": "https://lab.slack.com/archives/CGPU/p1"}
