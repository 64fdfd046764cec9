"""Rows of tools/knowledge/calibration.json as deployments."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tools.knowledge.calibration import calibration
from tools.knowledge.gpus import all_gpus
from tools.physics import Checkpoint, Deployment, Link

GPUS = {gpu.name: gpu for gpu in all_gpus()}
ALONE = Link(1e9)
Row = dict[str, Any]


def link_of(told: Row | None) -> Link:
    if told is None:
        return ALONE
    if told["kind"] == "pcie":
        custom = told["custom_all_reduce"]
        return Link.pcie(told["gen"], told["width"], p2p=told["p2p"], custom=custom)
    return Link.nv_kind(told["kind"], custom=told["custom_all_reduce"])


def deployment_of(row: Row) -> Deployment:
    checkpoint = Checkpoint(**calibration()["models"][row["model"]])
    where = row.get("hardware", row)
    return Deployment(
        checkpoint=replace(checkpoint, weight_bytes=row["weight_bytes"]),
        gpu=GPUS[where["gpu"]],
        tp=where["tp"],
        link=link_of(where.get("link")),
        **row.get("run", {}),
    )
