"""Rates of links in GB/s (1e9 bytes) per direction; sources and measured pairs: links.json."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def link_data() -> dict[str, Any]:
    """Return links.json: raw rates, what copies reach of them, pairs measured on one box."""
    loaded: dict[str, Any] = json.loads(
        (files(__package__) / "links.json").read_text(encoding="utf-8")
    )
    return loaded


def pcie_gb_s(gen: int, width: int) -> float | None:
    """Return the raw rate of a PCIe link per direction; None for an unknown generation."""
    lane = link_data()["pcie_lane_gb_s"].get(str(gen))
    return None if lane is None else float(lane) * width


def nvlink_gb_s(kind: str) -> float:
    """Return the raw rate of an NVLink kind of links.json ("nvlink3_bridge", "nvlink4")."""
    return float(link_data()["nvlink_gb_s"][kind])
