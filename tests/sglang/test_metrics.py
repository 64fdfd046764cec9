"""The page of metrics becomes numbers that can be judged."""

from __future__ import annotations

import pytest

from tests.hostile_texts import METRICS
from tools.engine import Metrics
from tools.errors import Unreadable
from tools.sglang.histograms import quantiles, read_buckets
from tools.sglang.metrics import is_page, pages, read_metrics


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


def test_every_metric_of_a_large_page_is_read() -> None:
    line = 'sglang:x_{}{{engine_type="unified",mode="a",model_name="m",tp_rank="0"}} 1.0\n'
    page = "".join(line.format(n) for n in range(1300))
    assert len(page) > 90_000
    assert {f"x_{n}" for n in range(1300)} <= set(read_metrics(page).gauges)


def test_what_stands_after_a_hostile_line_is_read() -> None:
    assert read_metrics(METRICS["open braces"].text()).gauges == {"b": 1.0}


PAGE = (
    "# TYPE sglang:generation_tokens_total counter\nsglang:generation_tokens_total {n}\n"
    'sglang:time_to_first_token_seconds_bucket{{le="1.0",m="a"}} {a}\n'
    'sglang:time_to_first_token_seconds_bucket{{le="2.0",m="a"}} {b}\n'
    'sglang:time_to_first_token_seconds_bucket{{le="+Inf",m="a"}} {b}\n'
)


def test_the_same_series_twice_is_two_readings() -> None:
    text = PAGE.format(n=5, a=1, b=1) + PAGE.format(n=25, a=1, b=11)
    first, second, window = pages(text)
    read = read_metrics(first, second, window)
    assert (read.deltas["generation_tokens_total"], read.window_s) == (20.0, None)
    assert read.when == "between two readings"
    assert read.quantiles_s["time_to_first_token_seconds p50"] == pytest.approx(
        1.5
    )  # of the ten new ones


def test_the_time_between_is_known_where_the_command_slept() -> None:
    text = f"{PAGE.format(n=5, a=1, b=1)}$ sleep 10; curl h/metrics\n{PAGE.format(n=25, a=1, b=1)}"
    assert pages(text)[2] == 10.0
    assert pages(text.replace("sleep 10", "sleep 10; sleep 5"))[2] is None


def test_a_quantile_above_the_last_edge_is_its_lower_bound() -> None:
    page = 'vllm:inter_token_latency_seconds_bucket{le="1.0"} 1\nvllm:inter_token_latency_seconds_bucket{le="+Inf"} 9\n'
    assert quantiles(read_buckets(page)) == {
        "inter_token_latency_seconds p50": 1.0,
        "inter_token_latency_seconds p99": 1.0,
    }
    assert quantiles(read_buckets(page.replace(" 9\n", " 0\n").replace(" 1\n", " 0\n"))) == {}


@pytest.mark.parametrize(
    ("prefix", "engine"), [("sglang:", "sglang"), ("sglang_", "sglang"), ("vllm_", "vllm")]
)
def test_either_spelling_of_the_prefix_is_read(prefix: str, engine: str) -> None:
    page = f'{prefix}num_requests{{m="a"}} 3.0\n'
    assert is_page(page)
    assert (read_metrics(page).engine, read_metrics(page).gauges) == (engine, {"num_requests": 3.0})


def test_a_file_name_with_an_underscore_is_no_page() -> None:
    assert not is_page("sglang_1129_100_random.jsonl\nvllm_config is fine 3 times\n")


def test_two_files_of_one_server_are_two_readings_in_either_order() -> None:
    early, late = (read_metrics(PAGE.format(n=n, a=1, b=1)) for n in (5, 25))
    for merged in (early.merged(late), late.merged(early)):
        assert merged.deltas["generation_tokens_total"] == 20.0
        assert merged.totals["generation_tokens_total"] == 25.0


def test_two_servers_are_not_two_readings() -> None:
    one, other = Metrics(totals={"a": 1.0, "b": 9.0}), Metrics(totals={"a": 2.0, "b": 3.0})
    assert one.merged(other).deltas == {}
    assert one.merged(one).deltas == {}
