"""Reading texts: seconds of CPU for what hosts really print and for what is made to be slow, and how they grow.

Each is read twice, a quarter of it and the whole: 4 times the text may take 4 times as long, and
STEEPEST times where a cache or the collector counts; beyond that a pattern is not linear, and this fails.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from bot.slack.reception.words import read as read_message
from tests import hostile_texts as hostile
from tests.hostile_texts import DECODE, Read, Repeated
from tools.errors import ToolsError
from tools.hosts.files import read_texts
from tools.linux.kernel_log import read_kernel_log
from tools.linux.wrappers import unwrap
from tools.nvidia.any_report import read_gpus, tells_of_gpus
from tools.nvidia.nccl_log import read_nccl_log
from tools.nvidia.nccl_tests import read_nccl_test
from tools.nvidia.nvlink import read_nvlink
from tools.nvidia.own_benchmarks import read_own_benchmark
from tools.nvidia.topo_matrix import read_matrix
from tools.probe import Probe
from tools.probes import PROBES
from tools.probes.benchmark import ReadBenchmark
from tools.probes.kernel_log import ReadKernelLog
from tools.probes.machine import ReadMachine
from tools.probes.pcie_links import ReadPcieLinks
from tools.probes.processes import ReadProcesses
from tools.probes.server_log import ReadServerLog
from tools.probes.storage import ReadStorage
from tools.secrets import scrub
from tools.sglang.args import read_dump
from tools.sglang.command_line import read_lines
from tools.sglang.log import read_log
from tools.sglang.metrics import read_metrics

QUARTER = 4
STEEPEST = 8.0
FROM_S = 0.02  # what is read faster than that is the clock's and the cache's
LINUX = (ReadBenchmark, ReadKernelLog, ReadMachine, ReadPcieLinks, ReadProcesses, ReadStorage)
NVIDIA = (read_gpus, tells_of_gpus, read_matrix, read_nvlink, read_nccl_log, read_nccl_test)


class Measured(NamedTuple):
    """What one reading of one text took."""

    text: str
    reading: str
    chars: int
    took_s: float
    ratio: float

    def __str__(self) -> str:
        grows = f"{self.ratio:4.1f}x" if self.ratio else "    –"
        return f"{self.chars / 1e6:6.2f} MB {self.took_s:7.3f} s {grows}"


def seconds(read: Read, text: str) -> float:
    """Return the seconds of CPU of one reading, whatever comes of it."""
    began = time.process_time()
    with suppress(ToolsError):
        read(text)
    return time.process_time() - began


def measure(text: str, reading: str, read: Read, part: str, whole: str) -> Measured:
    """Read a quarter and the whole, and again where the first time looks steep."""
    took = seconds(read, whole)
    ratio = 0.0
    if took >= FROM_S:
        ratio = took / max(seconds(read, part), 1e-6)
        if ratio > STEEPEST:
            took = min(took, *(seconds(read, whole) for _ in range(2)))
            ratio = took / max(min(seconds(read, part) for _ in range(3)), 1e-6)
    return Measured(text, reading, len(whole), took, ratio)


def metrics_page(lines: int) -> str:
    line = 'sglang:x_{}{{engine_type="unified",mode="a",model_name="m",tp_rank="0"}} 1.0\n'
    return "".join(line.format(at) for at in range(lines))


def repeated(unit: str, head: str = "") -> Callable[[int], str]:
    return lambda times: Repeated(unit, times, head).text()


ORDINARY: tuple[tuple[str, int, Callable[[int], str], Read], ...] = (
    ("decode lines of an SGLang log", 16_000, repeated(DECODE + "\n"), read_log),
    ("Xids of a storm in a kernel log", 20_000,
     repeated("[ 1.000001] NVRM: Xid (PCI:0000:3b:00): 45, Ch 1\n"), read_kernel_log),
    ("rows of nvidia-smi as CSV", 20_000,
     repeated("0, P2, 9 %, 0x0000000000000004\n",
              "index, pstate, utilization.gpu [%], clocks_event_reasons.active\n"), read_gpus),
    ("metrics of a page", 1_300, metrics_page, read_metrics),
    ("processes in a listing", 20_000,
     repeated("root 1 0 python3 -c from multiprocessing.spawn import spawn_main vllm.entrypoints\n"), read_lines),
    ("rows of somebody's own benchmark", 40_000,
     repeated("1  2  3\n", "size (MB)  busbw (GB/s)\n"), read_own_benchmark),
)  # fmt: skip


def recognised(kind: type[Probe[Any]]) -> Read:
    probe = kind()
    return lambda text: (probe.recognises(text), probe.parse(probe.clean(text)))


def as_a_file(text: str) -> object:
    return list(read_texts([("x", text.encode("utf-8", "surrogatepass"))], PROBES))


GROUPS: dict[str, tuple[dict[str, Repeated], dict[str, Read]]] = {
    "anything, to all that may be given it": (hostile.ANYWHERE, hostile.readings()),
    "to the looks at a machine": (
        hostile.OF_LINUX, {kind.__name__: recognised(kind) for kind in LINUX}),
    "to the reports about GPUs": (hostile.OF_NVIDIA, {read.__name__: read for read in NVIDIA}),
    "a line in a server log": (
        hostile.LINES_OF_A_LOG, {"ReadServerLog": lambda line: ReadServerLog().parse(f"{DECODE}\n{line}\n{DECODE}")}),
    "dumps of arguments": (
        hostile.DUMPS_OF_ARGUMENTS,
        {"read_dump": read_dump, "in a dump": lambda text: read_dump("server_args=ServerArgs(" + text)}),
    "wrapped lines": (hostile.WRAPPED, {"unwrap": unwrap}),
    "metrics": (hostile.METRICS, {"read_metrics": read_metrics}),
    "files": (hostile.LINES_OF_A_FILE, {"read_texts": as_a_file}),
    "halves of secrets": (hostile.HALF_SECRETS, {"scrub": scrub}),
    "messages in Slack": (hostile.MESSAGES, {"read": lambda text: read_message(text, "U0PERFSLTH")}),
}  # fmt: skip


def ordinary() -> Iterator[Measured]:
    """What hosts print, much of it: a row each."""
    print("what hosts print: size, CPU, and 4 times the text against the time of once")
    for name, count, made, read in ORDINARY:
        one = measure(name, "", read, made(count // QUARTER), made(count))
        print(f"  {f'{count:,} {name}':44} {one}", flush=True)
        yield one


def of_group(texts: dict[str, Repeated], reads: dict[str, Read]) -> Iterator[Measured]:
    """Every text of a group, to all that reads it."""
    for name, text in texts.items():
        part, whole = text.text(QUARTER), text.text()
        for reading, read in reads.items():
            yield measure(name, reading, read, part, whole)


def told(group: str, every: Iterable[Measured]) -> list[Measured]:
    """Print the slowest and the steepest of a group."""
    measured = list(every)
    print(f"  {f'{group}, {len(measured)} readings':44}")
    slowest, steepest = (
        max(measured, key=lambda one: one.took_s),
        max(measured, key=lambda one: one.ratio),
    )
    for which, one in (("slowest", slowest), ("steepest", steepest)):
        if one.ratio or which == "slowest":
            print(f"    {which:8} {one}  {one.text!r} to {one.reading}", flush=True)
    return measured


def main() -> int:
    """Measure, print, and fail where something is steeper than it may be."""
    every = list(ordinary())
    print("what is made to be slow")
    for group, (texts, reads) in GROUPS.items():
        every += told(group, of_group(texts, reads))
    steep = [one for one in every if one.ratio > STEEPEST]
    for one in steep:
        print(f"NOT LINEAR: {one}  {one.text!r} to {one.reading}")
    print("Something is NOT linear." if steep else "All of it is linear.")
    return 1 if steep else 0


if __name__ == "__main__":
    sys.exit(main())
