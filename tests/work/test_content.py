"""Files that go into a thread: raw and redacted, bounded, and harmless to who opens them."""

from __future__ import annotations

import pytest

from bot.letter import Attached
from bot.work import content, told
from tests.work.room import Room
from tools.case import Case
from tools.evidence import read_back
from tools.host import Output


def evidence(room: Room, **more: object) -> str:
    attached = Attached(kind="evidence", run=1, name="e.txt", title="e", **more)  # type: ignore[arg-type]
    return (room.worker.content(attached) or b"").decode()


@pytest.fixture
def seen(room: Room) -> Room:
    room.say("why is CT129 slow?")
    room.work()
    return room


def test_every_look_is_there_with_its_command_and_its_raw_answer(seen: Room) -> None:
    text = evidence(seen)
    case = seen.store.cases.load(1)
    assert case
    for number, one in enumerate(case.asked, start=1):
        assert f"\nE{number}  " in text
        assert one.command in text
    assert case.asked[0].output.stdout[0] in text


def test_a_large_answer_is_cut_and_says_so(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content, "MOST_BYTES", 5000)
    looks = [read_back(1, None, "host", Output(stdout="ÄÖÜ line of text\n" * 2000))]
    room.say("why is CT129 slow?")
    room.store.cases.save(1, Case.of("CT129", "why", "captured", looks))
    text = evidence(room)
    assert len(text.encode()) < 5200
    assert "[cut here: " in text


def test_what_would_steer_a_terminal_is_gone_and_secrets_were_never_kept(room: Room) -> None:
    hostile = (
        "\x1b[31mred\x1b]0;title\x07 \u202eesrever\nHF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz123456\n"
    )
    room.say("what is this?", pasted=(hostile,))
    room.work()
    text = evidence(room)
    assert "red" in text
    assert not {"\x1b", "\x07", "\u202e"} & set(text)
    assert "hf_abcdefghij" not in text


def test_the_button_puts_it_into_the_thread_once(seen: Room) -> None:
    ts = seen.letters()[0].thread or ""
    seen.press("show_evidence", 1, ts)
    seen.press("show_evidence", 1, ts, user="UANA")
    files = [one for one in seen.letters(ts, "file") if one.key == "run:1:evidence"]
    assert len(files) == 1
    assert files[0].attached == told.evidence_of(seen.runs()[0])
    last = seen.letters(ts)[-1]
    assert (last.only_for, last.parts[0].text) == (
        "UANA",
        "The evidence is in this thread already.",
    )  # type: ignore[union-attr]


def test_there_is_nothing_to_send_of_a_run_whose_looks_are_gone(seen: Room) -> None:
    seen.store.tidy(-10)
    assert not evidence(seen)


def test_the_chart_is_a_picture(seen: Room) -> None:
    pytest.importorskip("matplotlib")
    chart = next(one.attached for one in seen.letters() if one.key == "run:1:chart")
    assert chart
    assert (seen.worker.content(chart) or b"").startswith(b"\x89PNG")
    assert "Gen1" in chart.alt or "ms" in chart.alt
