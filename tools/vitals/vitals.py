"""The vitals of a server at one moment: its figures, what ran, and the counters that should not move."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import cached_property
from typing import Self

from pydantic import BaseModel, ConfigDict

from tools.deployment import Deployment
from tools.engine import Launch, Metrics, ServerLog
from tools.engine.traffic import ENOUGH, Traffic
from tools.knowledge.links import pcie_gb_s
from tools.known import Known
from tools.linux.kernel import KernelLog
from tools.nvidia.gpus import Gpus, GpuSample
from tools.physics.measured import cold_prefill_rates
from tools.vitals.figures import FigureName

# Arguments that say nothing of speed, and differ between starts of one server.
_NO_SETTING = frozenset({
    "random_seed", "port", "host", "nccl_port", "dist_init_addr", "log_level", "log_level_http",
    "api_key", "admin_api_key", "served_model_name", "watchdog_timeout", "log_requests",
})  # fmt: skip


class Reading(BaseModel):
    """One value, and under which load it was read: values of different loads are not compared."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    value: float
    load: str = ""


class Setting(BaseModel):
    """What ran. Equal settings share what is normal; another one begins anew."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    engine: str | None = None
    version: str | None = None
    model: str | None = None
    gpus: tuple[str, ...] = ()
    arguments: dict[str, str] = {}

    @cached_property
    def key(self) -> str:
        """Return a short name of it, equal while everything in it is equal."""
        whole = json.dumps(self.model_dump(mode="json"), sort_keys=True)
        return hashlib.sha256(whole.encode()).hexdigest()[:12]

    def changed_from(self, before: Setting) -> tuple[str, ...]:
        """Say what is another than before: "SGLang 0.5.11 -> 0.5.12", "max_running_requests 8 -> 2"."""
        pairs = [
            (name, getattr(before, name), getattr(self, name))
            for name in ("engine", "version", "model")
        ]
        pairs.append(("GPUs", ", ".join(before.gpus), ", ".join(self.gpus)))
        names = dict.fromkeys((*before.arguments, *self.arguments))
        pairs += [(name, before.arguments.get(name), self.arguments.get(name)) for name in names]
        return tuple(
            f"{name} {old or 'not set'} → {new or 'not set'}"
            for name, old, new in pairs
            if old != new
        )


class Vitals(BaseModel):
    """All that is kept of one look, besides the verdict.

    `links` are told per GPU ("Gen1 x16"), of GPUs at work alone; `counters` only ever grow while
    nothing is reset: their growth between two looks is what counts.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    setting: Setting = Setting()
    figures: dict[FigureName, Reading] = {}
    links: tuple[str, ...] = ()
    counters: dict[str, int] = {}

    @classmethod
    def of(cls, known: Known) -> Self:
        """Draw them from what was learned of a host; what was not seen is left out."""
        return cls(
            setting=_setting(known),
            figures={**_of_log(known), **_of_metrics(known), **_of_gpus(known)},
            links=tuple(filter(None, map(_slowest, _at_work(known)))),
            counters=_counters(known),
        )


def _setting(known: Known) -> Setting:
    told, started = Deployment.of(known), known.get(Launch)
    asked = (started.flags if started else None) or {}
    return Setting(
        engine=told.engine,
        version=told.version,
        model=told.model,
        gpus=told.gpus,
        arguments={
            name: str(value) for name, value in sorted(asked.items()) if name not in _NO_SETTING
        },
    )


def _of_log(known: Known) -> dict[FigureName, Reading]:
    log, found = known.get(ServerLog), dict[FigureName, Reading]()
    if log is None:
        return found
    traffic = Traffic(log)
    running = traffic.usual_running
    rates = sorted(line.tok_s or 0.0 for line in traffic.at(running))
    if len(rates) >= ENOUGH:
        found["decode"] = Reading(value=rates[len(rates) // 2], load=f"{running} running")
    if accepted := traffic.accept_len:
        found["accept"] = Reading(value=accepted)
    if len(cold := sorted(cold_prefill_rates(log))) >= ENOUGH:
        found["prefill"] = Reading(value=cold[len(cold) // 2])
    if traffic.decode:
        found["queued"] = Reading(value=traffic.queued_pct)
    cached = sum(line.cached_tokens or 0 for line in log.prefill)
    whole = cached + sum(line.new_tokens or 0 for line in log.prefill)
    if whole and len(log.prefill) >= ENOUGH:
        found["cached"] = Reading(value=100 * cached / whole)
    return found


def _of_metrics(known: Known) -> dict[FigureName, Reading]:
    metrics = known.get(Metrics)
    if metrics is None:
        return {}
    told = metrics.quantiles_s.get("time_to_first_token_seconds p50")
    return {"ttft": Reading(value=told * 1e3)} if told else {}


def _of_gpus(known: Known) -> dict[FigureName, Reading]:
    found = dict[FigureName, Reading]()
    working = [one for group in _at_work(known) for one in group]
    if clocks := [one.sm_mhz for one in working if one.sm_mhz]:
        found["clock"] = Reading(value=min(clocks))
    links = [(one.link_gen, one.link_width) for one in working if one.link_gen and one.link_width]
    if rates := [rate for gen, width in links if (rate := pcie_gb_s(gen, width))]:
        found["link"] = Reading(value=min(rates))
    return found


def _at_work(known: Known) -> list[tuple[GpuSample, ...]]:
    gpus = known.get(Gpus)
    return list(gpus.working().values()) if gpus else []


def _slowest(group: Sequence[GpuSample]) -> str:
    """Write the slowest link that a GPU at work had: "Gen1 x16"; empty where none was told."""
    told = [(one.link_gen, one.link_width) for one in group if one.link_gen and one.link_width]
    gen, width = min(told, key=lambda link: pcie_gb_s(*link) or 0.0, default=(None, None))
    return f"Gen{gen} x{width}" if gen else ""


def _counters(known: Known) -> dict[str, int]:
    kernel, gpus = known.get(KernelLog), known.get(Gpus)
    counters: dict[str, int] = {}
    if kernel:
        counters |= {
            "Xid errors": len(kernel.xids),
            "PCIe AER reports": len(kernel.aer),
            "processes killed for memory": kernel.oom_kills,
        }
    for name, field in (
        ("PCIe replays", "replays"),
        ("uncorrected ECC errors", "ecc_uncorrected_life"),
    ):
        told = [
            max(
                (getattr(one, field) for one in group if getattr(one, field) is not None),
                default=None,
            )
            for group in (gpus.by_gpu().values() if gpus else ())
        ]
        if any(value is not None for value in told):
            counters[name] = sum(value or 0 for value in told)
    return counters
