"""Alarms about NVLink that mean nothing, and their twins that do."""

from __future__ import annotations

import pytest

from tools.linux.machine import Machine
from tools.linux.machine_text import read_machine_text
from tools.nvidia.nccl import NcclLog
from tools.nvidia.nccl_log import read_nccl_log
from tools.nvidia.topology import Nvlink, Nvlinks, Topology
from tools.rule import Finding
from tools.rules.nvlink_alarms import (
    fabric_manager_without_a_switch,
    no_reduction_in_the_switch,
    one_gpu_has_no_peer,
)

CHANNELS = "h:1:2 [0] NCCL INFO 4 coll channels, 0 nvls channels, 4 p2p channels, 4 p2p channels per peer\n"
STATUS = "Nov 15 14:15:47 a nv-fabricmanager[4177]: request to query NVSwitch device information from NVSwitch driver failed with error:WARNING Nothing to do [NV_WARN_NOTHING_TO_DO]\n"


def links(name="NVIDIA RTX A6000", gpus=2, up=True):
    return Nvlinks(
        gpu_names={str(gpu): name for gpu in range(gpus)},
        links=tuple(
            Nvlink(gpu=gpu, link=link, active=up, gb_s=14.062 if up else None)
            for gpu in range(gpus)
            for link in range(4)
        ),
    )


def nccl(path="P2P/IPC"):
    return NcclLog(paths={path: 4}, nvls_channels=read_nccl_log(CHANNELS).nvls_channels)


def test_reductions_in_the_switch_begin_with_hopper(judged):
    assert judged(no_reduction_in_the_switch, nccl(), links()).benign
    assert judged(no_reduction_in_the_switch, nccl(), links("NVIDIA H100 80GB HBM3")) is None


@pytest.mark.parametrize("known", [(nccl("SHM"), links()), (nccl(), links(up=False))])
def test_it_is_no_false_alarm_where_the_links_are_down_or_unused(judged, known):
    assert judged(no_reduction_in_the_switch, *known) is None


def test_a_fabric_manager_without_a_switch_has_nothing_to_do(judged):
    machine = Machine(**read_machine_text(STATUS))
    assert judged(fabric_manager_without_a_switch, machine, links("NVIDIA A40")).benign
    assert not isinstance(
        judged(fabric_manager_without_a_switch, machine, links(up=False)), Finding
    )


def test_one_gpu_has_nothing_to_be_joined_to(judged):
    down = links("NVIDIA A100 80GB PCIe", gpus=1, up=False)
    assert judged(one_gpu_has_no_peer, down, Topology(gpus=("GPU0",))).benign
    assert judged(one_gpu_has_no_peer, down) is None, "how many GPUs there are is not told"
    two = links("NVIDIA A100 80GB PCIe", gpus=2, up=False)
    assert judged(one_gpu_has_no_peer, two, Topology(gpus=("GPU0", "GPU1"))) is None
