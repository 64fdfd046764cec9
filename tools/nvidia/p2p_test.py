"""p2pBandwidthLatencyTest of the CUDA samples: who can reach whom, and how fast."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tools.nvidia.topology import Pair, PairRate, Topology

_CAN = re.compile(r"Device=(\d+) (CAN|CANNOT) Access Peer Device=(\d+)")
_CONNECTIVITY = re.compile(r"\s*P2P Connectivity Matrix")
_BANDWIDTH = re.compile(
    r"\s*(Unidirectional|Bidirectional) P2P=(Enabled|Disabled) Bandwidth .*Matrix"
)
_OTHER = re.compile(r"\s*P2P=\w+ Latency")
_ROW = re.compile(r"\s*(\d{1,2})((?:\s+\d+(?:[.,]\d+)?)+)\s*$")
_ARROW = re.compile(r"\s*GPU(\d+) ?-> ?GPU(\d+)\s*:?\s+(\d+(?:\.\d+)?)\s*(?:GB/s)?\s*$")
_REACHES = "OK"
_DOES_NOT = "NS"  # the word of `topo -p2p` for "not supported": the test does not say why
_LONGEST = 600


def is_p2p_test(text: str) -> bool:
    """Say whether a text holds a part of that program's answer."""
    return any(
        _CAN.match(line)
        or _CONNECTIVITY.match(line)
        or _BANDWIDTH.match(line)
        or _ARROW.match(line)
        for line in text.splitlines()
        if len(line) < _LONGEST
    )


def read_p2p_test(text: str) -> Topology:
    """Return peer access of each pair, and the rates of copies from one GPU to another."""
    lines = [line for line in text.splitlines() if len(line) < _LONGEST]
    able = dict(_said(lines)) | dict(_connected(lines))
    names = sorted({name for pair in able for name in pair}, key=lambda name: int(name[3:]))
    return Topology(
        gpus=tuple(names),
        p2p=tuple(
            Pair(a=a, b=b, word=_REACHES if ok else _DOES_NOT)
            for (a, b), ok in sorted(able.items())
        ),
        rates=tuple(_rates(lines)),
    )


def _said(lines: list[str]) -> Iterator[tuple[tuple[str, str], bool]]:
    for line in lines:
        if (found := _CAN.match(line)) and int(found[1]) < int(found[3]):
            yield (f"GPU{found[1]}", f"GPU{found[3]}"), found[2] == "CAN"


def _connected(lines: list[str]) -> Iterator[tuple[tuple[str, str], bool]]:
    for title, row, cells in _cells(lines):
        if _CONNECTIVITY.match(title):
            for column, cell in enumerate(cells):
                if column > row:
                    yield (f"GPU{row}", f"GPU{column}"), cell == 1


def _rates(lines: list[str]) -> Iterator[PairRate]:
    for title, row, cells in _cells(lines):
        if found := _BANDWIDTH.match(title):
            for column, cell in enumerate(cells):
                if column != row:
                    both, peer = found[1] == "Bidirectional", found[2] == "Enabled"
                    yield PairRate(
                        a=f"GPU{row}", b=f"GPU{column}", gb_s=cell, peer=peer, both_ways=both
                    )
    for line in lines:
        if found := _ARROW.match(line):
            yield PairRate(a=f"GPU{found[1]}", b=f"GPU{found[2]}", gb_s=float(found[3]))


def _cells(lines: list[str]) -> Iterator[tuple[str, int, list[float]]]:
    """Give each row of each matrix, with the title above it."""
    title = ""
    for line in lines:
        if _CONNECTIVITY.match(line) or _BANDWIDTH.match(line) or _OTHER.match(line):
            title = line
        elif title and (found := _ROW.match(line)):
            yield title, int(found[1]), [float(cell.replace(",", ".")) for cell in found[2].split()]
