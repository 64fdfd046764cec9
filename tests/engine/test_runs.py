"""Several runs in one log, in rotated files, in any order: each is kept, and the last is judged."""

from __future__ import annotations

from itertools import permutations

import pytest

from tests.engine.simulated import Line, decode, stamp, start
from tools.engine.log import ServerLog
from tools.engine.runs import differences, other_build
from tools.sglang.log import read_log

OOM = (
    "[{at} TP0] Scheduler hit an exception: Traceback (most recent call last):\n"
    '  File "/sgl-workspace/sglang/python/sglang/srt/managers/scheduler.py", line 3120, in run_scheduler_process\n'
    "    scheduler = Scheduler(\n"
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.10 GiB of which 1.02 GiB is free.\n"
    "\n"
    "[{at}] Received sigquit from a child process. It usually means the child failed."
)


def read(*parts: list[str]) -> ServerLog:
    return read_log("\n".join(line for part in parts for line in part) + "\n")


def died(second: float) -> list[str]:
    return OOM.format(at=stamp(second)).split("\n")


def good(second: float, step_ms: float = 20.0, backend: str = "fa3") -> list[str]:
    return [
        *start(second, backend=backend),
        *decode(50, lambda _: Line(step_ms=step_ms), int(second), began=second + 60, outliers=0),
    ]


def test_runs_before_the_last_are_kept_in_short() -> None:
    log = read(
        good(0),
        [
            f"[{stamp(280)}] Gracefully exiting... Remaining number of requests 0. Remaining requests []."
        ],
        good(300, 24.0, "triton"),
        died(600),
        good(700, 25.0),
    )
    assert (log.runs, len(log.decode), len(log.earlier)) == (3, 50, 2)
    first, second = log.earlier
    assert (first.ended, second.ended) == ("shutdown", "oom")
    assert "Tried to allocate 2.00 GiB" in second.end_text
    assert first.steps_ms[1] == pytest.approx(20.5, abs=0.6)
    assert first.accept_len == pytest.approx(2.8, abs=0.1)
    assert (first.first_at, first.last_at) == (stamp(0), stamp(280))
    assert differences(first.resolved, second.resolved) == {"attention_backend": ("fa3", "triton")}
    assert log.before == second
    assert log.notices == ()


def test_starts_that_fail_in_a_row_are_one_of_many_times() -> None:
    loop = [
        line
        for at in range(5)
        for line in (*start(1000 + 100 * at, ready=False), *died(1050 + 100 * at))
    ]
    log = read(good(0), loop)
    assert log.runs == 6
    assert [(run.served, run.times, run.ended) for run in log.earlier] == [
        (True, 1, ""),
        (False, 4, "oom"),
    ]
    assert log.unready
    assert log.served is not None
    assert len(log.served.decode) == 50
    assert [notice.kind for notice in log.notices] == ["oom", "crash"]


def test_a_run_that_became_ready_is_judged_itself_though_it_is_idle() -> None:
    log = read(good(0), start(1000))
    assert (log.started, log.served, len(log.earlier)) == (True, None, 1)


def test_a_start_still_loading_leaves_the_run_before_to_be_judged() -> None:
    log = read(good(0), good(400, 22.0), start(1000, ready=False)[:3])
    assert log.served is not None
    assert log.served.before is not None
    assert log.served.before.steps_ms[1] == pytest.approx(20.5, abs=0.6)


PARTS = (good(0), good(400), good(800, 25.0))


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_rotated_files_of_a_run_each_come_in_order_whatever_their_order(
    order: tuple[int, ...],
) -> None:
    logs = [read(PARTS[at]) for at in order]
    log = logs[0].merged(logs[1]).merged(logs[2])
    assert log.runs == 3
    assert [run.first_at for run in log.earlier] == [stamp(0), stamp(400)]
    assert log.first_line_at == stamp(800)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_files_that_turn_in_the_middle_of_a_run_make_one_run(order: tuple[int, ...]) -> None:
    lines = [*start(0), *decode(90, lambda _: Line(), 1)]
    files = [read(lines[:30]), read(lines[30:60]), read(lines[60:])]
    log = files[order[0]].merged(files[order[1]]).merged(files[order[2]])
    assert (log.runs, log.servers, len(log.decode)) == (1, 1, 90)
    assert [line.at for line in log.decode] == sorted(line.at or "" for line in log.decode)
    assert log.resolved is not None


def test_a_file_that_turns_in_the_middle_of_an_earlier_run_is_joined_to_its_head() -> None:
    lines = [*good(0), *good(400)]
    at = len(good(0)) + 30
    log = read(lines[:at]).merged(read([*lines[at:], *good(800)]))
    assert log.runs == 3
    assert [sum(b.lines for b in run.decode) for run in log.earlier] == [
        49,
        49,
    ]  # not the first after a start
    assert all(run.headed for run in log.earlier)


def test_the_same_text_twice_and_an_excerpt_of_it_count_once() -> None:
    whole = read(good(0))
    assert len(whole.merged(whole).decode) == 50
    excerpt = read(good(0)[20:40])
    both = whole.merged(excerpt)
    assert (len(both.decode), both.servers) == (50, 1)


def test_two_servers_at_the_same_time_are_not_one() -> None:
    one, other = (read(decode(50, lambda _, ms=ms: Line(step_ms=ms), ms)) for ms in (20, 30))
    assert one.merged(other).servers == 2
    ranks = [read(decode(50, lambda _: Line(), at, rank=f"DP{at}")) for at in range(2)]
    both = ranks[0].merged(ranks[1])
    assert both.servers == 1
    assert [line.rank for line in both.decode[:4]] == ["DP0", "DP1", "DP0", "DP1"]


def test_addresses_and_chance_are_no_difference_and_other_names_are_another_build() -> None:
    old = {f"field_{at}": at for at in range(40)} | {"port": 1, "random_seed": 2, "tp_size": 2}
    assert differences(old, old | {"port": 9, "random_seed": 3, "max_total_tokens": 1}) == {}
    assert differences(old, old | {"tp_size": 4}) == {"tp_size": (2, 4)}
    assert not other_build(old, old | {"tp_size": 4})
    assert other_build(old, old | {"new_field": None})
    assert not other_build({"tp_size": 1}, {"pp_size": 1})


def test_a_hundred_thousand_starts_are_few() -> None:
    loop = [
        line for at in range(300) for line in (start(100 * at, port=at)[0], *died(100 * at + 50))
    ]
    log = read(loop)
    assert (log.runs, len(log.earlier), log.earlier[0].times) == (300, 1, 299)
