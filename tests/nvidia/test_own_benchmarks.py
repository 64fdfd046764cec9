"""All-reduce tables of people's own, in the forms that people print."""

from __future__ import annotations

import pytest

from tools.nvidia.own_benchmarks import is_own_benchmark, read_own_benchmark
from tools.probes.all_reduce import ReadAllReduceTest


@pytest.mark.parametrize(
    ("text", "rates", "times"),
    [
        (
            "rows    payload     ms/call   algbw GB/s  busbw GB/s\n"
            " 512     5.2 MB       0.895         5.86        8.79\n",
            {5_200_000: 8.79},
            {5_200_000: 895.0},
        ),
        (
            "size(MB) time(ms) busbw(GB/s)\n1 0.10 5.0\n32 2.1 22.2\n",
            {1_000_000: 5.0, 32_000_000: 22.2},
            {1_000_000: 100.0, 32_000_000: 2100.0},
        ),
        (
            "| size | time (us) | busbw (GB/s) |\n|---|---|---|\n| 4 MiB | 300 | 21.0 |\n",
            {4 << 20: 21.0},
            {4 << 20: 300.0},
        ),
        ("bytes,time_us,busbw_GB/s\n1048576,80,13.1\n", {1 << 20: 13.1}, {1 << 20: 80.0}),
        (
            "# busbw by size\nworld=4\n  msg size      time        busbw\n    256K     41.2us    9.54GB/s\n",
            {256 << 10: 9.54},
            {256 << 10: 41.2},
        ),
    ],
)
def test_a_table_with_a_size_and_busbw_is_read(text, rates, times):
    found = ReadAllReduceTest().parse(text)
    assert found.busbw_gb_s == pytest.approx(rates)
    assert found.time_us == pytest.approx(times)
    assert found.finished is None
    assert ReadAllReduceTest().recognises(text)


@pytest.mark.parametrize(
    "text",
    [
        "size (MB)  busbw (Gb/s)\n1  80\n",
        "size  busbw\n1  2\n",
        "# busbw at 32 MB, GB/s\ndefault                  22.2\n",
        "the busbw of a message of 5 MB was 8.79 GB/s",
    ],
)
def test_what_names_no_unit_or_is_no_table_is_left_alone(text):
    assert not is_own_benchmark(text)
    assert not ReadAllReduceTest().recognises(text)


def test_a_long_text_without_a_row_tells_nothing():
    text = "size (MB)  busbw (GB/s)\n" + "1  2  3\n" * 40_000 + "x, " * 90 + "\n"
    assert read_own_benchmark(text).busbw_gb_s == {}
