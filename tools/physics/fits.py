"""Whether a published or claimed number fits the hardware that it names."""

from __future__ import annotations

from dataclasses import dataclass

from tools.physics.deployment import Deployment
from tools.physics.interval import Interval
from tools.physics.reading import cache_gb, weights_gb
from tools.physics.step import Step, decode_step


@dataclass(frozen=True)
class Fit:
    """A step in ms beside what the model says of it. `why` is empty where it fits."""

    step_ms: float
    predicted_ms: Interval
    why: str = ""

    @property
    def fits(self) -> bool:
        """Say whether the number can be of the named hardware."""
        return not self.why


def fits_rate(d: Deployment, tok_s: float) -> Fit:
    """Judge a rate in tokens per second, all sequences together."""
    return fits(d, d.batch * d.accept_len / tok_s * 1e3)


def fits(d: Deployment, step_ms: float) -> Fit:
    """Judge the time of one decode step.

    Faster than reading all weights once at the full bandwidth is impossible whatever the software;
    outside the model's interval the number does not fit, and the reason says what it would fit.
    """
    step = decode_step(d)
    least_ms = (weights_gb(d) + cache_gb(d)) / d.gpu.bandwidth_gb_s * 1e3 / max(1.0, d.unpacking)
    told = f"{step_ms:.1f} ms a step"
    if step_ms < least_ms:
        return Fit(
            step_ms,
            step.ms,
            f"{told} is impossible on {_named(d)}: reading the weights once at its full"
            f" {d.gpu.bandwidth_gb_s:,.0f} GB/s takes {least_ms:.1f} ms.",
        )
    if step.ms.lo <= step_ms <= step.ms.hi:
        return Fit(step_ms, step.ms)
    return Fit(step_ms, step.ms, f"{told} does not fit {_named(d)}: {_apart(d, step, step_ms)}")


def _apart(d: Deployment, step: Step, step_ms: float) -> str:
    low, mid, high = step.ms
    expected = f"{mid:.1f} ms ({low:.1f} to {high:.1f}) is what this model takes there"
    if step_ms < low:
        return f"{expected}; fewer bytes are read than was said, or more tokens come of a step."
    rest = step_ms - (step.ms.mid - step.memory.mid)
    read_gb_s = step.read_gb / rest * 1e3
    return (
        f"{expected}. It is the rate of a memory that gives {read_gb_s / 1e3:.2f} TB/s, and this one"
        f" gives {d.gpu.bandwidth_gb_s * d.gpu.decode_fraction / 1e3:.2f}: another card,"
        f" or software that takes {step_ms / mid:.1f} times as long."
    )


def _named(d: Deployment) -> str:
    return d.gpu.name if d.tp == 1 else f"{d.tp}x {d.gpu.name}"
