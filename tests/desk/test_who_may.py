"""Nobody sees, stops or asks on what they may not ask about: other channels, other hosts of one thread."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bot.letter import Letter
from bot.slack.reception.words import read
from tests.work.room import Room, text_of

ASK = "why is CT129 slow? it does 55 tok/s, it was 70"
LOG = "[2026-01-01 00:00:00] server_args=ServerArgs(model_path='/models/q')\n" * 9
ALONE = {"CT129": {"ask": ("USAM",)}}  # CT130 is open to all


@pytest.fixture
def narrow(make_room: Callable[..., Room]) -> Room:
    return make_room(**ALONE)


def _shows(letter: Letter, run: int) -> bool:
    return bool(
        letter.attached and letter.attached.kind == "evidence" and letter.attached.run == run
    )


@pytest.mark.parametrize("button", ["show_evidence", "ask_why", "propose", "check_again", "right"])
def test_a_button_of_another_channels_run_does_nothing(room: Room, button: str) -> None:
    room.say(ASK, channel="CSECRET")
    room.work()
    before = room.letters()
    room.press(button, 1, "1.1", right=True)
    new = [one for one in room.letters() if one not in before]
    assert [(one.kind, one.only_for, one.channel) for one in new] == [("word", "USAM", "CGPU")]
    assert text_of(new[0]).startswith("That button belongs to another conversation.")
    assert not room.queue
    assert not room.store.opinions.of(1)
    noted = room.store.audit.newest(1)[0]
    assert (noted.act, noted.outcome, noted.host) == (f"press {button}", "refused", "CT129")


def test_a_run_of_another_channel_is_not_stopped_by_its_number(room: Room) -> None:
    room.say(ASK, channel="CSECRET")
    room.store.runs.begin(1)
    room.press("stop", 1, "1.1")
    assert not room.store.runs.stop_asked([1])


def test_files_of_another_channel_show_nothing_either(room: Room) -> None:
    room.say("what is wrong?", channel="CSECRET", pasted=(LOG,))
    room.work()
    room.press("show_evidence", 1, "1.1")
    assert not [one for one in room.letters() if _shows(one, 1) and one.channel == "CGPU"]


def test_files_that_were_read_after_a_host_show_its_looks_to_nobody_who_may_not_ask_about_it(
    narrow: Room,
) -> None:
    ts = narrow.say(ASK)
    narrow.work()
    narrow.say("and this?", thread=ts, pasted=(LOG,))
    narrow.work()
    assert narrow.runs()[1].host is None
    narrow.press("show_evidence", 2, ts, user="UANA")
    assert "you may not ask me about CT129" in narrow.said()[-1]
    assert not [one for one in narrow.letters(ts) if _shows(one, 2)]
    narrow.press("show_evidence", 2, ts)
    assert [one for one in narrow.letters(ts) if _shows(one, 2)]


@pytest.mark.parametrize("text", ["why?", "show me the evidence", "is it NCCL?", "and this?"])
def test_what_stands_on_looks_at_a_host_is_not_told_after_another_host_was_named(
    narrow: Room, text: str
) -> None:
    ts = narrow.say(ASK)
    narrow.work()
    narrow.unreachable = "CT130 is off."
    narrow.say("and CT130?", thread=ts, user="UANA")
    narrow.work()
    assert narrow.runs()[-1].host == "CT130"
    count = len(narrow.runs())
    pasted = (LOG,) if text == "and this?" else ()
    narrow.say(text, thread=ts, user="UANA", pasted=pasted)
    assert "you may not ask me about CT129" in narrow.said()[-1]
    assert len(narrow.runs()) == count


@pytest.mark.parametrize("way", ["word", "platform"])
def test_who_may_not_ask_about_a_host_stops_nothing_on_it(narrow: Room, way: str) -> None:
    ts = narrow.say(ASK)
    narrow.store.runs.begin(1)
    narrow.say("and CT130?", thread=ts, user="UANA")
    if way == "word":
        narrow.say("stop", thread=ts, user="UANA")
    else:
        narrow.desk.stop("CGPU", ts, "UANA", "evt:1")
    assert not narrow.store.runs.stop_asked([1])
    assert "you may not ask me about CT129" in narrow.said()[-1]
    assert narrow.store.audit.newest(1)[0].outcome == "refused"
    narrow.desk.stop("CGPU", ts, "USAM", "evt:2")
    assert narrow.store.runs.stop_asked([1])


@pytest.mark.parametrize("text", ["why is it slow?", "why is db7 slow?", "help", "hosts", "hi"])
def test_a_host_is_named_to_nobody_who_may_not_ask_about_it(narrow: Room, text: str) -> None:
    narrow.say(text, user="UANA")
    assert "CT130" in narrow.said()[-1]
    assert "CT129" not in narrow.said()[-1]
    narrow.say(text)
    assert "CT129" in narrow.said()[-1]


def test_comparing_needs_both_hosts(narrow: Room) -> None:
    narrow.say(ASK)
    narrow.work()
    ts = narrow.say("why is CT130 slow?", user="UANA")
    narrow.work()
    narrow.say("compare with CT129", thread=ts, user="UANA")
    assert "you may not ask me about CT129" in narrow.said()[-1]
    assert not narrow.queue


def test_a_secret_in_a_question_is_kept_nowhere(room: Room, tmp_path: Path) -> None:
    secret = "xoxb-1234567890-abcdefghijklmnop"
    words = read(f"why is CT129 slow? HF_TOKEN=hf_{'a' * 30} *{secret}*", "UBOT")
    room.say(words.text)
    room.work()
    room.store.close()
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"why is CT129 slow" in kept
    assert secret.encode() not in kept
    assert b"hf_aaaa" not in kept
