"""nvbandwidth 0.2 to 0.8, its text and its JSON (-j), and bandwidthTest of the CUDA samples.

Of its tests those of one pair at a time are read: host to device and back by the copy engines, and
device to device. Where those are waived, or a cell says N/A, the pair has no peer access. Tests in
which all GPUs copy at once share a way and tell nothing of a link.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from tools.nvidia.topology import HostRate, Pair, PairRate, Topology
from tools.nvidia.values import bdf
from tools.probe import JSON

Matrix = list[list[float | None]]
_RUNNING = re.compile(r"Running (\w{3,80})\.\s*$")
_WAIVED = re.compile(r"(?:Waived: *|Waiving )(\w{3,80})\.?\s*$")
_TITLE = re.compile(
    r"memcpy (?:CE|SM) [CG]PU\(row\) (?:->|<-|<->) GPU\(column\)(?: (\w{1,20}))? bandwidth \(GB/s\)\s*$"
)
_ROW = re.compile(r"\s*(\d{1,3})((?:\s+(?:\d{1,6}\.\d{1,6}|N/A))+)\s*$")
_DEVICE = re.compile(r"Device (\d{1,3}): (\S[^\n(]{1,100}?)(?: \(([0-9A-Fa-f:.]{7,16})\))?\s*$")
_HOST = {"host_to_device_memcpy_ce": True, "device_to_host_memcpy_ce": False}
_PEERS = re.compile(r"device_to_device_(bidirectional_)?memcpy_(?:read|write)_(?:ce|sm)$")
_SAMPLE = re.compile(r"^ (Host to Device|Device to Host) Bandwidth, 1 Device", re.MULTILINE)
_SAMPLE_DEVICE = re.compile(r"^ Device (\d{1,3}): ", re.MULTILINE)
_SAMPLE_RATE = re.compile(r"^ {2,4}\d{1,12}\s+(\d{1,6}(?:\.\d{1,4})?) *$", re.MULTILINE)
_SAMPLE_UNIT = re.compile(r"Bandwidth\((GB|MB)/s\)")
_ENDS = re.compile(r"SUM |\s*$|Running ")
_SIGN = "nvbandwidth"
_SAMPLE_SIGN = "[CUDA Bandwidth Test]"
_TOTAL, _WAIVED_PART = "Total", "waived"
_LONGEST = 600
_MOST = 64  # matrices of one text


class _Card(NamedTuple):
    """A device as it is listed above the tests."""

    name: str | None = None
    bdf: str | None = None


class _Test(NamedTuple):
    """One test: its name, which of several matrices it is, and its cells."""

    name: str
    part: str
    cells: Matrix


def is_nvbandwidth(text: str) -> bool:
    """Say whether a text is what one of the two programs printed."""
    head = text[:4000]
    return (
        _SAMPLE_SIGN in head
        or f"{_SIGN} Version:" in head
        or (text.lstrip()[:1] == "{" and f'"{_SIGN}"' in head)
    )


def read_nvbandwidth(text: str) -> Topology:
    """Return the rates between host and GPU and between GPUs, and who has peer access."""
    if _SAMPLE_SIGN in text:
        return Topology(host_rates=tuple(_of_sample(text)))
    lines = [line for line in text.splitlines() if len(line) < _LONGEST]
    tests = _of_json(text) if text.lstrip()[:1] == "{" else list(_of_text(lines))
    listed = (found for line in lines if (found := _DEVICE.match(line)))
    cards = {int(found[1]): _Card(found[2], bdf(found[3] or "")) for found in listed}
    able: dict[tuple[int, int], bool] = {}
    for test in tests:
        able |= _able(test, len(cards))
    names = sorted({gpu for pair in able for gpu in pair})
    return Topology(
        gpus=tuple(f"GPU{gpu}" for gpu in names),
        p2p=tuple(
            Pair(a=f"GPU{a}", b=f"GPU{b}", word="OK" if ok else "NS")
            for (a, b), ok in sorted(able.items())
        ),
        rates=tuple(rate for test in tests for rate in _between_gpus(test)),
        host_rates=tuple(rate for test in tests for rate in _with_host(test, cards)),
    )


def _of_text(lines: Sequence[str]) -> Iterator[_Test]:
    """Give each matrix below the name of its test, and each test that was waived."""
    tests: list[_Test] = []
    name, open_ = "", False
    for line in lines:
        if row := _ROW.match(line):
            if open_:
                tests[-1].cells.append([_cell(cell) for cell in row[2].split()])
            continue
        if running := _RUNNING.match(line):
            name = running[1]
        if title := _TITLE.match(line):
            tests.append(_Test(name, title[1] or "", []))
        elif waived := _WAIVED.match(line):
            tests.append(_Test(waived[1], _WAIVED_PART, []))
        open_ = bool(title) or (open_ and not _ENDS.match(line))
    yield from tests[:_MOST]


def _of_json(text: str) -> list[_Test]:
    try:
        said: Any = JSON.decode(text)
        cases = said[_SIGN]["testcases"]
        return [
            _Test(
                str(case["name"]),
                _WAIVED_PART
                if case.get("status") == "Waived"
                else _TOTAL
                if _TOTAL in str(case.get("bandwidth_description", ""))
                else "",
                [[_cell(str(cell)) for cell in row] for row in case.get("bandwidth_matrix") or []],
            )
            for case in cases[:_MOST]
        ]
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return []


def _cell(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\d{1,6}(?:\.\d{1,9})?", text) else None


def _able(test: _Test, count: int) -> Iterator[tuple[tuple[int, int], bool]]:
    """Tell who has peer access: it is waived where no pair has."""
    peers = _PEERS.match(test.name)
    if peers and test.part == _WAIVED_PART:
        yield from (
            ((a, b), False) for a in range(min(count, 16)) for b in range(a + 1, min(count, 16))
        )
    for a, row in enumerate(test.cells if peers else []):
        yield from (((a, b), cell is not None) for b, cell in enumerate(row) if b > a)


def _between_gpus(test: _Test) -> Iterator[PairRate]:
    peers = _PEERS.match(test.name)
    if not peers or (peers[1] and test.part != _TOTAL):
        return
    for a, row in enumerate(test.cells):
        for b, cell in enumerate(row):
            if a != b and cell is not None:
                yield PairRate(
                    a=f"GPU{a}", b=f"GPU{b}", gb_s=cell, peer=True, both_ways=bool(peers[1])
                )


def _with_host(test: _Test, cards: dict[int, _Card]) -> Iterator[HostRate]:
    to_gpu = _HOST.get(test.name)
    for row in test.cells[:1] if to_gpu is not None else []:
        for gpu, cell in enumerate(row):
            if cell is not None:
                card = cards.get(gpu, _Card())
                yield HostRate(
                    gpu=gpu, bdf=card.bdf, name=card.name, gb_s=cell, to_gpu=bool(to_gpu)
                )


def _of_sample(text: str) -> Iterator[HostRate]:
    """Take each direction of bandwidthTest, pinned or not: a row is a size in bytes and its rate."""
    device = _SAMPLE_DEVICE.search(text)
    titles = list(_SAMPLE.finditer(text))
    for title in titles:
        part = text[title.end() : title.end() + 4000].split("Bandwidth, 1 Device")[0]
        unit = _SAMPLE_UNIT.search(part)
        rates = [float(rate) for rate in _SAMPLE_RATE.findall(part)]
        if unit and rates and "PINNED" in part:
            yield HostRate(
                gpu=int(device[1]) if device else 0,
                gb_s=max(rates) * (1e-3 if unit[1] == "MB" else 1.0),
                to_gpu=title[1] == "Host to Device",
            )
