"""Hostile text makes the probes of a machine raise nothing but ProbeError."""

from contextlib import suppress
from typing import Any

import pytest

from tests.hostile_texts import OF_LINUX
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
TEXTS = {name: text.text() for name, text in OF_LINUX.items()} | {
    "wrong types": '{"rows": [1, null, {"pid": "x"}], "load1": "y"}',
    "other types": '{"devices": [{"bdf": 3, "parent": []}], "others": [], "lspci": 1}',
    "one number": '{"processor": {"mhz": 1}, "before": [], "after": 3, "load1": 1}',
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: type(probe).__name__)
def test_hostile_text_is_survived(probe: Probe[Any], name: str) -> None:
    probe.recognises(TEXTS[name])
    with suppress(ProbeError):
        probe.parse(probe.clean(TEXTS[name]))
