"""The scripts for the host run here, for real, and what they print is read."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tools.errors import Absent, Failed
from tools.host import Command, Output
from tools.probe import Probe
from tools.probes.benchmark import ReadBenchmark
from tools.probes.kernel_log import ReadKernelLog
from tools.probes.machine import ReadMachine
from tools.probes.pcie_links import ReadPcieLinks
from tools.probes.processes import ReadProcesses


def run(command: Command, *arguments: str, **environment: str) -> Output:
    argv = [sys.executable, *command.argv[1:], *arguments]
    kept = {**os.environ, **environment}
    done = subprocess.run(
        argv, input=command.stdin, capture_output=True, text=True, timeout=60, env=kept, check=False
    )
    assert not done.stderr
    return Output(stdout=done.stdout, status=done.returncode)


def test_this_machine_is_told() -> None:
    output = run(ReadMachine().command())
    machine = ReadMachine().read(output)
    assert machine.cpus == os.cpu_count()
    assert machine.window_s is not None
    assert 0.9 <= machine.window_s < 60
    assert machine.mem_total_mib is not None
    assert machine.kernel == os.uname().release
    assert ReadMachine().recognises(output.stdout)


def test_a_busy_process_is_among_the_busiest() -> None:
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
        try:
            time.sleep(0.2)
            output = run(ReadProcesses().command())
        finally:
            busy.kill()
    rows = {row.pid: row for row in ReadProcesses().read(output).rows}
    assert (rows[busy.pid].cpu_pct or 0) > 0
    assert rows[busy.pid].ppid == os.getpid()
    assert rows[busy.pid].command == sys.executable
    assert ReadProcesses().recognises(output.stdout)


def test_arguments_of_other_programs_stay_on_the_host() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", "while True: pass", "--password", "hunter2"]
    ) as busy:
        try:
            output = run(ReadProcesses().command())
        finally:
            busy.kill()
    assert str(busy.pid) in output.stdout
    assert "hunter2" not in output.stdout


def test_the_kernel_log_is_told_or_why_not() -> None:
    output = run(ReadKernelLog(lines=100).command())
    if output.stdout.startswith("$ "):
        assert ReadKernelLog().read(output).lines > 0
    else:
        with pytest.raises(Failed, match="on its host"):
            ReadKernelLog().read(output)


def test_without_any_kernel_log_the_answer_says_what_to_do(tmp_path: Path) -> None:
    output = run(ReadKernelLog().command(), PATH=str(tmp_path))
    with pytest.raises(Failed, match=r"journalctl is not installed; dmesg is not installed.*adm"):
        ReadKernelLog().read(output)


class Bus:
    """A small /sys/bus/pci as the kernel lays it out."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.devices = root / "bus/pci/devices"
        self.devices.mkdir(parents=True)

    def add(self, path: str, kind: str, vendor: str, **files: str) -> None:
        folder = self.root / "devices" / path
        folder.mkdir(parents=True)
        for name, text in {"class": kind, "vendor": vendor, **files}.items():
            (folder / name).write_text(text + "\n")
        (self.devices / folder.name).symlink_to(os.path.relpath(folder, self.devices))


def link(speed: str, width: int, most: str, widest: int) -> dict[str, str]:
    return {
        "current_link_speed": speed,
        "current_link_width": str(width),
        "max_link_speed": most,
        "max_link_width": str(widest),
    }


@pytest.mark.parametrize(
    ("gen1", "gen4"),
    [("2.5 GT/s", "16 GT/s"), ("2.5 GT/s PCIe", "16.0 GT/s PCIe")],
    ids=["5.4", "6.8"],
)
def test_a_bus_is_walked_up_to_the_root_in_both_spellings(
    tmp_path: Path, gen1: str, gen4: str
) -> None:
    bus = Bus(tmp_path)
    root, switch = "pci0000:40/0000:40:01.1", "pci0000:40/0000:40:01.1/0000:41:00.0"
    gpu = f"{switch}/0000:42:08.0/0000:43:00.0"
    bus.add(root, "0x060400", "0x1022", **link(gen1, 16, gen4, 16))
    bus.add(switch, "0x060400", "0x1000", **link(gen1, 16, gen4, 16), numa_node="-1")
    bus.add(f"{switch}/0000:42:08.0", "0x060400", "0x1000", **link(gen4, 16, gen4, 16))
    bus.add(gpu, "0x030200", "0x10de", **link(gen4, 16, gen4, 16), numa_node="1",
            aer_dev_correctable="RxErr 2\nBadTLP 0\nTOTAL_ERR_COR 2", aer_dev_fatal="DLP 0\nTOTAL_ERR_FATAL 0")  # fmt: skip
    bus.add(gpu[:-1] + "1", "0x040300", "0x10de", **link(gen4, 16, gen4, 16))
    bus.add(f"{switch}/0000:42:09.0", "0x060400", "0x1000", **link(gen4, 4, gen4, 16))
    bus.add(f"{switch}/0000:42:09.0/0000:44:00.0", "0x010802", "0x144d", **link(gen4, 4, gen4, 4))
    bus.add("pci0000:00/0000:00:1f.0", "0x060100", "0x8086")
    links = ReadPcieLinks().read(run(ReadPcieLinks().command(), str(tmp_path)))
    path = links.path("0000:43:00.0")
    assert [device.bdf for device in path] == [
        "0000:43:00.0",
        "0000:42:08.0",
        "0000:41:00.0",
        "0000:40:01.1",
    ]
    assert [device.port for device in path] == ["endpoint", "downstream", "upstream", "root_port"]
    assert [(device.link_gen, device.cap_gen) for device in path] == [
        (4, 4),
        (4, 4),
        (1, 4),
        (1, 4),
    ]
    assert (path[0].numa_node, path[0].aer_correctable, path[0].aer_kinds, path[0].aer_fatal) == (
        1,
        2,
        {"RxErr": 2},
        0,
    )
    assert [gpu.bdf for gpu in links.gpus()] == ["0000:43:00.0"]
    assert list(links.siblings) == ["0000:44:00.0"]


def test_a_bus_without_a_gpu_says_so(tmp_path: Path) -> None:
    Bus(tmp_path).add("pci0000:00/0000:00:02.0", "0x030000", "0x8086")
    with pytest.raises(Absent, match="no NVIDIA GPU"):
        ReadPcieLinks().read(run(ReadPcieLinks().command(), str(tmp_path)))


def test_no_bus_at_all_says_so(tmp_path: Path) -> None:
    with pytest.raises(Absent, match="no PCI bus"):
        ReadPcieLinks().read(run(ReadPcieLinks().command(), str(tmp_path)))


def test_a_result_file_gives_its_figures_and_nothing_else(tmp_path: Path) -> None:
    result = tmp_path / "sglang_1129_32_random.jsonl"
    result.write_text(
        '{"duration": 2.5, "completed": 32, "output_throughput": 700.5, "server_info": {"api_key": "hunter2"}}\n'
    )
    output = run(ReadBenchmark(path=str(result)).command())
    assert "hunter2" not in output.stdout
    assert ReadBenchmark().read(output).output_tok_s == 700.5
    found = run(ReadBenchmark().command(), HOME=str(tmp_path))
    assert ReadBenchmark().read(found).prompts == 32


@pytest.mark.parametrize(
    "probe",
    [ReadMachine(), ReadProcesses(), ReadPcieLinks(), ReadKernelLog(), ReadBenchmark()],
    ids=lambda p: type(p).__name__,
)
def test_the_scripts_are_python_3_8(probe: Probe[Any]) -> None:
    import ast

    ast.parse(probe.command().stdin, feature_version=(3, 8))
