"""The page of metrics becomes numbers that can be judged."""

from __future__ import annotations

import time

import pytest

from tools.errors import Unreadable
from tools.sglang.metrics import read_metrics


def test_ranks_that_do_the_same_work_count_once_and_ranks_that_share_it_are_added() -> None:
    page = "".join(
        f'sglang:gen_throughput{{dp_rank="{dp}",tp_rank="{tp}"}} {100 + dp}.0\n'
        for dp in (0, 1)
        for tp in (0, 1)
    )
    assert read_metrics(page).gauges == {"gen_throughput": 201.0}


def test_a_share_is_the_largest_of_the_ranks() -> None:
    page = 'sglang:token_usage{dp_rank="0"} 0.9\nsglang:token_usage{dp_rank="1"} 0.2\n'
    assert read_metrics(page).gauges == {"token_usage": 0.9}


def test_one_reading_has_no_changes() -> None:
    read = read_metrics("sglang:generation_tokens_total 5\n")
    assert read.totals == {"generation_tokens_total": 5.0}
    assert read.deltas == {}
    assert read.window_s is None


def test_a_counter_that_fell_tells_nothing() -> None:
    read = read_metrics(
        "vllm:generation_tokens_total 5\nvllm:x_total 1\n",
        "vllm:generation_tokens_total 3\nvllm:x_total 4\n",
        2.0,
    )
    assert read.deltas == {"x_total": 3.0}
    assert read.window_s == 2.0


def test_buckets_and_what_is_not_a_number_are_left_out() -> None:
    page = 'sglang:a_bucket{le="1"} 4\nsglang:a_sum 2\nsglang:b NaN\nsglang:c +Inf\nsglang:d 1\n'
    read = read_metrics(page)
    assert read.totals == {"a_sum": 2.0}
    assert read.gauges == {"d": 1.0}


def test_a_page_of_another_program_is_unreadable() -> None:
    with pytest.raises(Unreadable):
        read_metrics("node_load1 0.5\n")


def test_a_large_page_is_read_quickly() -> None:
    line = 'sglang:x_{}{{engine_type="unified",mode="a",model_name="m",tp_rank="0"}} 1.0\n'
    page = "".join(line.format(n) for n in range(1300))
    assert len(page) > 90_000
    start = time.perf_counter()
    read_metrics(page)
    assert time.perf_counter() - start < 0.2
    read_metrics("sglang:a" + "{" * 2_000_000 + "\nsglang:b 1\n")
    assert time.perf_counter() - start < 2
