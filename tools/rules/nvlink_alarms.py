"""Alarms about NVLink that mean nothing on the hardware at hand."""

from __future__ import annotations

from collections.abc import Iterable

from tools.knowledge.gpus import gpu_named
from tools.linux.machine import Machine
from tools.nvidia.gpus import Gpus
from tools.nvidia.nccl import NcclLog
from tools.nvidia.topology import Nvlinks, Topology
from tools.rule import Cleared, Finding, Outcome, rule

_WITHOUT_NVLS = frozenset(("kepler", "maxwell", "pascal", "volta", "turing", "ampere", "ada"))


@rule(cause="nvlink_links_by_design")
def no_reduction_in_the_switch(nccl: NcclLog, nvlinks: Nvlinks) -> Outcome:
    """NCCL uses no reduction in the switch (NVLS), which these GPUs cannot do."""
    if nccl.nvls_channels != 0:
        return None
    names = set(nvlinks.gpu_names.values())
    known = [gpu_named(name) for name in names]
    if not known or not all(gpu and gpu.arch.lower() in _WITHOUT_NVLS for gpu in known):
        return None
    if not _all_up(nvlinks) or not all(path.startswith("P2P") for path in nccl.paths):
        return None
    return Finding(
        statement=(
            f"'0 nvls channels' is no fault: reductions in the switch (NVLS) exist from Hopper with NVSwitch on,"
            f" and not on {', '.join(sorted(names))}. Every NVLink is up, and NCCL uses peer access."
        ),
        confidence=0.85,
        benign=True,
        quotes=(f"{nccl.nvls_channels} nvls channels", *_rates(nvlinks)),
    )


@rule(cause="nvlink_links_by_design")
def fabric_manager_without_a_switch(machine: Machine, nvlinks: Nvlinks) -> Outcome:
    """The fabric manager finds no NVSwitch, where GPUs are joined without one."""
    if machine.fabric_manager != "no NVSwitch":
        return None
    if not _all_up(nvlinks):
        return Cleared("not every NVLink is up")
    return Finding(
        statement=(
            "The fabric manager finds no NVSwitch and has nothing to do: bridges join these GPUs directly and"
            " need none. Every NVLink is up."
        ),
        confidence=0.85,
        benign=True,
        remedy=("Disable nvidia-fabricmanager on this machine; it serves NVSwitch systems alone.",),
        quotes=("NV_WARN_NOTHING_TO_DO", *_rates(nvlinks)),
    )


@rule(cause="nvlink_links_by_design")
def one_gpu_has_no_peer(nvlinks: Nvlinks, topology: Topology | None, gpus: Gpus | None) -> Outcome:
    """A GPU that is alone in its machine has nothing that an NVLink could join it to."""
    up = nvlinks.active()
    alone = (topology and len(topology.gpus) == 1) or (gpus and len(gpus.by_gpu()) == 1)
    if any(up.values()) or not up or len(nvlinks.gpu_names) != 1 or not alone:
        return None
    name = next(iter(nvlinks.gpu_names.values()))
    product = gpu_named(name)
    if product is None or product.nvlink is None or product.nvlink.kind != "bridge":
        return None
    if any(link.errors for link in nvlinks.links):
        return None
    return Finding(
        statement=(
            f"The only GPU is a {name}, whose NVLinks are for a bridge to a second one: without it all of them"
            " are down by design, whatever a health check says."
        ),
        confidence=0.85,
        benign=True,
        remedy=("Leave NVLink out of the health check of machines without a bridge.",),
        quotes=("every link <inactive>",),
    )


def _all_up(nvlinks: Nvlinks) -> bool:
    up = nvlinks.active()
    return bool(up) and all(up.values())


def _rates(nvlinks: Nvlinks) -> Iterable[str]:
    rates = sorted({one.gb_s for one in nvlinks.links if one.gb_s})
    return tuple(f"every link {rate:g} GB/s" for rate in rates[:1])


RULES = (no_reduction_in_the_switch, fabric_manager_without_a_switch, one_gpu_has_no_peer)
