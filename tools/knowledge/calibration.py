"""Decode steps and prefill rates that others published, by which the physics is judged.

The rows lie beside this file in calibration.json, each with its source. The table `decode` is
mostly in-sample: constants were tuned on it; `out_of_sample` was computed with nothing tuned.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from tools.knowledge.gpus import all_gpus


@cache
def calibration() -> dict[str, Any]:
    """Return calibration.json: `models`, and the tables `decode`, `out_of_sample`, `prefill`."""
    loaded: dict[str, Any] = json.loads(
        (files(__package__) / "calibration.json").read_text(encoding="utf-8")
    )
    return loaded


@cache
def calibrated_classes() -> frozenset[str]:
    """Return the compute capabilities ("8.6") of which a decode row measured some product."""
    rows = calibration()["decode"] + calibration()["out_of_sample"]
    measured = {row["hardware"]["gpu"] for row in rows}
    return frozenset(gpu.sm for gpu in all_gpus() if gpu.name in measured)
