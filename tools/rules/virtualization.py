"""What stands between the server and the metal: guests, slices, licences, confidential mode."""

from __future__ import annotations

import re

from tools.engine import Environment, Launch, ServerLog
from tools.errors import Undecided
from tools.linux.machine import Machine, Processes, stolen_pct
from tools.nvidia.gpus import Gpus
from tools.rule import Cleared, Effect, Finding, Outcome, rule

UNLICENSED_S = (
    20 * 60
)  # an unlicensed vGPU is restricted 20 minutes after boot (vGPU licensing guide)
STEAL_PCT = 5.0
IDLE_ENOUGH_PCT = 80.0  # below it the GPU waits for the host

_VMS = frozenset(("kvm", "qemu", "vmware", "microsoft", "xen", "amazon", "oracle", "bochs", "vm"))
_VGPU = re.compile(r"(?:-|\b)\d{1,3}(?:Q|C|B|A)$")


@rule(cause="vm_overhead")
def guest_pays_for_the_host(machine: Machine, processes: Processes | None) -> Outcome:
    """A virtual machine costs time: cores not pinned, timers, emulation."""
    if machine.virt is None:
        raise Undecided("it is not told whether this is a guest", suspicion=0.02)
    if machine.virt not in _VMS:
        return Cleared(f"no virtual machine ({machine.virt})")
    steal = stolen_pct(machine, processes)
    if steal is not None and steal > STEAL_PCT:
        return Finding(
            statement=f"The host takes {steal:.0f} % of the guest's CPU time (steal).",
            confidence=0.75,
            slows=frozenset(("decode", "tail", "ttft", "throughput")),
            effect=Effect((-15.0, -5.0, -1.0), (-5.0, -1.0, 0.0), "an estimate, not measured here"),
            quotes=(f"steal {steal:.1f} %",),
        )
    raise Undecided(
        f"a guest ({machine.virt}); pinned it costs nothing measurable, and pinning is not visible",
        settle="vmstat 1 5 (st) while decoding; on the host: are the vCPUs pinned to one node?",
        suspicion=0.2 if steal is None else 0.05,
    )


@rule(cause="vgpu_unlicensed")
def vgpu_without_licence(gpus: Gpus, machine: Machine | None) -> Outcome:
    """A virtual GPU has no licence and is slowed down some time after boot."""
    told = [one for one in gpus.samples if one.licence]
    bad = [one for one in told if "unlicensed" in (one.licence or "").lower()]
    if bad:
        return _unlicensed(f"License Status: {bad[-1].licence}", 0.95)
    if told:
        return Cleared(f"the licence is {told[-1].licence}")
    profile = next((name for name in gpus.names if _VGPU.search(name)), None)
    if profile is None:
        return None
    old = machine is not None and machine.up_s is not None and machine.up_s > UNLICENSED_S
    idle = any(one.util_pct is not None and one.util_pct < 5 for one in gpus.samples)
    if old and idle:
        return _unlicensed(
            f"{profile}, up {(machine.up_s or 0) / 60 if machine else 0:.0f} min, idle", 0.6
        )
    raise Undecided(
        f"{profile} is a vGPU; its licence is not told",
        settle="nvidia-smi -q | grep -A2 'vGPU Software Licensed'; journalctl -u nvidia-gridd",
        suspicion=0.4,
    )


def _unlicensed(quote: str, confidence: float) -> Finding:
    sure = confidence > 0.9
    return Finding(
        statement=(
            "The vGPU has no licence, so the driver slows it down."
            if sure
            else "A vGPU that is restricted some 20 minutes after boot: it looks unlicensed."
        ),
        confidence=confidence,
        slows=frozenset(("decode", "prefill", "ttft", "throughput", "start")),
        verify="nvidia-smi -q: License Status Licensed; the rate holds beyond 20 minutes",
        quotes=(quote,),
    )


@rule(cause="cc_mode_host_sync")
def confidential_mode_waits(gpus: Gpus, log: ServerLog | None) -> Outcome:
    """Confidential computing makes copies wait for the host, in each step."""
    if gpus.cc_on is None:
        raise Undecided("it was not asked", settle="nvidia-smi conf-compute -f", suspicion=0.02)
    if not gpus.cc_on:
        return Cleared("confidential computing is off")
    waits = [one.util_pct for one in gpus.samples if one.util_pct is not None]
    idle = bool(waits) and min(waits) < IDLE_ENOUGH_PCT
    if not idle:
        raise Undecided(
            "confidential computing is on; whether it costs here needs a control without it",
            settle="the same engine on a GPU with CC off; ITL over concurrency with CC on",
            suspicion=0.35,
        )
    version = f" ({log.version})" if log and log.version else ""
    return Finding(
        statement=(
            "Confidential computing is on: pinned copies wait for the host, and the GPU is only"
            f" {min(waits):.0f} % busy; engines{version} differ in how many they make per step."
        ),
        confidence=0.65,
        slows=frozenset(("decode", "throughput")),
        quotes=(f"CC status: ON, utilisation {min(waits):.0f} %",),
    )


@rule(cause="mig_slice")
def server_runs_on_a_slice(gpus: Gpus, environment: Environment | None) -> Outcome:
    """The server has a slice of a GPU, and a slice of its speed."""
    told = [one for one in gpus.samples if one.mig is not None]
    on = [one for one in told if one.mig]
    if not told:
        raise Undecided("MIG mode is not told", settle="nvidia-smi -L", suspicion=0.02)
    if not on:
        return Cleared("MIG is off")
    given = _given(environment)
    if given and not any(name.startswith("MIG-") for name in given):
        off = {str(one.index) for one in told if not one.mig}
        if all(name.startswith("GPU-") or name in off for name in given):
            return Cleared("the server is given whole GPUs, and MIG is on for others")
    if not given and len(on) < len(told):
        raise Undecided(
            "MIG is on for some GPUs; which the server has is not told",
            settle="the server's CUDA_VISIBLE_DEVICES, and nvidia-smi -L in its container",
            suspicion=0.25,
        )
    return Finding(
        statement="MIG is on: the server has the share of bandwidth and SMs of its slice.",
        confidence=0.75 if given else 0.6,  # it may be as small as was wanted
        slows=frozenset(("decode", "prefill", "throughput", "ttft")),
        quotes=("mig.mode.current Enabled",),
    )


def _given(environment: Environment | None) -> tuple[str, ...]:
    """Return the devices that the server's environment names."""
    values = environment.values if environment else {}
    return tuple(filter(None, values.get("CUDA_VISIBLE_DEVICES", "").replace(" ", "").split(",")))


@rule(cause="persistence_off")
def driver_unloads_when_idle(gpus: Gpus, launch: Launch | None) -> Outcome:
    """The driver unloads when nobody uses the GPU, and the first request waits."""
    told = [one for one in gpus.samples if one.persistence is not None]
    if not told or all(one.persistence for one in told):
        return Cleared("persistence mode is on") if told else None
    serving = gpus.busy() or gpus.processes or (launch and launch.pid)
    used = any((one.mem_used_mib or 0) > 1024 for one in gpus.samples)
    if serving or used:
        return Cleared("persistence is off, and a running server keeps the driver loaded")
    raise Undecided(
        "persistence is off; whether a server holds the GPU is not told", suspicion=0.03
    )


RULES = (
    guest_pays_for_the_host,
    vgpu_without_licence,
    confidential_mode_waits,
    server_runs_on_a_slice,
    driver_unloads_when_idle,
)
