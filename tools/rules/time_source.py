"""What the kernel reads the time from, which an engine asks thousands of times a second."""

from __future__ import annotations

from statistics import median

from tools.errors import Undecided
from tools.linux.kernel import KernelLog
from tools.linux.machine import Machine
from tools.nvidia.gpus import Gpus
from tools.probe import Facts
from tools.rule import Cleared, Effect, Finding, Outcome, rule

# Each of these is read from a chip outside the processor and by a system call; tsc, kvm-clock, Hyper-V's page
# and arm's counter are read in the program itself (kernel Documentation/timers, arch/x86/entry/vdso).
SLOW = frozenset({"hpet", "acpi_pm", "jiffies", "pit"})
WAITS_PCT = 85.0  # below it a GPU at work waits for the host part of the time
_SETTLE = (
    "strace -c -f -p PID of the scheduler for ten seconds (clock_gettime should not be there), and perf top -p PID"
    " (read_hpet)"
)


@rule(cause="clocksource_slow")
def kernel_gave_up_the_tsc(
    kernel: KernelLog, machine: Machine | None, gpus: Gpus | None
) -> Outcome:
    """The kernel log says that the time is read from a slow clock since some moment."""
    now = (machine.clocksource if machine else None) or kernel.clocksource
    return _judged(now, gpus, kernel)


@rule(cause="clocksource_slow")
def time_is_read_slowly(machine: Machine, gpus: Gpus | None) -> Outcome:
    """The kernel reads the time from a slow clock."""
    return _judged(machine.clocksource, gpus, machine)


def _judged(now: str | None, gpus: Gpus | None, shown: Facts) -> Outcome:
    if now is None:
        return None
    if now not in SLOW:
        return Cleared(f"the time is read from {now}", (shown,))
    work = [one.util_pct for one in (gpus.samples if gpus else ()) if one.util_pct and one.busy]
    said = f"the kernel reads the time from {now}, by a system call and from a slow chip"
    if not work or median(work) >= WAITS_PCT:
        full = " and the GPU is full" if work else ""
        raise Undecided(
            f"{said}{full}; what that costs the engine is not told", settle=_SETTLE, suspicion=0.3
        )
    return Finding(
        statement=(
            f"{said[0].upper()}{said[1:]}, not from tsc: an engine asks for it many thousand times a second,"
            f" and the GPU, {median(work):.0f} % busy, waits."
        ),
        shown_by=(shown, gpus) if gpus else (shown,),
        confidence=0.75,
        slows=frozenset({"decode", "tail", "throughput"}),
        effect=Effect((-45.0, -20.0, -5.0), (-5.0, -2.0, 0.0), "an estimate: 1 to 2 us a question"),
        quotes=(f"clocksource {now}",),
    )


RULES = (kernel_gave_up_the_tsc, time_is_read_slowly)
