"""The trail of a change: a line for each step, which changes while the step goes on, the same after a restart."""

from __future__ import annotations

from bot.experiment.books import Said
from bot.experiment.step import begun, done
from bot.slack.blocks import TrailState, task_chunks, trail_blocks

ARMED = done(Said(0, "arming", "It is the server that was approved.", 1.2))


def trail() -> TrailState:
    state = TrailState("Changing CT129: --chunked-prefill-size 4096", stop=7)
    for event in (begun("arming"), ARMED, begun("before"), begun("before", "run 2 of 5")):
        state = state.after(event)
    return state


def test_a_step_that_goes_on_changes_its_own_line() -> None:
    items = trail().items
    assert [(one.title, one.status) for one in items] == [
        ("Comparing the host with what was approved", "complete"),
        ("Measuring the server as it is: run 2 of 5", "in_progress"),
    ]
    assert trail().progress == "1 step done"


def test_a_step_that_failed_is_told_as_one() -> None:
    failed = done(Said(0, "before", "The load failed.", 3.0, ill=True))
    item = trail().after(failed).items[-1]
    assert (item.status, item.said, item.title) == (
        "error", "The load failed.", "Measuring the server as it is",
    )  # fmt: skip


def test_the_same_phase_twice_is_two_lines() -> None:
    state = trail().after(done(Said(0, "before", "5 runs.", 9.0))).after(begun("before"))
    assert [one.id for one in state.items] == ["step-1", "step-2", "step-3"]


def test_after_a_restart_the_steps_that_were_written_down_are_there() -> None:
    state = TrailState.of("Changing CT129", [ARMED], stop=7)
    assert [one.said for one in state.items] == ["It is the server that was approved."]


def test_it_can_be_stopped_and_is_told_within_the_blocks_of_a_trail() -> None:
    blocks = trail_blocks(trail(), "mark").blocks
    assert blocks[-1]["elements"][0]["action_id"] == "stop"
    assert len(blocks) <= 6
    chunks = task_chunks(None, trail(), "mark")
    tasks = [one for one in chunks if one["type"] == "task_update"]
    assert [one["status"] for one in tasks] == ["complete", "in_progress"]
    assert tasks[0]["title"] == "Comparing the host with what was approved · 1.2 s"
