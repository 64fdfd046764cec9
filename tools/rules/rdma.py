"""RDMA that is used, and goes through the host's memory all the same."""

from __future__ import annotations

from tools.errors import Undecided
from tools.nvidia.gpus import Gpus
from tools.nvidia.nccl import AllReduceTest, NcclLog
from tools.rule import Cleared, Effect, Finding, Outcome, rule

_SETTLE = (
    "lsmod | grep peermem, nvidia-smi topo -m (PIX or PXB between GPU and card?), then all_reduce_perf over"
    " both machines with nvidia-peermem loaded"
)


@rule(cause="gpudirect_rdma_off")
def gpudirect_is_refused(nccl: NcclLog, gpus: Gpus | None, test: AllReduceTest | None) -> Outcome:
    """NCCL uses the RDMA cards without GPUDirect, so every message passes through host memory."""
    if nccl.network != "IB" and "NET/IB" not in nccl.paths:
        return None
    if nccl.without_gdr:
        return _one_sided(nccl)
    if nccl.gdr:
        return Cleared("NCCL uses GPUDirect RDMA", (nccl,))
    if gpus and any("GeForce" in name for name in gpus.names):
        return Cleared("GeForce cards have no GPUDirect RDMA", (gpus,))
    if "NET/IB" not in nccl.paths:
        return None  # whether any channel crosses the network was not logged
    if not nccl.gdr_refused:
        raise Undecided(
            "channels go over NET/IB without GPUDirect, by NCCL's own choice: it wants GPU and card at one"
            " switch",
            settle=_SETTLE,
            suspicion=0.25,
        )
    large = [rate for size, rate in sorted(test.busbw_gb_s.items()) if test] if test else []
    measured = f" The all-reduce reaches {large[-1]:.0f} GB/s." if large else ""
    return Finding(
        f"NCCL uses the RDMA cards and says that GPUDirect is disabled for {', '.join(nccl.gdr_refused[:4])}:"
        f" every message between machines passes through host memory.{measured}",
        shown_by=(nccl, test) if test and large else (nccl,),
        confidence=0.8,
        slows=frozenset({"decode", "prefill", "ttft", "throughput"}),
        effect=Effect(
            (-30.0, -10.0, -3.0),
            (-60.0, -40.0, -15.0),
            "NCCL issue 1412, 33 against 93 GB/s; coarse",
        ),
        quotes=tuple(f"GPU Direct RDMA Disabled for HCA '{name}'" for name in nccl.gdr_refused[:2]),
    )


def _one_sided(nccl: NcclLog) -> Finding:
    names = ", ".join(nccl.without_gdr[:4])
    return Finding(
        f"{names} receives without GPUDirect RDMA while its peer has it: what it gets passes through host memory.",
        shown_by=(nccl,),
        confidence=0.75,
        slows=frozenset({"decode", "prefill", "ttft", "throughput"}),
        remedy=(
            f"On {names}: lsmod | grep peermem; modprobe nvidia-peermem and load it at boot"
            " (/etc/modules-load.d), then start both sides anew.",
        ),
        effect=Effect((-30.0, -10.0, -3.0), (-60.0, -40.0, -15.0), "as where both lack it; coarse"),
        quotes=(f"[receive] via NET/IB without GDRDMA on {names}",),
    )


RULES = (gpudirect_is_refused,)
