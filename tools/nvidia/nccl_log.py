"""NCCL's own lines (NCCL_DEBUG=INFO or WARN), wherever they stand: a log of their own or a serve log.

Spellings of NCCL 2.4 to 2.28: "Ring 00 : 0 -> 1 via P2P/direct pointer" became "Channel 00/0 : 0[0]
-> 1[1] via P2P/CUMEM"; "speed" of a pattern became "bw"; shared memory is "direct shared memory",
then "SHM/direct/direct".
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from tools.nvidia.nccl import NcclLog

_MARK = re.compile(r"NCCL (INFO|WARN|ERROR) (.*)")
_VERSION = re.compile(r"NCCL version (\d+\.\d+[\w.+-]{0,40})")
_VIA = re.compile(
    r"(?:Channel|Ring|Tree|Coll) .{0,80}? via (\S.{0,60}?)(?: comm .{0,80})?(?: nRanks .{0,40})?\s*$"
)
_NETWORK = re.compile(r"Using network (\S{1,40})")
_INTERFACE = re.compile(r"(?:NET/\w+|Bootstrap) ?: Using (?:\[\d+\])?([\w.-]{1,40})")
_ENV = re.compile(r"(NCCL_[A-Z0-9_]{1,60}) set by environment to (.{1,200}?)\.?\s*$")
_PATTERN = re.compile(r"Pattern \d+, crossNic \d+, nChannels (\d+), (?:bw|speed) ([\d.]+)/[\d.]+")
_CHANNELS = re.compile(r"(\d+) coll channels")
_NVLS = re.compile(r"\d+ coll channels, (?:\d+ collnet channels, )?(\d+) nvls channels")
_REFUSED = re.compile(r"GPU Direct RDMA Disabled for HCA \d+ '([\w.-]{1,40})'")
_RECEIVED = re.compile(r"([\w.-]{1,80}):\d{1,9}:\d{1,9} .{0,120}\[receive\] via NET/IB/(\S{1,60})")
_RANKS = re.compile(r"\bn[Rr]anks (\d+)")
_MOST = 20
_LONGEST = 1000


def is_nccl_log(text: str) -> bool:
    """Say whether a text holds NCCL's lines."""
    return "NCCL INFO" in text or "NCCL WARN" in text or "NCCL ERROR" in text


def read_nccl_log(text: str) -> NcclLog:
    """Return what NCCL chose: network, transports, channels; and what it complained of."""
    said = [
        found.groups()
        for line in text.splitlines()
        if "NCCL " in line and (found := _MARK.search(line[:_LONGEST]))
    ]
    info = [line for kind, line in said if kind == "INFO"]
    paths = Counter(_transport(found[1]) for line in info if (found := _VIA.match(line)))
    errors = dict.fromkeys(line.strip()[:300] for kind, line in said if kind != "INFO")
    found_bandwidth = _graph(info)
    return NcclLog(
        version=_find(_VERSION, info) or _find(_VERSION, text[:200_000].splitlines()),
        network=_network(info),
        interface=_interface(info),
        paths=dict(paths),
        ibverbs_missing=True if any("Failed to open libibverbs" in line for line in info) else None,
        env={found[1]: found[2] for line in info if (found := _ENV.match(line))},
        errors=tuple(errors)[:_MOST],
        ranks=_number(_find(_RANKS, info)),
        ready=True if any("Init COMPLETE" in line for line in info) else None,
        without_gdr=_without_gdr(text),
        gdr=any("GDRDMA" in line for line in info)
        if any("via NET/" in line for line in info)
        else None,
        gdr_refused=tuple(
            dict.fromkeys(found[1] for line in info if (found := _REFUSED.search(line)))
        )[:_MOST],
        nvls_channels=_number(_find(_NVLS, info)),
        **found_bandwidth,
    )


def _without_gdr(text: str) -> tuple[str, ...]:
    """Return the machines that receive past their GPUs' memory while another one does not.

    Sending is no sign: NCCL reads GPU memory by RDMA only from some generations on.
    """
    sides: dict[str, bool] = {}
    for line in text.splitlines():
        if "[receive] via" in line and (found := _RECEIVED.search(line[:_LONGEST])):
            sides[found[1]] = sides.get(found[1], False) or "GDRDMA" in found[2]
    return (
        tuple(name for name, used in sides.items() if not used)[:_MOST]
        if any(sides.values())
        else ()
    )


def _find(pattern: re.Pattern[str], lines: list[str]) -> str | None:
    return next((found[1] for line in lines if (found := pattern.search(line[:_LONGEST]))), None)


def _number(said: str | None) -> int | None:
    return int(said) if said else None


def _transport(said: str) -> str:
    """Name the transport by its family: "P2P/CUMEM/read" and "SHM/direct/direct" without their ends."""
    if "shared memory" in said:
        return "SHM"
    words = re.split(r"[/(]", said.strip())
    return words[0] if words[0] == "SHM" or len(words) == 1 else f"{words[0]}/{words[1]}".strip()


def _network(info: list[str]) -> str | None:
    """Return the network that is used; where NCCL does not say so, the one it found."""
    if named := _find(_NETWORK, info):
        return named
    for kind in ("IB", "Socket"):
        if any(re.match(rf"NET/{kind} ?: Using", line) for line in info):
            return kind
    return None


def _interface(info: list[str]) -> str | None:
    used = [line for line in info if line.startswith("NET/")]
    return _find(_INTERFACE, used) or _find(_INTERFACE, info)


def _graph(info: list[str]) -> dict[str, Any]:
    """Return the lowest bandwidth that the graph search settled on, with its channels.

    A pattern with no channels is one that the system cannot do (NVLS), and tells nothing.
    """
    patterns = [
        (float(p[2]), int(p[1])) for line in info if (p := _PATTERN.match(line)) and int(p[1])
    ]
    channels = _number(_find(_CHANNELS, info))
    if not patterns:
        return {"graph_channels": channels}
    bandwidth, of_pattern = min(patterns)
    return {"graph_bw_gb_s": bandwidth, "graph_channels": channels or of_pattern}
