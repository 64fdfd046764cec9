"""What a slow or contended CPU costs: the host's part of a step, taking more time than it should."""

from __future__ import annotations

from tools.linux.machine import Machine
from tools.physics.deployment import Deployment
from tools.physics.effect import Cost, slower_by
from tools.physics.interval import Interval
from tools.physics.step import decode_step

# How many times longer the host's part takes where nothing tells it: own estimate, and wide. Half to
# two thirds of a core's speed (Zen, Skylake) is the low end, a core shared by four the high one.
TIMES = Interval(1.5, 2.5, 4.0)
_UNSURE = 0.3  # of a ratio of clocks: memory does not slow down with the core


def slow_host_cost(now: Deployment, step_ms: float | None, machine: Machine | None) -> Cost:
    """Return what it costs; `step_ms` is the step as measured, and bounds it."""
    times = _by_the_clock(machine) or TIMES
    added = Interval(*(now.host_ms * (one - 1) for one in times))
    fast = decode_step(now).ms
    if step_ms is not None:
        most = max(0.0, step_ms - fast.lo)  # of a measured step, all that the rest leaves
        added = Interval(*(min(one, most) for one in added))
    how = f"the step model, the host's {now.host_ms:g} ms x{times.mid:.2g}"
    return slower_by(added, fast.mid if step_ms is None else step_ms - added.mid, f"{how}; coarse")


def _by_the_clock(machine: Machine | None) -> Interval | None:
    """Return the ratio of the clock that the cores could have to the one they have."""
    fastest = max(machine.mhz_now, default=None) if machine else None
    if machine is None or not fastest or not machine.mhz_max or fastest >= machine.mhz_max:
        return None
    times = machine.mhz_max / fastest
    return Interval(1 + (times - 1) * (1 - _UNSURE), times, 1 + (times - 1) * (1 + _UNSURE))
