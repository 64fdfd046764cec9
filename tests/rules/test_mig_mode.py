"""MIG mode that was left on makes a start ask for one GPU too many."""

from __future__ import annotations

import pytest

from tools.engine import Notice, ServerLog
from tools.errors import Undecided
from tools.nvidia.gpus import Gpus, GpuSample
from tools.rule import Cleared, Finding
from tools.rules.mig_mode import start_lacks_a_gpu_in_mig_mode

ORDINAL = "Scheduler hit an exception: torch.AcceleratorError: CUDA error: invalid device ordinal"


def log(text=ORDINAL, tp=8):
    resolved = {"tp_size": tp} if tp else {}
    return ServerLog(notices=(Notice(kind="start_failed", text=text),), resolved=resolved)


def node(*in_mig_mode):
    return Gpus(samples=tuple(GpuSample(index=n, mig=n in in_mig_mode) for n in range(8)))


def test_seven_whole_gpus_for_eight_ranks(judged):
    found = judged(start_lacks_a_gpu_in_mig_mode, node(3), log())
    assert isinstance(found, Finding)
    assert "GPU 3 is in MIG mode" in found.statement
    assert "-i 3 -mig 0" in found.remedy[0]


def test_without_mig_mode_another_thing_is_missing(judged):
    assert isinstance(judged(start_lacks_a_gpu_in_mig_mode, node(), log()), Cleared)


def test_a_start_that_fails_otherwise_says_nothing_of_mig(judged):
    other = log("ValueError: unknown quantization")
    assert judged(start_lacks_a_gpu_in_mig_mode, node(3), other) is None


@pytest.mark.parametrize("ranks", [None, 4, 16])
def test_whole_gpus_that_are_enough_or_not_counted_leave_it_open(judged, ranks):
    with pytest.raises(Undecided, match="1 of 8"):
        judged(start_lacks_a_gpu_in_mig_mode, node(3), log(tp=ranks))
