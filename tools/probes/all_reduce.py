"""What NCCL's own test measured."""

from __future__ import annotations

from pydantic import Field

from tools.errors import Absent, Unreadable
from tools.host import Command
from tools.nvidia.any_report import plain
from tools.nvidia.nccl import AllReduceTest
from tools.nvidia.nccl_tests import is_nccl_test, read_nccl_test
from tools.probe import Probe

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
        """Print the file."""
        return Command(argv=("cat", "--", self.path))

    def recognises(self, text: str, /) -> bool:
        """Know the head and the rows of a program of nccl-tests."""
        return is_nccl_test(plain(text))

    def parse(self, stdout: str, /) -> AllReduceTest:
        """Read the rows; a run that was ended has few of them, or none."""
        lines = plain(stdout)
        if not lines.strip():
            raise Absent("the file is empty")
        if not is_nccl_test(lines):
            raise Unreadable("no print of nccl-tests")
        return read_nccl_test(lines)
