"""An investigation from the question to its letters: told, kept, resumed, joined, and never without an end."""

from __future__ import annotations

import pytest

from bot import narrator
from bot.demo import shipped
from bot.investigate import Judged, Learned, investigate
from bot.narrator import Line
from bot.planner import Playbook
from bot.question import Question
from bot.report import report
from bot.source.look import SourceLook
from bot.store import Run
from bot.work import told
from bot.work.work import RESTARTS
from tests.lab.sshd import wait_for
from tests.work.room import Room, text_of
from tools.case import Case
from tools.probes import PROBES
from tools.rules import RULES

ASK = "don't leave perf on the table on CT129. it does 55 tok/s, it was 70. cuda graphs? nccl?"


def test_a_question_becomes_a_trail_a_verdict_and_a_chart(room: Room) -> None:
    ts = room.say(ASK)
    trail = room.letters(ts)[0]
    assert (trail.key, trail.kind, trail.buttons) == ("run:1:trail", "trail", ("stop",))
    assert "Looking at CT129. You ask about decode: 55 tok/s now, 70 remembered." in text_of(trail)
    room.work()
    keys = [letter.key for letter in room.letters(ts)]
    assert keys == [
        "run:1:trail", "run:1:verdict", "run:1:set-by", "run:1:chart", "run:1:trail-end",
    ]  # fmt: skip
    assert "sglang/srt/server_args.py:1230 made it True" in text_of(room.letters(ts)[2])
    verdict = room.letters(ts)[1]
    assert verdict.buttons == told.AFTER
    assert "Gen1" in text_of(verdict)
    run = room.store.runs.get(1)
    assert run
    assert (run.state, run.category) == ("done", "hardware")
    assert run.headline
    assert room.watching.over == [1]


def test_the_verdict_is_that_of_the_terminal(room: Room) -> None:
    """The loop of the command, over the same host."""
    room.say(ASK)
    room.work()
    (end,) = [event for _, event in room.watching.events if isinstance(event, Judged)]
    question = Question.of(ASK, room.settings.hosts)
    playbook = Playbook(PROBES, RULES, room.settings.host("CT129").scope())
    source = SourceLook()
    events = investigate(question, playbook, room._reach("CT129", room.settings), source=source)
    (alone,) = [event for event in events if isinstance(event, Judged)]
    told_there = report("CT129", ASK, alone.verdict, alone.evidence)
    assert report("CT129", ASK, end.verdict, end.evidence) == told_there
    shown = text_of(room.letters(kind="verdict")[0])
    lines = [
        *narrator.deployed("CT129", str(alone.deployment)),
        *narrator.verdict(alone.verdict, question.interest),
    ]
    assert shown == "\n".join(
        part.text if isinstance(part, Line) else str(part.rows) for part in lines
    )


def test_looks_that_are_kept_are_not_asked_again_after_a_restart(room: Room) -> None:
    room.say(ASK)
    quick = room.worker
    room.before = lambda number: _die() if number == 2 else None
    with pytest.raises(SystemExit):
        quick.carry_out(1)
    kept = room.store.cases.load(1)
    assert kept
    assert kept.asked
    first = set(room.hosts[0].asked)
    room.before = lambda _: None
    room.work()
    again = room.hosts[1].asked
    assert again
    assert not first & set(again)
    assert room.watching.began_with == [(1, 0), (1, len(kept.asked))]
    learned = [event for _, event in room.watching.events if isinstance(event, Learned)]
    ids = [event.look.id for event in learned]
    assert len(ids) == len(set(ids)) == len(room.store.cases.load(1).asked)  # type: ignore[union-attr]
    run = room.store.runs.get(1)
    assert run
    assert (run.state, run.restarts, run.category) == ("done", 1, "hardware")
    assert [one.key for one in room.letters()].count("run:1:verdict") == 1


def carried_out_after(room: Room, deaths: int) -> Run:
    """Let run 1 end its process so often, then carry it out."""
    room.before = lambda _: _die()
    for _ in range(deaths):
        with pytest.raises(SystemExit):
            room.worker.carry_out(1)
    room.before = lambda _: None
    room.work()
    run = room.store.runs.get(1)
    assert run
    return run


def test_a_run_that_ended_the_process_too_often_is_left_and_its_thread_told(room: Room) -> None:
    ts = room.say(ASK)
    run = carried_out_after(room, RESTARTS)
    assert (run.state, run.restarts) == ("failed", RESTARTS)
    assert "each time it ended me. I leave it now." in room.said(ts)[-1]
    assert len(room.hosts) == RESTARTS


def test_a_run_whose_process_died_once_less_is_carried_out(room: Room) -> None:
    room.say(ASK)
    run = carried_out_after(room, RESTARTS - 1)
    assert (run.state, run.restarts, run.category) == ("done", RESTARTS - 1, "hardware")


def test_a_run_that_is_over_is_not_carried_out_again(room: Room) -> None:
    room.say(ASK)
    room.work()
    before = len(room.letters())
    room.worker.carry_out(1)
    assert len(room.letters()) == before
    assert len(room.hosts) == 1


def test_a_run_that_ends_the_process_again_and_again_is_left(room: Room) -> None:
    room.say(ASK)
    room.before = lambda _: _die()
    for _ in range(5):
        with pytest.raises(SystemExit):
            room.worker.carry_out(1)
    room.worker.carry_out(1)
    run = room.store.runs.get(1)
    assert run
    assert run.state == "failed"
    assert "each time it ended me" in room.said()[-1]


def test_a_host_that_cannot_be_reached_is_a_sentence_and_what_to_do(room: Room) -> None:
    room.unreachable = (
        "CT129 does not answer on port 22: is it up, and does a firewall let us through?"
    )
    room.say(ASK)
    room.work()
    assert room.said()[-1] == (
        "CT129 does not answer on port 22: is it up, and does a firewall let us through?\n"
        "When that is put right, press “Check again”."
    )
    run = room.store.runs.get(1)
    assert run
    assert (run.state, run.category) == ("failed", None)
    assert room.store.cases.load(1) is None
    assert room.letters()[-1].key == "run:1:trail-end"
    assert room.letters()[-2].buttons == ("check_again",)


def test_a_fault_of_ours_ends_in_a_sentence_without_its_text(
    room: Room, caplog: pytest.LogCaptureFixture
) -> None:
    def fall(_: int) -> None:
        raise RuntimeError("xoxb-secret")

    room.before = fall
    room.say(ASK)
    room.work()
    assert room.said()[-1].startswith("A fault of mine ended this (RuntimeError).")
    assert "secret" not in str(room.said()) + caplog.text
    assert room.store.runs.get(1).state == "failed"  # type: ignore[union-attr]
    assert room.hosts[0].closed


def test_who_asks_meanwhile_joins_and_is_answered_in_their_own_thread(room: Room) -> None:
    first = room.say(ASK)
    second = room.say("is the power cap to blame on ct129?", user="UANA", channel="CELSE")
    room.work()
    assert len(room.hosts) == 1
    joined, verdict = room.letters(second)
    assert (joined.kind, joined.run) == ("word", 1)
    assert "CT129 is in the queue already for sam" in text_of(joined)
    assert verdict.key == "run:2:verdict"
    assert verdict.channel == "CELSE"
    assert "power" in text_of(verdict).lower()
    assert verdict.parts != room.letters(first, "verdict")[0].parts
    run = room.store.runs.get(2)
    assert run
    assert (run.state, run.category) == ("done", "hardware")


def test_who_joined_an_unreachable_host_is_told_as_well(room: Room) -> None:
    room.unreachable = "CT129 reset the connection"
    room.say(ASK)
    second = room.say("why is ct129 slow?", user="UANA")
    room.work()
    assert room.said(second)[-1].startswith("CT129 reset the connection.")


def test_a_stop_says_what_was_learned_so_far(room: Room) -> None:
    ts = room.say(ASK)
    room.before = lambda number: _stop(room, ts) if number == 2 else None
    room.work()
    run = room.store.runs.get(1)
    assert run
    assert run.state == "stopped"
    assert room.hosts[0].closed
    said = text_of(room.letters(ts, "verdict")[0])
    assert said.startswith("Stopped by ana after ")
    assert "From what was seen so far:" in said


def test_a_stop_before_anything_was_seen_says_so(room: Room) -> None:
    ts = room.say(ASK)
    room.store.runs.begin(1)
    room.store.runs.ask_stop(1, "UANA")
    room.work()
    assert room.said(ts)[-1] == "Stopped by ana before I had seen anything."
    assert not room.hosts[0].asked


def test_checking_again_says_what_changed(room: Room) -> None:
    ts = room.say(ASK)
    room.work()
    healthy = Case.of("CT129", ASK, "captured", shipped("ct130").evidence(PROBES))
    room.store.cases.save(1, healthy)  # as if the link had been well then
    room.press("check_again", 1, ts)
    room.work()
    run = room.store.runs.get(2)
    assert run
    assert (run.about, run.thread, run.text) == (1, ts, ASK)
    said = text_of(room.letters(ts, "verdict")[1]).splitlines()
    assert said[0].startswith("Compared with the look ")
    assert any("Gen4 → Gen1" in line for line in said), said
    assert any(line.startswith("Decode: ") for line in said), said


def test_a_database_that_is_away_for_a_while_costs_no_verdict(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bot.store import StoreError

    room.worker._ends.waits_s = (0.01, 0.01)
    ends, tries = room.store.runs.end, []

    def end(*args: object, **kwargs: object) -> bool:
        tries.append(1)
        if len(tries) == 1:
            raise StoreError("The database does not answer.")
        return ends(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(room.store.runs, "end", end)
    room.say(ASK)
    room.work()
    assert len(tries) == 2
    assert [one.key for one in room.letters()].count("run:1:verdict") == 1


def _die() -> None:
    raise SystemExit  # what a kill is to the code under test: nothing of ours catches it


def _stop(room: Room, ts: str) -> None:
    room.desk.stop("CGPU", ts, "UANA", "evt:1")
    wait_for(lambda: room.hosts[0].closed, "the host is not closed")


def test_who_joins_in_the_last_moment_is_answered_too(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the verdicts being made and the end being written."""
    room.say(ASK)
    together, late = room.store.together, []

    def once() -> object:
        if not late and room.store.runs.get(1).state == "running":  # type: ignore[union-attr]
            late.append("")
            late[0] = room.say("why is CT129 slow?", user="UANA")
        return together()

    monkeypatch.setattr(room.store, "together", once)
    room.work()
    assert [run.state for run in room.runs()] == ["done", "done"]
    assert room.letters(late[0], "verdict")
