"""Fields of a monitoring page that stand at zero, while another instrument shows the work."""

from __future__ import annotations

from tools.engine import ServerLog
from tools.nvidia.gpus import Gpus, GpuSample
from tools.nvidia.nccl import AllReduceTest
from tools.nvidia.topology import Topology
from tools.rule import Cleared, Finding, Outcome, rule

FULL_PCT = 80.0  # of utilisation; the two fields measure one thing in two ways
# A bus bandwidth that no PCIe slot gives: Gen5 x16 moves 63 GB/s one way at most.
BEYOND_PCIE_GB_S = 70.0


@rule(cause="metric_not_filled")
def engine_active_stands_at_zero(gpus: Gpus, log: ServerLog | None) -> Outcome:
    """DCGM's profiling fields stand at zero while the GPUs work."""
    told = [one for one in gpus.samples if one.engine_active is not None]
    if not told:
        return None
    if any(one.engine_active for one in told):
        return Cleared("the profiling fields are filled")
    if not all(_works(one) for one in told):
        return Cleared("not every GPU works, so a zero may be true")
    rates = [line.tok_s for line in log.steady() if line.tok_s] if log else []
    also = f", and the server decodes at {rates[-1]:.0f} tok/s" if rates else ""
    least = min(one.util_pct or 0.0 for one in told)
    return Finding(
        statement=(
            f"DCGM's engine activity is 0 for all {len(told)} GPUs, whose utilisation on the same page is"
            f" {least:.0f} % and more{also}: the field is not filled, the GPUs work."
        ),
        shown_by=(gpus, log) if log and rates else (gpus,),
        confidence=0.9 if rates else 0.7,
        benign=True,
        quotes=("DCGM_FI_PROF_GR_ENGINE_ACTIVE 0", f"DCGM_FI_DEV_GPU_UTIL {least:.0f}"),
    )


def _works(sample: GpuSample) -> bool:
    return sample.busy is not False and (sample.util_pct or 0.0) >= FULL_PCT


@rule(cause="metric_not_filled")
def nvlink_bytes_stand_at_zero(
    gpus: Gpus, test: AllReduceTest, topology: Topology | None
) -> Outcome:
    """DCGM's NVLink traffic stands at zero while an all-reduce shows that the links are used."""
    told = [one for one in gpus.samples if one.nvlink_mb_s is not None]
    if not told:
        return None
    if any(one.nvlink_mb_s for one in told):
        return Cleared("the NVLink fields are filled")
    large = max(test.busbw_gb_s.items(), default=(0, 0.0))[1]
    joined = sorted(
        word for word in (topology.words() if topology else ()) if word.startswith("NV")
    )
    if large < BEYOND_PCIE_GB_S:
        return Cleared(f"an all-reduce of {large:.0f} GB/s could go over PCIe")
    via = f" ({joined[0]} between the GPUs)" if joined else ""
    return Finding(
        statement=(
            f"DCGM's NVLink traffic is 0 for all {len(told)} GPUs, and the all-reduce reaches {large:.0f} GB/s{via},"
            " which no PCIe slot gives: the field is not filled, NVLink is used."
        ),
        shown_by=(gpus, test, topology) if topology and joined else (gpus, test),
        confidence=0.85,
        benign=True,
        quotes=("DCGM_FI_PROF_NVLINK_TX_BYTES 0", f"busbw {large:g} GB/s"),
    )


RULES = (engine_active_stands_at_zero, nvlink_bytes_stand_at_zero)
