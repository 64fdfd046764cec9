"""Decode steps and prefill rates that others published, by which the physics is judged.

The rows lie beside this file in calibration.json, each with its source. Constants were tuned on
the table `decode`; nothing was tuned on `out_of_sample` and `checked`, which came afterwards, and
on `reads`, which says what the memory of some cards gives where it is only read. The widths of
intervals alone heed `checked` too. A row that is missed by more than 20 % has a reason, `missed`.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def calibration() -> dict[str, Any]:
    """Return calibration.json: `models`, `decode`, `out_of_sample`, `checked`, `reads`, `prefill`."""
    loaded: dict[str, Any] = json.loads(
        (files(__package__) / "calibration.json").read_text(encoding="utf-8")
    )
    return loaded


@cache
def half_widths() -> dict[str, float]:
    """Return by compute capability ("8.6") how far a step may be off, as a share, where rows tell."""
    return dict(calibration()["half_width"])
