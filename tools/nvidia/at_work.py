"""What work does to a GPU's clock: it should rise, not fall."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from tools.nvidia.gpus import GpuSample

FALLS = 0.6  # of the clock at rest; boost steps and a first warm minute take a tenth
FEW = 4  # samples at work


def falls_at_work(group: Sequence[GpuSample]) -> tuple[float, float] | None:
    """Return the SM clock at rest and at work, MHz, of one GPU whose clock falls by work for no told reason.

    None where it does not, or where a look at work names a reason (a cap, heat, the brake) or none was
    asked for a reason.
    """
    work = [one for one in group if one.busy and one.sm_mhz]
    rest = [one.sm_mhz for one in group if one.util_pct == 0 and one.sm_mhz]
    told = [one.reasons for one in work if one.reasons is not None]
    if len(work) < FEW or not rest or not told or any(told):
        return None
    at_work = median(one.sm_mhz or 0.0 for one in work)
    return (max(rest), at_work) if at_work < FALLS * max(rest) else None
