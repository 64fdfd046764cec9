"""Huge pages: where they count, and where nobody needs them."""

from __future__ import annotations

import pytest

from tools.engine import Launch
from tools.errors import Undecided
from tools.linux.machine import Machine, Process, Processes
from tools.linux.machine_text import read_machine_text
from tools.rule import Cleared
from tools.rules.huge_pages import small_pages_under_weights

WEIGHTS = Processes(rows=(Process(pid=7, name="python", rss_mib=400_000.0),))
NEVER = Machine(thp="never", huge_mib=0.0)
SYSFS = """$ cat /sys/kernel/mm/transparent_hugepage/enabled
always madvise [never]
$ grep Huge /proc/meminfo
AnonHugePages:   1048576 kB
HugePages_Total:     512
Hugepagesize:       2048 kB
"""


def test_weights_in_small_pages_are_a_doubt_with_a_test(judged):
    with pytest.raises(Undecided, match="391 GiB") as why:
        judged(small_pages_under_weights, NEVER, WEIGHTS)
    assert "AnonHugePages" in why.value.settle


@pytest.mark.parametrize(
    "known",
    [
        (Machine(thp="always"), WEIGHTS),
        (Machine(thp="madvise", huge_mib=390_000.0), WEIGHTS),
        (NEVER, Processes(rows=(Process(pid=7, name="sglang", rss_mib=9_000.0),))),
        (NEVER,),
    ],
)
def test_weights_in_gpu_memory_or_in_huge_pages_need_none(judged, known):
    assert isinstance(judged(small_pages_under_weights, *known), Cleared)


def test_a_host_cache_counts_without_a_large_process(judged):
    launch = Launch(flags={"enable_hierarchical_cache": True})
    with pytest.raises(Undecided, match="enable_hierarchical_cache is set"):
        judged(small_pages_under_weights, NEVER, launch)


def test_setting_and_use_are_read_from_a_shell():
    told = read_machine_text(SYSFS)
    assert (told["thp"], told["huge_mib"]) == ("never", 2048.0)
