"""Errors that the driver reports (Xid): which came first, and whose fault it is."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tools.engine import ServerLog
from tools.errors import Undecided
from tools.knowledge import XIDS
from tools.linux.kernel import KernelLog, XidLine
from tools.linux.kernel_near import days_since_the_only
from tools.linux.machine import Machine
from tools.nvidia.gpus import Gpus
from tools.rule import Aspect, Cleared, Finding, Outcome, rule

# NVIDIA's table calls these an application's fault (physics, section 7).
_APP = frozenset((13, 31, 32, 43, 45, 68, 69))
_FOLLOWERS = frozenset((43, 45, 154))  # they report what another error did
_HALTS = frozenset(
    (8, 62, 109)
)  # it stopped processing, its controller halted, a switch of contexts timed out
_MEMORY = frozenset((48, 63, 64, 92, 94, 95, 140))
_FIRMWARE = frozenset((8, 62, 109, 119, 120))  # what a halted firmware brings about, beside its own
_DEAD: frozenset[Aspect] = frozenset(("crash", "start"))


def _line(line: XidLine) -> str:
    return f"{line.at or ''} {line.bdf}: Xid {line.code}, {line.text}".strip()[:220]


def _first(kernel: KernelLog) -> XidLine | None:
    """Return the first error in time that is no consequence of another."""
    return next((line for line in kernel.xids if line.code not in _FOLLOWERS), None)


@rule(cause="xid_79_fallen_off_bus")
def gpu_left_the_bus(kernel: KernelLog) -> Outcome:
    """A GPU has fallen off the bus."""
    ours = [line for line in kernel.xids if line.code == 79]
    if not ours and not kernel.fallen_off:
        return Cleared("no GPU has fallen off the bus (Xid 79)")
    cards = sorted({line.bdf for line in ours} | set(kernel.fallen_off))
    surprise = any("SDES" in line.errors for line in kernel.aer)
    count = f"{len(ours)} times" if len(ours) > 1 else "once"
    later = [line for line in kernel.xids if line.code not in (79, *_FOLLOWERS, *_MEMORY)]
    return Finding(
        statement=f"GPU {', '.join(cards)} has fallen off the bus {count}.",
        confidence=0.6 if surprise else 0.9,  # after a surprise down it is the consequence
        slows=_DEAD,
        quotes=tuple(_line(line) for line in (*ours[:1], *ours[1:][-1:], *later[:2])),
    )


@rule(cause="xid_gsp_timeout")
def gpu_firmware_hangs(kernel: KernelLog) -> Outcome:
    """The GPU's firmware (GSP) does not answer the driver."""
    ours = [line for line in kernel.xids if line.code in (119, 120)]
    if not ours and not kernel.gsp_faults:
        return _locked(kernel)
    first = _first(kernel)
    cause = first is None or first.code in _FIRMWARE
    said = f"Xid {ours[0].code}" if ours else "; ".join(kernel.gsp_faults[:2])
    card = next((f" of GPU {line.bdf}" for line in (*ours, *kernel.xids)), " of the GPU")
    return Finding(
        statement=f"The firmware{card} does not answer ({said}).",
        confidence=0.88 if cause else 0.55,
        slows=_DEAD,
        quotes=(*(_line(line) for line in ours[:2]), *kernel.gsp_faults[:3]),
    )


def _locked(kernel: KernelLog) -> Outcome:
    """Judge a log without a word of the firmware: a GPU that stands still may be its fault."""
    if not kernel.locked_up and not any(line.code in _HALTS for line in kernel.xids):
        return Cleared("the kernel log holds no Xid 62, 119 or 120")
    if any(line.code not in (*_HALTS, *_FOLLOWERS) for line in kernel.xids):
        return Cleared("another error came with it, which is judged apart")
    halts = sorted({line.bdf for line in kernel.xids if line.code == 62})
    what = f"the controller of GPU {', '.join(halts)} halted (Xid 62)" if halts else ""
    raise Undecided(
        f"{what or 'the driver finds the GPU locked up'} and nothing is told before it: firmware, driver or card",
        settle="nvidia-bug-report.sh before the reboot; the same load with another driver branch, then with"
        " lower clocks (nvidia-smi -lgc)",
        suspicion=0.5,
    )


@rule(cause="xid_app_faults")
def program_faults(kernel: KernelLog, log: ServerLog | None) -> Outcome:
    """A program's kernel faults on the GPU; the hardware is innocent."""
    ours = [line for line in kernel.xids if line.code in _APP and line.code not in (43, 45)]
    followers = [line for line in kernel.xids if line.code in (43, 45)]
    if not ours and not followers:
        return Cleared("the kernel log holds no Xid of a program")
    other = [line for line in kernel.xids if line.code not in _APP and line.code != 154]
    if other:
        return Cleared(f"they follow or accompany Xid {other[0].code}, which is no program's")
    if kernel.io_page_faults:
        return Cleared("the IOMMU refused the GPU's writes, so the faults are collateral")
    if not ours:
        raise Undecided(
            f"Xid {followers[0].code} only reports what happened to a program",
            settle="the engine's log at that moment, and the kernel log before it",
            suspicion=0.25,
        )
    days = days_since_the_only(ours, log.first_line_at, log.last_line_at) if log else None
    if days and log and log.decode:  # the run that serves began after it: history, if it was once
        raise Undecided(
            f"Xid {ours[0].code} of a program was logged once, and {days} days of service followed it",
            settle="the kernel log, when it happens again",
            suspicion=0.05,
        )
    same = _repeated(ours)
    return Finding(
        statement=(
            f"A kernel of the program faults (Xid {ours[0].code}"
            f"{f', {XIDS[ours[0].code].meaning}' if ours[0].code in XIDS else ''})"
            f"{', each time with the same words' if same else ''}; no memory or bus error is logged."
        ),
        confidence=0.88 if same else 0.75,
        slows=frozenset(("crash",)),
        quotes=tuple(_line(line) for line in ours[:3]),
    )


def _repeated(lines: Sequence[XidLine]) -> bool:
    """Say whether one error came back at another time in the same words: code, no bad card."""
    seen: dict[str, set[str | None]] = {}
    for line in lines:
        seen.setdefault(f"{line.code} {re.sub(r'pid=[^,]*', '', line.text)}", set()).add(line.at)
    return any(len(moments) > 1 for moments in seen.values())


@rule(cause="xid_154_recovery_action")
def driver_asks_for_a_reset(kernel: KernelLog, gpus: Gpus | None) -> Outcome:
    """The driver says that a GPU needs a reset or the machine a reboot."""
    ours = [line for line in kernel.xids if line.code == 154 and not _to_none(line.text)]
    told = (
        [one.recovery_action for one in gpus.samples if _asks(one.recovery_action)] if gpus else []
    )
    if not ours and not told:
        return Cleared("no recovery action is asked for (Xid 154)")
    first = _first(kernel)
    after = first is not None or bool(kernel.io_page_faults or kernel.gsp_faults)
    words = _line(ours[-1]) if ours else f"recovery action: {told[-1]}"
    return Finding(
        statement=f"The driver asks for a recovery: {words}.",
        confidence=0.6 if after else 0.85,  # it names the way out; what came before is the cause
        slows=_DEAD,
        quotes=(words,),
    )


def _to_none(text: str) -> bool:
    """Say whether the action became None: "changed from 0x2 (Drain and Reset) to 0x0 (None)"."""
    return text.rstrip(" .)").lower().endswith("none")


def _asks(action: str | None) -> bool:
    return action is not None and action.strip().lower() not in ("none", "n/a", "[n/a]", "")


@rule(cause="driver_mismatch")
def library_and_module_differ(
    kernel: KernelLog, gpus: Gpus | None, machine: Machine | None
) -> Outcome:
    """The driver's library and its kernel module are of different versions."""
    loaded, driver = kernel.nvrm_version, gpus.driver if gpus else None
    if kernel.version_mismatch:
        return Finding(
            statement="The driver's library and its kernel module are of different versions.",
            confidence=0.9,
            slows=_DEAD,
            quotes=(f"kernel module {loaded or 'not told'}, library {driver or 'not told'}",),
        )
    if not (loaded and driver):
        raise Undecided(
            "only one of the two versions is told",
            settle="cat /proc/driver/nvidia/version, and nvidia-smi in the container",
            suspicion=0.02,
        )
    if loaded == driver:
        return Cleared(f"library and module are both {driver}")
    where = " (the container's library against the host's module)" if _inside(machine) else ""
    raise Undecided(
        f"the log names module {loaded}, nvidia-smi says {driver}{where}",
        settle="cat /proc/driver/nvidia/version",
        suspicion=0.2,
    )


@rule(cause="driver_mismatch")
def library_refuses_the_module(machine: Machine) -> Outcome:
    """NVML refuses the loaded kernel module as one of another version."""
    if not machine.nvidia_mismatch:
        return None
    module, library = machine.nvidia_module, machine.nvidia_library
    versions = (f"kernel module {module or 'not told'}, library {library or 'not told'}",)
    return Finding(
        statement=(
            "The driver's library and its loaded kernel module are of different versions"
            f" ({versions[0]}): what runs goes on, what starts anew fails."
        ),
        confidence=0.9,
        slows=_DEAD,
        quotes=versions,
    )


def _inside(machine: Machine | None) -> bool:
    return bool(machine and machine.virt in ("lxc", "docker", "podman"))


RULES = (
    gpu_left_the_bus,
    gpu_firmware_hangs,
    program_faults,
    driver_asks_for_a_reset,
    library_and_module_differ,
    library_refuses_the_module,
)
