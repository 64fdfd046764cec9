"""A log as a history: what got worse is found when it did, and nothing is where nothing did."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.engine.simulated import Course, Line, decode, load, stamp, start
from tools.engine.history import Change, History
from tools.engine.log import ServerLog
from tools.engine.told import Told
from tools.sglang.log import read_log

LINES = 300


def log_of(*parts: list[str]) -> ServerLog:
    return read_log("\n".join(line for part in parts for line in part))


def slower(course: Course, begin: int, times: float = 1.15, end: int = 10**9) -> Course:
    def told(at: int) -> Line:
        line = course(at)
        return replace(line, step_ms=line.step_ms * times) if begin <= at < end else line

    return told


def history(*parts: list[str]) -> History:
    return History(log_of(*parts))


def found(*parts: list[str]) -> Change:
    change = history(*parts).of("step")
    assert change is not None
    return change


@pytest.mark.parametrize("kind", ["single", "wandering", "daily", "ramp"])
def test_two_hundred_steady_logs_raise_at_most_two_false_alarms(kind: str) -> None:
    alarms = [
        seed
        for seed in range(50)
        if history(decode(LINES, load(kind, seed, LINES), seed, memory=0.5 * (seed % 2))).changes
    ]
    assert len(alarms) <= (0 if kind != "ramp" else 1), alarms


@pytest.mark.parametrize("kind", ["single", "daily"])
def test_nine_in_ten_steps_that_grow_by_15_percent_are_found_in_time(kind: str) -> None:
    hits = in_time = in_size = 0
    for seed in range(50):
        at = 100 + 2 * seed
        told = decode(LINES, slower(load(kind, seed, LINES), at), seed)
        change = history(told).of("step")
        if change is not None:
            hits += 1
            in_time += change.split.low <= at <= change.split.high
            in_size += change.pct[0] <= 15 <= change.pct[2]
    assert hits >= 45
    assert in_time >= 0.9 * hits
    assert in_size >= 0.8 * hits


def test_a_change_is_told_with_its_time_and_its_size() -> None:
    log = history(decode(LINES, slower(load("single", 1, LINES), 150), 1))
    told = Told.of(log, found_in(log))
    assert told.text.startswith("Since 13:1")
    assert "on 2026-09-02 (13:10 to 13:1" in told.text
    assert "each decode step takes 1" in told.text
    assert "nothing else in this log changed then" in told.then


def found_in(log: History) -> Change:
    change = log.of("step")
    assert change is not None
    return change


def test_a_start_that_is_slow_until_it_is_warm_is_no_change() -> None:
    cold = slower(lambda _: Line(), 0, 1.5, end=25)
    assert not history(
        start(0), decode(200, lambda _: Line(), 1), start(900), decode(200, cold, 2, began=950)
    ).changes
    assert not history(start(0), decode(200, cold, 2)).changes


def test_single_slow_lines_and_lines_after_idling_are_no_change() -> None:
    spiky = decode(200, lambda _: Line(), 1, outliers=0.1)
    assert not history(spiky).changes
    bursts = [
        line
        for burst in range(12)
        for line in (
            f"[{stamp(burst * 600)} TP0] Prefill batch, #new-seq: 1, #new-token: 2000, #cached-token: 0, token usage: 0.00, #running-req: 0, #queue-req: 0, #pending-token: 0, cuda graph: False, input throughput (token/s): 3.30",
            *decode(1, lambda _: Line(step_ms=4000), burst, began=burst * 600 + 1),
            *decode(9, lambda _: Line(), burst, began=burst * 600 + 5),
        )
    ]
    assert not history(bursts).changes


def test_a_slow_hour_that_is_over_is_told_as_over() -> None:
    change = history(decode(400, slower(lambda _: Line(), 150, 1.3, end=250), 1)).changes[0]
    assert change.until is not None
    assert abs(change.points.index(change.until) - 250) <= 3


def test_one_rank_of_eight_that_got_slower_is_named() -> None:
    ranks = [
        decode(
            120,
            slower(lambda _: Line(running=4), 60 if rank == 3 else 10**9, 1.3),
            rank,
            rank=f"DP{rank}",
            every=8,
        )
        for rank in range(8)
    ]
    mixed = [line for at in range(120) for line in (rank[at] for rank in ranks)]
    change = found(mixed)
    assert change.rank == "DP3"
    assert "on DP3 alone" in Told.of(history(mixed), change).text


def test_what_changed_at_a_restart_is_told() -> None:
    course = load("daily", 3, LINES)
    log = history(
        start(0),
        decode(LINES, course, 3),
        start(1300, backend="triton", port=30001),
        decode(LINES, slower(course, 0), 4, began=1360),
    )
    told = Told.of(log, found_in(log))
    assert told.restart is not None
    assert told.restart.arguments == {"attention_backend": ("fa3", "triton")}
    assert told.then.startswith(
        "at 13:21 the server was restarted with --attention-backend triton instead of fa3"
    )


def test_a_run_of_another_model_is_no_past_of_this_one() -> None:
    other = [line.replace("/models/m", "/models/other") for line in start(0)]
    log = history(
        other,
        decode(100, lambda _: Line(step_ms=10), 1),
        start(900),
        decode(100, lambda _: Line(), 2, began=950),
    )
    assert len(log.runs) == 1
    assert not log.changes


def test_leaving_the_graphs_is_told_as_what_changed() -> None:
    def course(at: int) -> Line:
        return Line(step_ms=20 if at < 100 else 30, graph=at < 100)

    log = history(decode(200, course, 1))
    assert (
        "in a CUDA graph in 100% of the lines before and in 0% after"
        in Told.of(log, found_in(log)).then
    )


def test_a_notice_and_a_pause_at_that_time_are_told() -> None:
    before = decode(100, lambda _: Line(), 1)
    said = f"[{stamp(470)} TP0] KV cache pool is full. Retract requests. #retracted_reqs: 3, #new_token_ratio: 0.5 -> 0.91"
    log = history(start(0), before, [said], decode(100, lambda _: Line(step_ms=25), 2, began=3000))
    then = Told.of(log, found_in(log)).then
    assert "the log says: KV cache pool is full" in then
    assert "no decode line was written" in then


def test_fewer_cache_hits_and_a_queue_are_found() -> None:
    def prefill(at: int, cached: int, queued: int) -> str:
        return f"[{stamp(at * 4)} TP0] Prefill batch, #new-seq: 1, #new-token: {2000 - cached + at % 7}, #cached-token: {cached}, token usage: 0.10, #running-req: 4, #queue-req: {queued}, #pending-token: 0, cuda graph: False, input throughput (token/s): 3000.00"

    lines = [
        line
        for at in range(400)
        for line in (
            prefill(at, 0 if at % 4 == 0 or at >= 200 else 1900, 0),
            *decode(
                1,
                lambda _, at=at: Line(running=4, queued=(at % 3) + (9 if at >= 220 else 0)),
                at,
                began=at * 4 + 2,
            ),
        )
    ]
    log = history(lines)
    hits, queue = log.of("hits"), log.of("queue")
    assert hits is not None
    assert queue is not None
    assert (
        "0% of the prompt tokens are found in the prefix cache, 71% before"
        in Told.of(log, hits).text
    )
    assert "10 requests wait, 1 before" in Told.of(log, queue).text


def test_a_clock_that_is_set_back_does_not_disturb_the_order() -> None:
    first, second = (
        decode(150, lambda _: Line(), 1, began=7200),
        decode(150, lambda _: Line(step_ms=24), 2, began=4200),
    )
    assert abs(found([*first, *second]).split.before - 150) <= 3


def test_clocks_without_a_date_and_lines_without_a_clock_do() -> None:
    lines = decode(200, slower(lambda _: Line(), 100, 1.3), 1)
    short = [line.replace("[2026-09-02 ", "[") for line in lines]
    log = history(short)
    assert Told.of(log, found_in(log)).text.startswith("Since 13:0")
    bare = [line.partition("TP0] ")[2] for line in lines]
    log = history(bare)
    assert Told.of(log, found_in(log)).text.startswith("In the last 10")


def test_a_hundred_thousand_lines_are_kept_as_a_few_thousand_blocks() -> None:
    course = slower(load("single", 1, 20_000), 12_000)
    kept = log_of(decode(20_000, course, 1)).as_earlier()
    assert len(kept.decode) <= 4000
    assert sum(block.lines for block in kept.decode) == 20_000
    change = History(ServerLog(earlier=(kept,))).of("step")
    assert change is not None
    assert change.pct[0] < 15 < change.pct[2]
