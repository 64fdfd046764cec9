"""What of the machine under the server bears on speed: processors, memory, limits, kernel, guest or host."""

from __future__ import annotations

from collections.abc import Iterator

from tools.comparison.trait import Trait
from tools.linux.machine import Machine
from tools.physics.seen import Get

_SIZE = 0.05  # share by which sizes of memory differ with what firmware keeps for itself
# Options of a kernel that bear on speed (Documentation/admin-guide/kernel-parameters.txt of Linux 6.8);
# the others hold paths and serial numbers.
_OPTIONS = (
    "iommu", "intel_iommu", "amd_iommu", "pcie_aspm", "pci", "mitigations", "transparent_hugepage", "isolcpus",
    "nohz_full", "processor.max_cstate", "intel_idle.max_cstate", "intel_pstate", "amd_pstate", "numa_balancing",
    "hugepagesz", "default_hugepagesz", "idle", "nosmt",
)  # fmt: skip


def machine(get: Get) -> Iterator[Trait]:
    """Yield what is known of the machine; counters and load are of the moment, and no trait."""
    told = get(Machine)
    if told is None:
        return
    by = (told,)
    texts: tuple[tuple[str, object, int, tuple[str, ...]], ...] = (
        ("CPU", told.cpu_model, 4, ("host_cpu_slow",)),
        ("CPUs", told.cpus, 3, ()),
        ("sockets", told.sockets, 3, ()),
        ("NUMA nodes", told.numa_nodes, 3, ("numa_remote",)),
        ("threads of a core", told.threads_per_core, 3, ()),
        ("governor", ", ".join(sorted(told.governors)), 5, ("cpu_governor_powersave",)),
        ("CPU limit", _limit(told), 5, ("cpu_cgroup_throttled",)),
        ("virtualization", told.guest_of or told.virt, 3, ("vm_overhead",)),
        ("kernel", told.kernel, 2, ()),
        ("kernel options", _options(told.kernel_cmdline), 3, ("iommu_translating",)),
        ("ASPM policy", told.aspm_policy, 3, ("pcie_aspm_link_down",)),
    )
    for name, text, weight, causes in texts:
        if text:
            yield Trait(name, str(text), "machine", weight=weight, causes=causes, shown_by=by)
    sizes: tuple[tuple[str, float | None, tuple[str, ...]], ...] = (
        ("RAM", told.mem_total_mib, ("memory_pressure_swap",)),
        ("memory limit", told.mem_limit_mib, ("memory_pressure_swap",)),
        ("shared memory", told.shm_total_mib, ("shm_too_small",)),
    )
    for name, mib, causes in sizes:
        if mib:
            shown = f"{mib / 1024:,.0f} GiB" if mib >= 1024 else f"{mib:,.0f} MiB"
            yield Trait(name, shown, "machine", mib, _SIZE, weight=2, causes=causes, shown_by=by)


def _limit(told: Machine) -> str:
    if told.quota_cpus:
        return f"{told.quota_cpus:g} CPUs"
    return "none" if told.quota_told else ""


def _options(cmdline: str | None) -> str:
    """Return the options that bear on speed; "none" where a command line was read without any."""
    if cmdline is None:
        return ""
    found = [word for word in cmdline.split() if word.partition("=")[0] in _OPTIONS]
    return " ".join(dict.fromkeys(found))[:80] or "none"
