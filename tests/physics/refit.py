"""The constants fitted anew without one class of GPU, to see what the model says of a class it never saw.

A step is linear in 1 / (share of bandwidth reached) and in the cost of a kernel. Each family of
memory (stacked or not) has one of each, fitted by least squares of the relative error on the
`decode` rows of its other classes; the left-out class is then predicted with them.
"""

from __future__ import annotations

from collections.abc import Iterable

from tests.physics.published import Row, deployment_of
from tools.knowledge.calibration import calibration
from tools.physics.kernels import kernels
from tools.physics.step import decode_step


def without(left_out: str, rows: Iterable[Row]) -> list[float]:
    """Return the predicted ms of rows of a class by constants that no row of it touched."""
    predicted = []
    for row in rows:
        family = deployment_of(row).gpu.hbm
        known = [
            one
            for one in calibration()["decode"]
            if deployment_of(one).gpu.hbm == family and deployment_of(one).gpu.sm != left_out
        ]
        slowness, each = fitted(known)
        reading, count, rest = _parts(row)
        predicted.append(reading * slowness + count * each + rest)
    return predicted


def _parts(row: Row) -> tuple[float, float, float]:
    """Return ms of reading at the full bandwidth, thousands of kernels, ms of all else."""
    d = deployment_of(row)
    step = decode_step(d)
    reading = step.memory.mid * d.gpu.decode_fraction
    return reading, kernels(d) / 1e3, step.links.mid + step.host.mid


def fitted(rows: Iterable[Row]) -> tuple[float, float]:
    """Return slowness (1 / share) and ms a thousand kernels take: two normal equations, relative error."""
    aa = ab = bb = ay = by = 0.0
    for row in rows:
        measured = row["measured_ms"]
        reading, count, rest = _parts(row)
        a, b, y = reading / measured, count / measured, 1 - rest / measured
        aa, ab, bb, ay, by = aa + a * a, ab + a * b, bb + b * b, ay + a * y, by + b * y
    determinant = aa * bb - ab * ab
    return (ay * bb - by * ab) / determinant, (by * aa - ay * ab) / determinant
