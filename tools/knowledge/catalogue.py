"""The catalogue of causes, the Xid table and the clock-event reason bits, as typed data.

The data lies beside this file in causes.yaml; each entry names its sources.
"""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict

Category = Literal[
    "hardware", "config", "software_bug", "workload", "at_ceiling", "no_fault", "inconclusive"
]

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_STOPS = re.compile(r"crash|dead|down|hang|(?:server )?does not start|start fails|next restart")
# Words of ids as people write them; others are written as they are.
_CAPITALS = frozenset({
    "acs", "aspm", "bar1", "cc", "cpu", "cuda", "dp", "ec", "ecc", "gpu", "gsp", "http", "ib", "iommu",
    "kv", "mig", "mps", "nccl", "numa", "p2p", "psu", "rdma", "sbe", "thp", "tp", "vm",
})  # fmt: skip
_SPELLED = {
    "pcie": "PCIe", "nvlink": "NVLink", "xid": "Xid", "gen": "Gen", "vgpu": "vGPU", "moe": "MoE",
    "hw": "hardware", "sw": "software", "shm": "shared memory", "comm": "communication", "bs": "batch size",
    "spec": "speculative decoding", "params": "parameters", "lib": "library",
}  # fmt: skip
_AS_VERDICT: dict[str, Category] = {"software": "software_bug", "ceiling": "at_ceiling"}


def in_words(name: str) -> str:
    """Write the id of a cause as words: "pcie_gen_low_under_load" is "PCIe Gen low under load"."""
    return " ".join(
        _SPELLED.get(word) or (word.upper() if word in _CAPITALS else word)
        for word in name.split("_")
    )


class Restart(BaseModel):
    """What of a remedy a restart with other flags or variables does, by the engine's names.

    A flag whose value is None takes the figure that the finding's own remedy gives it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    set: dict[str, bool | int | float | str | None] = {}
    unset: tuple[str, ...] = ()
    env: dict[str, str] = {}
    unset_env: tuple[str, ...] = ()


class Cause(BaseModel):
    """One way in which serving becomes slow, or seems to."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    category: Category
    layer: str
    severity: Literal["critical", "major", "moderate", "minor", "info", "benign"]
    symptoms: tuple[str, ...]
    decisive_check: str
    remedy: tuple[str, ...]
    change: Restart | None = None
    risk: str
    verify: str
    sources: tuple[str, ...]
    stops: bool  # it keeps the server from running at all, rather than slowing it


class Xid(BaseModel):
    """One error number of the NVIDIA driver."""

    model_config = ConfigDict(frozen=True)

    meaning: str
    severity: str
    action: str


def _cause(entry: dict[str, Any]) -> Cause:
    category = (
        "no_fault"
        if entry["severity"] == "benign"
        else _AS_VERDICT.get(entry["category"], entry["category"])
    )
    stops = bool(_STOPS.match(str(entry["effect"]["decode"])))
    told = {"category": category, "sources": entry["evidence"], "stops": stops}
    return Cause.model_validate(entry | told)


_DATA = yaml.load((files(__package__) / "causes.yaml").read_text(encoding="utf-8"), Loader=_LOADER)  # noqa: S506 - a safe loader, in C where there is one

CAUSES: dict[str, Cause] = {entry["id"]: _cause(entry) for entry in _DATA["pathologies"]}
XIDS: dict[int, Xid] = {int(code): Xid(**entry) for code, entry in _DATA["xid"].items()}
REASON_BITS: dict[int, str] = {
    int(bit, 16): name.split(" ")[0] for bit, name in _DATA["clocks_event_reason_bits"].items()
}
