"""What NCCL's own test measured."""

from __future__ import annotations

from pydantic import Field

from tools.errors import Absent, Unreadable
from tools.host import Command, script
from tools.nvidia.any_report import plain
from tools.nvidia.nccl import AllReduceTest
from tools.nvidia.nccl_tests import is_nccl_test, read_nccl_test
from tools.nvidia.own_benchmarks import is_own_benchmark, read_own_benchmark
from tools.probe import Probe, told

_MARK = r"^# nccl-tests version|^# nThread +\d|^# +size +count +type |^# Avg bus bandwidth"
_LARGEST = 1 << 18  # what somebody prints of a test of their own is short
_USUAL = "/tmp/all_reduce.txt"  # noqa: S108 - it is read, never written


class ReadAllReduceTest(Probe[AllReduceTest]):
    """Read what a run of nccl-tests printed: bus bandwidth and time by message size.

    The test loads every GPU, so it is run by a person, not by this probe.
    Like: all_reduce_perf -b 8 -e 256M -f 2 -g 2 | tee PATH; cat PATH
    """

    routine = False

    path: str = Field(
        _USUAL, pattern=r"^/[^\x00\n]{1,4000}$", description="the file it was written to"
    )

    def command(self) -> Command:
        """Print the file, if it is what a program of nccl-tests printed."""
        return script("print_file", self.path, _MARK)

    def recognises(self, text: str, /) -> bool:
        """Know the head and the rows of a program of nccl-tests, and tables with a column busbw."""
        if is_nccl_test(plain(text)):
            return True
        return "bus" in text.lower() and len(text) < _LARGEST and is_own_benchmark(plain(text))

    def parse(self, stdout: str, /) -> AllReduceTest:
        """Read the rows; a run that was ended has few of them, or none."""
        if stdout.startswith(('{"absent"', '{"failed"')):
            told(stdout)
        lines = plain(stdout)
        if not lines.strip():
            raise Absent("the file is empty")
        if is_nccl_test(lines):
            return read_nccl_test(lines)
        found = read_own_benchmark(lines[:_LARGEST])
        if not found.busbw_gb_s:
            raise Unreadable("no print of nccl-tests, and no table with a size and busbw in GB/s")
        return found
