"""What a look does not say: that a fault is long past, and that a GPU is at work."""

from __future__ import annotations

import pytest

from tools.engine import DecodeLine, ServerLog
from tools.errors import Undecided
from tools.linux.kernel import KernelLog, XidLine
from tools.nvidia.gpus import Gpus, GpuSample
from tools.rule import Finding
from tools.rules.clocks import memory_clock_low
from tools.rules.heat import driver_slows_for_heat
from tools.rules.kernel_errors import program_faults
from tools.rules.power import cap_without_effect

SERVED = (DecodeLine(running=1, tok_s=88.0),)


def kernel(*moments: str) -> KernelLog:
    return KernelLog(
        xids=tuple(XidLine(bdf="0000:c1:00.0", code=31, text="MMU Fault", at=at) for at in moments)
    )


def run(began: str, ended: str) -> ServerLog:
    return ServerLog(first_line_at=began, last_line_at=ended, decode=SERVED)


TWO_WEEKS = run("2026-08-27 03:16:01", "2026-09-10 09:02:00")


def test_a_fault_that_days_of_service_followed_is_history(judged):
    with pytest.raises(Undecided, match="once, and 14 days of service followed") as why:
        judged(program_faults, kernel("Thu Aug 27 03:12:39 2026"), TWO_WEEKS)
    assert why.value.suspicion < 0.1


@pytest.mark.parametrize(
    ("moments", "log"),
    [
        (("Thu Aug 27 03:12:39 2026", "Fri Aug 28 09:00:00 2026"), TWO_WEEKS),  # during the run
        (("Mon Aug 10 03:12:39 2026", "Thu Aug 27 03:12:39 2026"), TWO_WEEKS),  # it came back
        (("Thu Aug 27 03:12:39 2026",), run("2026-08-27 03:16:01", "2026-08-27 21:00:00")),
        (("Thu Aug 27 03:12:39 2026",), run("2026-08-26 03:16:01", "2026-09-10 09:02:00")),
        (("91022.118",), TWO_WEEKS),  # since boot: clocks cannot be compared
        (("Thu Aug 27 03:12:39 2026",), ServerLog(decode=SERVED)),
    ],
)
def test_any_other_fault_is_the_programs(judged, moments, log):
    assert isinstance(judged(program_faults, kernel(*moments), log), Finding)


def untold(**more: object) -> Gpus:
    """Return samples that tell neither use nor P-state, as a query of a few columns gives them."""
    said = {"index": 0, "power_w": 188.0, "power_limit_w": 315.0, "reasons": frozenset[str]()}
    return Gpus(samples=tuple(GpuSample.model_validate(said | more) for _ in range(6)))


def test_a_draw_of_half_the_limit_is_work_where_nothing_else_tells_it(judged):
    low = judged(memory_clock_low, untold(mem_mhz=5001.0, mem_max_mhz=9751.0))
    assert "5001 MHz under load" in low.statement
    hot = judged(
        driver_slows_for_heat, untold(temp_c=93.0, reasons=frozenset({"sw_thermal_slowdown"}))
    )
    assert isinstance(hot, Finding)


@pytest.mark.parametrize("more", [{"power_w": 112.0}, {"power_w": None}, {"power_limit_w": None}])
def test_less_is_no_proof_of_work(judged, more):
    assert untold(**more).samples[0].busy is None
    with pytest.raises(Undecided):
        judged(memory_clock_low, untold(mem_mhz=5001.0, mem_max_mhz=9751.0, **more))


def test_what_use_and_p_state_tell_goes_before_the_draw():
    assert untold(util_pct=0).samples[0].busy is False
    assert untold(pstate=8).samples[0].busy is False


@pytest.mark.parametrize(
    ("default_w", "words"),
    [(350.0, "at 90% of the default limit"), (315.0, "at the default limit")],
)
def test_a_limit_is_called_what_it_is(judged, default_w, words):
    capped = untold(
        power_w=314.0,
        power_default_w=default_w,
        mem_mhz=5001.0,
        mem_max_mhz=9751.0,
        reasons=frozenset({"sw_power_cap"}),
    )
    assert words in judged(cap_without_effect, capped).statement
