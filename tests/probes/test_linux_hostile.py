"""Hostile text costs the probes of a machine no more than its length, and raises nothing but ProbeError."""

import time
from contextlib import suppress
from typing import Any

import pytest

from tools.errors import ProbeError
from tools.probe import Probe
from tools.probes.benchmark import ReadBenchmark
from tools.probes.kernel_log import ReadKernelLog
from tools.probes.machine import ReadMachine
from tools.probes.pcie_links import ReadPcieLinks
from tools.probes.processes import ReadProcesses
from tools.probes.storage import ReadStorage

PROBES = (
    ReadBenchmark(),
    ReadKernelLog(),
    ReadMachine(),
    ReadPcieLinks(),
    ReadProcesses(),
    ReadStorage(),
)
TEXTS = {
    "a long line": "x" * 5_000_000,
    "spaces": " " * 2_000_000,
    "addresses": "00:00.0 " * 200_000,
    "paths": "/sys/" * 400_000,
    "heads of tables": "PID COMMAND %util\n" * 50_000,
    "links": "\tLnkCap:\tSpeed " + "a" * 2_000_000,
    "storms": "[ 1.000001] pcieport 0000:00:03.0: AER: Corrected error received: 0000:01:00.0\n"
    * 20_000,
    "xids": "NVRM: Xid (PCI:" * 100_000,
    "rates": "tok/s\n" + "a 1\n" * 100_000,
    "open objects": '{"rows": [{"a":' * 50_000,
    "no UTF-8": "\ufffd\udcff" * 100_000,
    "wrong types": '{"rows": [1, null, {"pid": "x"}], "load1": "y"}',
    "other types": '{"devices": [{"bdf": 3, "parent": []}], "others": [], "lspci": 1}',
    "one number": '{"processor": {"mhz": 1}, "before": [], "after": 3, "load1": 1}',
    "an array": "[" * 100_000,
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: type(probe).__name__)
def test_hostile_text_is_survived(probe: Probe[Any], name: str) -> None:
    started = time.perf_counter()
    probe.recognises(TEXTS[name])
    with suppress(ProbeError):
        probe.parse(probe.clean(TEXTS[name]))
    assert time.perf_counter() - started < 5
