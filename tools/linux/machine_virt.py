"""What a machine is a guest of, from the traces that containers and hypervisors leave."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

# systemd-detect-virt(1), systemd 239 to 260
KINDS = frozenset({
    "none", "kvm", "amazon", "qemu", "bochs", "xen", "uml", "vmware", "oracle", "microsoft", "zvm", "parallels",
    "bhyve",
    "qnx", "acrn", "powervm", "apple", "sre", "google", "lxc", "lxc-libvirt", "systemd-nspawn", "docker", "podman",
    "rkt", "wsl", "proot", "pouch", "openvz", "container-other",
})  # fmt: skip
CONTAINERS = frozenset(
    {"lxc", "lxc-libvirt", "systemd-nspawn", "docker", "podman", "rkt", "wsl", "openvz"}
)
_PRODUCTS = (
    (
        "kvm",
        re.compile(
            r"QEMU|KVM|Standard PC|OpenStack|Red Hat|Amazon EC2|Google Compute", re.IGNORECASE
        ),
    ),
    ("vmware", re.compile(r"VMware", re.IGNORECASE)),
    ("oracle", re.compile(r"VirtualBox|innotek", re.IGNORECASE)),
    ("xen", re.compile(r"\bXen\b", re.IGNORECASE)),
    ("microsoft", re.compile(r"Microsoft.*Virtual Machine", re.IGNORECASE)),
)
_HYPERVISORS = {
    "kvm": "kvm",
    "vmware": "vmware",
    "xen": "xen",
    "microsoft": "microsoft",
    "oracle": "oracle",
}


@dataclass(frozen=True)
class Guest:
    """What the system runs in, as systemd-detect-virt names it, and "proxmox" where that shows."""

    virt: str | None
    of: str | None = None

    @classmethod
    def of_script(cls, told: dict[str, Any], kernel: str, processor: dict[str, Any]) -> Guest:
        """Weigh the traces: a container first, since in one the machine's own name is the host's."""
        detected = str(told.get("detected") or "")
        virt = _container(told, detected) or (detected if detected in KINDS else None)
        if virt is None:
            virt = _machine(told, bool(processor.get("hypervisor")))
        emulated = "proxmox" in str(told.get("bios") or "").lower() and virt != "none"
        return cls(virt, "proxmox" if emulated else host_of(virt, kernel))


def host_of(virt: str | None, kernel: str | None) -> str | None:
    """Return "proxmox" for a container below a kernel named 6.8.12-4-pve: it is the host's own."""
    return "proxmox" if virt in CONTAINERS and (kernel or "").endswith("-pve") else None


def _container(told: dict[str, Any], detected: str) -> str | None:
    named = str(told.get("container") or "")
    if detected in CONTAINERS:
        return detected
    if named:
        return named if named in KINDS else "container-other"
    if told.get("docker") or told.get("kubernetes"):
        return "docker"
    if told.get("podman"):
        return "podman"
    return "lxc" if told.get("lxcfs") else None


def _machine(told: dict[str, Any], hypervisor: bool) -> str | None:  # noqa: FBT001
    product = " ".join(
        str(told.get(name) or "") for name in ("vendor", "product", "hypervisor_type")
    )
    if (virt := by_product(product)) is not None:
        return virt
    if hypervisor:
        return "vm-other"
    return "none" if product.strip() else None


def by_product(words: str) -> str | None:
    """Return the word for the maker and product that a guest's firmware tells; None for real ones."""
    return next((virt for virt, pattern in _PRODUCTS if pattern.search(words)), None)


def by_hypervisor(name: str) -> str | None:
    """Return the word for lscpu's "Hypervisor vendor", KVM or VMware."""
    return _HYPERVISORS.get(name.strip().lower())
