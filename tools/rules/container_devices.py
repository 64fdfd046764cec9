"""A container that may not open the GPUs it was given."""

from __future__ import annotations

from tools.linux.kernel import KernelLog
from tools.linux.machine import Machine
from tools.nvidia.gpus import Gpus
from tools.rule import Cleared, Finding, Outcome, rule

_BUS = frozenset((48, 79, 94, 95, 119, 120, 154))  # after these a GPU is gone for everybody


@rule(cause="container_lost_devices")
def devices_are_denied(machine: Machine, gpus: Gpus | None, kernel: KernelLog | None) -> Outcome:
    """A running container has lost the right to open its GPUs' device files."""
    if not machine.nvml_unknown_error:
        return None
    if kernel and any(line.code in _BUS for line in kernel.xids):
        return Cleared("the kernel log tells of a GPU that failed")
    fine = len(gpus.by_gpu()) if gpus else 0
    host = f", while the host lists {fine} GPU{'s' if fine > 1 else ''}" if fine else ""
    return Finding(
        statement=(
            f"The container may not open its GPUs' device files (NVML: Unknown Error){host}: systemd has written"
            " the rules of its control group anew, as systemctl daemon-reload makes it do."
        ),
        confidence=0.85 if fine else 0.7,
        slows=frozenset(("crash", "start")),
        quotes=("Failed to initialize NVML: Unknown Error",),
    )


RULES = (devices_are_denied,)
