"""Kernel logs: times, storms, boots."""

import pytest

from tools.linux.kernel_lines import split_line
from tools.linux.kernel_log import MOST, read_kernel_log
from tools.probes.kernel_log import ReadKernelLog

XID = "NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus."


@pytest.mark.parametrize(("prefix", "at"), [
    ("[ 1411.220817] ", "1411.220817"), ("<4>[ 1411.220817] ", "1411.220817"), ("kern  :err   : [ 1411.220817] ", "1411.220817"),
    ("[ 1411.220817][    T1] ", "1411.220817"), ("[ 1411.220817] gpu01 kernel: ", "1411.220817"),
    ("[Thu Aug 20 11:42:07 2026] ", "Thu Aug 20 11:42:07 2026"), ("Aug 20 11:42:07 gpu01 kernel: ", "Aug 20 11:42:07"),
    ("Aug  2 11:42:07 gpu01 kernel: [ 1411.220817] ", "Aug  2 11:42:07"),
    ("2026-08-20T11:42:07+0200 gpu01 kernel: ", "2026-08-20T11:42:07+0200"),
    ("2026-08-20T11:42:07.123456+02:00 gpu01 kernel: ", "2026-08-20T11:42:07.123456+02:00"),
    ("2026-08-20T11:42:07,123456+02:00 ", "2026-08-20T11:42:07,123456+02:00"), ("", None),
])  # fmt: skip
def test_each_form_of_a_time_is_taken_off(prefix: str, at: str | None) -> None:
    line = split_line(prefix + XID)
    assert (line.at, line.message) == (at, XID)
    log = read_kernel_log(prefix + XID)
    assert [(xid.bdf, xid.code, xid.at) for xid in log.xids] == [("0000:3b:00.0", 79, at)]
    assert log.fallen_off == ("0000:3b:00.0",)


def test_a_storm_is_capped() -> None:
    text = "\n".join(f"[ {n}.000001] NVRM: Xid (PCI:0000:3b:00): 45, Ch {n}" for n in range(20_000))
    log = read_kernel_log(text)
    assert len(log.xids) == MOST
    assert log.lines == 20_000


def test_machine_checks_are_not_the_line_that_counts_banks() -> None:
    assert (
        read_kernel_log(
            "[ 0.1] mce: CPU supports 32 MCE banks\n[ 0.2] MCE: In-kernel MCE decoding enabled."
        ).mce
        == 0
    )


def test_passthrough_translates_nothing() -> None:
    text = "[ 0.1] DMAR: IOMMU enabled\n[ 0.2] iommu: Default domain type: Passthrough (set via kernel command line)\n"
    assert read_kernel_log(text).iommu_on is False


def test_a_kernel_log_alone_tells_no_power_cut() -> None:
    boot = "-- Boot 0f6c2b7e88aa4d51b3c977a05be6d214 --\n"
    kernel = "Aug 20 08:52:58 lab kernel: usb 1-1: new device\n"
    service = "Aug 20 08:52:58 lab ollama[1877]: loading\n"
    assert read_kernel_log(kernel + boot + kernel).ends_mid_line == 0
    assert read_kernel_log(kernel + service + boot + kernel).ends_mid_line == 1


@pytest.mark.parametrize("text", [
    "[2026-07-04 20:59:20] server_args=ServerArgs(a=1)\n[2026-07-04 20:59:21 TP0] Decode batch, #running-req: 1\n",
    "INFO 07-20 02:06:23 [loggers.py:271] Engine 000: Avg prompt throughput: 402.1 tokens/s\n",
    "| NVIDIA-SMI 550.54   Driver Version: 550.54   CUDA Version: 12.4 |\n",
    "journalctl is a command\n",
])  # fmt: skip
def test_serve_logs_and_tables_are_none(text: str) -> None:
    assert not ReadKernelLog().recognises(text)
