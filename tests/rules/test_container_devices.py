"""A container that lost its GPUs, and what only looks like it."""

from __future__ import annotations

from tools.linux.kernel import KernelLog, XidLine
from tools.linux.machine import Machine
from tools.linux.machine_text import read_machine_text
from tools.nvidia.gpus import Gpus, GpuSample
from tools.rule import Cleared
from tools.rules.container_devices import devices_are_denied

LOST = Machine(nvml_unknown_error=True)
HOST = Gpus(samples=(GpuSample(index=0), GpuSample(index=1)))


def test_a_host_that_lists_its_gpus_makes_it_surer(judged):
    alone, beside = judged(devices_are_denied, LOST), judged(devices_are_denied, LOST, HOST)
    assert alone.confidence < beside.confidence
    assert "the host lists 2 GPUs" in beside.statement


def test_a_gpu_off_the_bus_is_gone_for_everybody(judged):
    gone = KernelLog(xids=(XidLine(bdf="0000:3b:00.0", code=79, text="off the bus"),))
    assert isinstance(judged(devices_are_denied, LOST, gone), Cleared)


def test_other_refusals_of_nvml_are_not_it(judged):
    assert judged(devices_are_denied, Machine(nvidia_mismatch=True)) is None
    told = read_machine_text("Failed to initialize NVML: Driver/library version mismatch\n")
    assert "nvml_unknown_error" not in told


def test_it_is_read_from_a_shell_in_the_container():
    text = "(container) $ nvidia-smi -L\nFailed to initialize NVML: Unknown Error\n"
    assert read_machine_text(text)["nvml_unknown_error"]
