"""What a guest lacks or waits for by its host: addresses for its GPUs, cores that are put to sleep."""

from __future__ import annotations

from tools.errors import Undecided
from tools.linux.kernel import KernelLog
from tools.linux.machine import Machine
from tools.rule import Effect, Finding, Outcome, rule

MANY = 100  # traps; each lets its thread sleep 10 ms
_ENGINES = ("python", "sglang", "vllm", "llama")


@rule(cause="bar1_small")
def regions_have_no_address(kernel: KernelLog, machine: Machine | None) -> Outcome:
    """The firmware gave a GPU's memory regions no address, so that the driver leaves it out."""
    cards = kernel.no_space
    if not cards:
        return None
    guest = machine is not None and machine.virt not in (None, "none", "lxc", "docker", "podman")
    where = "the guest's firmware" if guest else "firmware"
    return Finding(
        statement=(
            f"{where[0].upper()}{where[1:]} gave GPU {', '.join(cards)} no address for its memory (BAR of 0M):"
            " the window above 4 GB is too small for all cards, and the driver leaves these out."
        ),
        shown_by=(kernel, machine) if machine and guest else (kernel,),
        confidence=0.9,
        slows=frozenset({"start"}),
        remedy=(
            "A larger 64-bit window for the guest: X-PciMmio64Mb of OVMF (fw_cfg opt/ovmf/X-PciMmio64Mb, 65536 and"
            " more), pciPassthru.64bitMMIOSizeGB of VMware, machine type Q35; on bare metal Above 4G Decoding.",
        ),
        verify="dmesg holds no 'BAR0 is 0M', and nvidia-smi -L lists every card",
        quotes=tuple(f"BAR is 0M @ 0x0 (PCI:{bdf})" for bdf in cards[:4]),
    )


@rule(cause="split_lock_traps")
def split_locks_put_threads_to_sleep(kernel: KernelLog) -> Outcome:
    """The kernel lets threads sleep for each split lock that they take."""
    if not kernel.split_locks:
        return None
    who = ", ".join(kernel.split_lockers[:3]) or "threads that are not named"
    guests = [name for name in kernel.split_lockers if "KVM" in name or "qemu" in name]
    ours = [name for name in kernel.split_lockers if name.lower().startswith(_ENGINES)]
    said = f"{kernel.split_locks} split locks were trapped ({who})"
    if kernel.split_locks < MANY or not (guests or ours):
        raise Undecided(
            f"{said}: noise, unless the server or its guest takes them",
            settle="dmesg -w while it is slow, and sysctl kernel.split_lock_mitigate=0 for a try",
            suspicion=0.1,
        )
    whose = "the guests' processors" if guests else "the server"
    return Finding(
        statement=(
            f"{said}: from kernel 5.19 each puts its thread to sleep for 10 ms and lets the others wait, so"
            f" {whose} freeze."
        ),
        confidence=0.75,
        slows=frozenset({"decode", "tail", "ttft", "throughput"}),
        effect=Effect((-70.0, -30.0, -5.0), (-10.0, -3.0, 0.0), "an estimate, not measured here"),
        quotes=(f"{who} took a split_lock trap",),
    )


RULES = (regions_have_no_address, split_locks_put_threads_to_sleep)
