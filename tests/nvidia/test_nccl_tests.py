"""nccl-tests: one text, several collectives, and runs that end badly."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.nvidia.nccl_tests import read_nccl_test

GOLDEN = Path(__file__).parent.parent / "golden" / "ReadAllReduceTest"
TWO = (GOLDEN / "all_reduce_then_alltoall.out").read_text("utf-8")
HEAD = "# nThread 1 nGpus 2 minBytes 8 maxBytes 8\n"
ROW = "    67108864      {count}     float     {op}      {root}   5890.0   11.39   {bus}      0   5891.0   11.39   11.39      0\n"


def test_of_two_collectives_the_all_reduce_counts_in_either_order() -> None:
    first, second = TWO.split("#\n# nThread")
    assert read_nccl_test(TWO).busbw_gb_s[268435456] == 11.47
    swapped = "# nThread" + second + first
    assert read_nccl_test(swapped).busbw_gb_s == read_nccl_test(TWO).busbw_gb_s


@pytest.mark.parametrize("name", ["alltoall", "sendrecv", "broadcast", "reduce"])
def test_what_loads_the_links_otherwise_stands_for_no_all_reduce(name: str) -> None:
    run = f"$ ./build/{name}_perf -g 2\n{HEAD}" + ROW.format(count=1, op="none", root=-1, bus=3.05)
    assert read_nccl_test(run).busbw_gb_s == {}
    assert read_nccl_test(run).gpus == 2


@pytest.mark.parametrize("name", ["all_gather", "reduce_scatter"])
def test_half_an_all_reduce_stands_for_it_where_it_is_named(name: str) -> None:
    run = f"$ ./build/{name}_perf -g 2\n{HEAD}" + ROW.format(count=1, op="none", root=-1, bus=11.2)
    assert read_nccl_test(run).busbw_gb_s == {67108864: 11.2}


def test_a_row_with_a_root_is_no_all_reduce() -> None:
    run = HEAD + ROW.format(count=16777216, op="sum", root=0, bus=3.0)
    assert read_nccl_test(run).busbw_gb_s == {}


def test_a_second_test_that_does_not_end_leaves_the_run_unfinished() -> None:
    assert read_nccl_test(TWO).finished is True
    assert read_nccl_test(TWO[: TWO.rindex("# Avg")]).finished is False


def test_an_error_is_told_and_is_no_hang() -> None:
    run = read_nccl_test((GOLDEN / "ends_with_an_nccl_error.out").read_text("utf-8"))
    assert (run.finished, run.error) == (
        False,
        "unhandled system error (run with NCCL_DEBUG=INFO for details)",
    )


def test_a_run_that_timeout_ended_did_not_finish():
    whole = "# nThread 1 nGpus 2\n# Avg bus bandwidth    : 6.2210 \n"
    assert read_nccl_test(whole).finished is True
    assert read_nccl_test(f"{whole}0,1 rc=124\n").finished is False
