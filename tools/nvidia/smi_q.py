"""`nvidia-smi -q`, whole or any of its sub-reports (-d ECC, POWER, ...), or a cut-out of one.

Lines are "    Name    : value", sections are indented by four blanks. A text that is cut off gives
what was whole; one without a "GPU 0000:.." line is taken for one GPU.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tools.nvidia.gpus import GpuProcess, Gpus, GpuSample
from tools.nvidia.report import Report, sample_of
from tools.nvidia.values import bdf, count, mib, moment, process_name, text

_LINE = re.compile(r"(?P<indent> *)(?P<name>[A-Za-z][^:\t\n]{0,80}?) *(?:: ?(?P<value>.{0,300}))?$")
_GPU = re.compile(r"GPU +([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7])\s*$")
_LOG = "NVSMI LOG"
_HEAD = re.compile(
    r"^(Timestamp|Driver Version|CUDA Version|Attached GPUs) +: *(.+)$", re.MULTILINE
)
_GPU_LINE = re.compile(
    r"^GPU +[0-9A-Fa-f]{8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7]\s*$", re.MULTILINE
)
_SIGNS = re.compile(  # what opens a cut-out
    r"^ {0,12}(?:(?:Clocks (?:Throttle|Event) Reasons(?: Counters)?|Remapped Rows|E[Cc][Cc] Errors|FB Memory Usage"
    r"|BAR1 Memory Usage|(?:GPU )?Power Readings|GPU Link Info|Retired Pages|Max Clocks|PCIe Generation)\s*$"
    r"|(?:Performance State|Persistence Mode|Product Name|SW Power Cap|HW Slowdown|License Status|GPU Current Temp"
    r"|Enforced Power Limit) +: )",
    re.MULTILINE,
)
_LONGEST = 400


@dataclass
class _Gpu:
    """One GPU's part of a report while it is read; `found` are its processes as name-value lists."""

    address: str | None = None
    report: Report = field(default_factory=dict)
    found: list[dict[str, str]] = field(default_factory=list)
    asked: bool = False  # the process section was printed


def is_query(text_: str) -> bool:
    """Say whether a text holds lines of `nvidia-smi -q`."""
    return _LOG in text_ or bool(_GPU_LINE.search(text_)) or bool(_SIGNS.search(text_))


def read_query(text_: str) -> Gpus:
    """Return the GPUs of all reports in a text, in their order."""
    parts = re.split(rf"^=+{_LOG}=+$", text_, flags=re.MULTILINE)
    return Gpus.united(_read_log(part) for part in parts if part.strip())


def _read_log(part: str) -> Gpus:
    head = {name: value.strip() for name, value in _HEAD.findall(part)}
    attached, at = count(head.get("Attached GPUs", "")), moment(head.get("Timestamp", ""))
    gpus = list(_gpus(part.splitlines()))
    whole = attached is not None and attached == len(gpus)  # else an index would be a guess
    samples = [_sample(gpu, number if whole else None, at) for number, gpu in enumerate(gpus)]
    processes = [
        each
        for number, gpu in enumerate(gpus)
        for each in _processes(gpu, number if whole else None)
    ]
    return Gpus(
        driver=text(head.get("Driver Version", "")),
        cuda=text(head.get("CUDA Version", "")),
        samples=tuple(sample for sample in samples if sample),
        processes=tuple(processes) if any(gpu.asked for gpu in gpus) else None,
        attached=attached,
    )


def _sample(gpu: _Gpu, index: int | None, at: str | None) -> GpuSample | None:
    if gpu.address:
        gpu.report["gpu_id"] = gpu.address
    return sample_of(gpu.report, index=index, at=at)


def _gpus(lines: list[str]) -> Iterator[_Gpu]:
    gpu, stack = _Gpu(), list[tuple[int, str]]()
    for line in lines:
        if len(line) > _LONGEST:
            continue
        if header := _GPU.match(line):
            if gpu.report:
                yield gpu
            gpu, stack = _Gpu(address=bdf(header[1])), []
        elif _HEAD.match(line) is None and (found := _LINE.match(line.rstrip())):
            _take(gpu, stack, found)
    if gpu.report or gpu.address:
        yield gpu


def _take(gpu: _Gpu, stack: list[tuple[int, str]], found: re.Match[str]) -> None:
    """Put one line into the report; `stack` holds the sections that are open, with their indents."""
    indent, name = len(found["indent"]), _word(found["name"])
    while stack and stack[-1][0] >= indent:
        stack.pop()
    path = "/".join([section for _, section in stack] + [name])
    value = (found["value"] or "").strip()
    if found["value"] is None or name == "process_id":
        stack.append((indent, name))
    if path.startswith("processes") or "/processes" in path:
        _take_process(gpu, name, value)
    elif value:
        gpu.report.setdefault(path, value)


def _take_process(gpu: _Gpu, name: str, value: str) -> None:
    if name == "processes":
        gpu.asked = gpu.asked or value.lower() in ("", "none")
    elif name == "process_id":
        gpu.found.append({name: value})
    elif gpu.found:
        gpu.found[-1].setdefault(name, value)


def _processes(gpu: _Gpu, index: int | None) -> Iterator[GpuProcess]:
    for each in gpu.found:
        pid, used = count(each["process_id"]), mib(each.get("used_gpu_memory", ""))
        if pid is not None:
            yield GpuProcess(
                gpu=index, pid=pid, name=process_name(each.get("name", "")), used_mib=used
            )


def _word(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
