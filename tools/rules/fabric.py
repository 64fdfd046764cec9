"""The NVSwitch fabric, which the fabric manager sets up before CUDA starts."""

from __future__ import annotations

from tools.engine import ServerLog
from tools.errors import Undecided
from tools.linux.machine import Machine
from tools.nvidia.gpus import Gpus
from tools.rule import Cleared, Finding, Outcome, rule

_NOT_READY = "system not yet initialized"  # CUDA error 802, cudaErrorSystemNotReady


@rule(cause="fabric_manager_down")
def fabric_not_initialized(log: ServerLog) -> Outcome:
    """The NVSwitch fabric is not set up, so CUDA does not start."""
    said = [one.text for one in log.notices if _NOT_READY in one.text.lower()]
    if not said:
        return Cleared("the log holds no CUDA error 802") if log.started else None
    return Finding(
        statement="CUDA does not start: the NVSwitch fabric is not initialized (error 802).",
        confidence=0.85,
        slows=frozenset(("start", "crash")),
        quotes=(said[-1][:200],),
    )


@rule(cause="fabric_manager_down")
def fabric_not_completed(gpus: Gpus) -> Outcome:
    """The driver says that a GPU has not joined the NVSwitch fabric."""
    told = {gpu: group[-1].fabric for gpu, group in gpus.by_gpu().items() if group[-1].fabric}
    if not told:
        return None
    waiting = {gpu: state for gpu, state in told.items() if state != "Completed"}
    if not waiting:
        return Cleared("every GPU has joined the NVSwitch fabric")
    if gpus.busy():
        raise Undecided(
            "a GPU has not joined the fabric, and GPUs are at work",
            settle="nvidia-smi -q | grep -A2 Fabric; systemctl status nvidia-fabricmanager",
            suspicion=0.3,
        )
    quotes = tuple(f"GPU {gpu}: fabric state {state}" for gpu, state in waiting.items())
    return Finding(
        statement=(
            f"The NVSwitch fabric is not set up ({quotes[0]}): CUDA does not start (error 802)."
        ),
        confidence=0.8,
        slows=frozenset(("start", "crash")),
        quotes=quotes[:4],
    )


@rule(cause="fabric_manager_down")
def fabric_manager_of_another_version(machine: Machine) -> Outcome:
    """The fabric manager refuses the driver as one of another version."""
    if machine.fabric_manager != "other version":
        return None
    return Finding(
        statement="The fabric manager and the driver are of different versions, so it does not run.",
        confidence=0.9,
        slows=frozenset(("start", "crash")),
        remedy=("Install the fabric manager of the driver's very version, and start it.",),
    )


RULES = (fabric_manager_of_another_version, fabric_not_initialized, fabric_not_completed)
