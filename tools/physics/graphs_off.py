"""What decode without CUDA graphs costs: by its own Decode lines, else by the launches of its kernels."""

from __future__ import annotations

from dataclasses import replace
from statistics import median

from tools.engine import DecodeLine
from tools.physics.deployment import Deployment
from tools.physics.effect import Cost, slower_by
from tools.physics.interval import Interval
from tools.physics.kernels import EAGER_US, EAGER_US_HIGH, EAGER_US_LOW, eager_ms
from tools.physics.seen import Seen
from tools.physics.step import decode_step

_FEWEST = 3  # lines; fewer are an accident


def graphs_off_cost(now: Deployment, seen: Seen) -> Cost:
    """Return what decode loses in the batches that run without a graph."""
    lines = _without(seen)
    batch = max((line.running or 1 for line in lines), default=now.batch)
    fast = replace(now, graph=True, batch=batch * (seen.groups if lines else 1))
    step = decode_step(fast)
    if lines:
        took = median(
            (line.running or 1) * fast.accept_len / (line.tok_s or 1.0) * 1e3 for line in lines
        )
        rest = Interval(*(max(0.0, took - ms) for ms in (step.ms.hi, step.ms.mid, step.ms.lo)))
        said = "the Decode lines without a graph, against the step model with one"
        return slower_by(rest, took - rest.mid, said)
    launch_us = (EAGER_US_LOW, EAGER_US, EAGER_US_HIGH)
    rest_ms = step.kernels.mid + step.links.mid
    waits = Interval(*(eager_ms(fast, step.memory.mid, rest_ms, us) for us in launch_us))
    said = f"the step model, {EAGER_US_LOW:.0f} to {EAGER_US_HIGH:.0f} us to launch an operator"
    return slower_by(waits, step.ms.mid, f"{said}; coarse")


def _without(seen: Seen) -> list[DecodeLine]:
    """Return the steady lines without a graph at the largest batch that enough of them show."""
    steady = seen.log.steady() if seen.log else ()
    lines = [one for one in steady if one.graph is False and one.running and one.tok_s]
    for count in sorted({one.running or 0 for one in lines}, reverse=True):
        alike = [one for one in lines if one.running == count]
        if len(alike) >= _FEWEST:
            return alike
    return []
