"""A deployment as a person names it: option by option, None where it is to stay as it is."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TypeVar

from tools.engine import ModelConfig
from tools.errors import Undecided
from tools.knowledge.gpus import Gpu
from tools.knowledge.links import link_data
from tools.physics.checkpoint import Checkpoint
from tools.physics.deployment import HOST_MS, Deployment
from tools.physics.link import ALONE, Link

T = TypeVar("T")

ACCEPTED = 0.65  # of the drafts, where no accept length is told; 2.5 of 3 in code, 1.8 in prose


@dataclass(frozen=True)
class Wanted:
    """What is asked for. `nvlink` is "on", "off" or a kind of links.json ("nvlink3_bridge")."""

    dtype: str | None = None
    kv_dtype: str | None = None
    gpu: Gpu | None = None
    tp: int | None = None
    dp: int | None = None
    dp_attention: bool | None = None
    ep: int | None = None
    all_to_all: bool | None = None
    spec_steps: int | None = None
    draft_tokens: int | None = None
    accept_len: float | None = None
    pcie_gen: int | None = None
    pcie_width: int | None = None
    p2p: bool | None = None
    nvlink: str | None = None
    custom: bool | None = None
    batch: int | None = None
    context: int | None = None
    graph: bool | None = None
    overlap: bool | None = None

    @property
    def asks(self) -> bool:
        """Say whether anything is to change."""
        return any(value is not None for value in vars(self).values())


@dataclass(frozen=True)
class Planned:
    """A deployment, how many copies of it serve side by side, and what was assumed."""

    deployment: Deployment
    replicas: int = 1
    notes: tuple[str, ...] = ()


def planned(wanted: Wanted, now: Deployment, config: ModelConfig | None) -> Planned:
    """Return `now` with what is asked for; raise Undecided with what cannot be, or is not known."""
    notes: list[str] = []
    d = replace(now, gpu=wanted.gpu or now.gpu, graph=_or(wanted.graph, now.graph))
    d = _precision(wanted, d, config)
    d = _split(wanted, d)
    d = _speculation(wanted, d, notes)
    d = replace(d, link=_link(wanted, d) if d.tp > 1 else ALONE)
    d = replace(d, batch=wanted.batch or d.batch, context=_or(wanted.context, d.context))
    replicas = 1
    if (wanted.dp or 1) > 1 and not wanted.dp_attention:
        replicas = min(wanted.dp or 1, d.batch)
        d = replace(d, batch=math.ceil(d.batch / (wanted.dp or 1)))
        notes.append(f"{wanted.dp} copies of the model, {d.batch} sequences on each.")
    notes += _memory(d)
    return Planned(d, replicas, tuple(notes))


def from_nothing(wanted: Wanted, config: ModelConfig) -> Planned:
    """Return a deployment of which nothing was seen: one GPU, SGLang with overlap, batch 1."""
    if wanted.gpu is None:
        raise Undecided("no GPU is named: --gpu NAME")
    checkpoint = Checkpoint.of(config, quantization=_format(wanted.dtype))
    return planned(replace(wanted, dtype=None), Deployment(checkpoint, wanted.gpu), config)


def _format(dtype: str | None) -> str | None:
    return None if dtype in (None, "auto") else dtype


def _precision(wanted: Wanted, d: Deployment, config: ModelConfig | None) -> Deployment:
    if wanted.kv_dtype:
        d = replace(d, kv_scale=0.5 if wanted.kv_dtype.startswith("fp8") else 1.0)
    if _format(wanted.dtype) is None:
        return d
    if config is None:
        raise Undecided("the model's config was not read, so another precision is not known")
    checkpoint = Checkpoint.of(config, quantization=wanted.dtype)
    state = d.checkpoint.state_gb
    return replace(d, checkpoint=replace(checkpoint, state_gb=state), weight_only=None)


def _split(wanted: Wanted, d: Deployment) -> Deployment:
    tp = wanted.tp or d.tp
    groups = (wanted.dp or 1) if wanted.dp_attention else d.attention_dp
    ep = wanted.ep or d.ep
    for name, parts in (("--dp", groups), ("--ep", ep)):
        if parts > 1 and tp % parts:
            raise Undecided(f"{name} {parts} does not divide --tp {tp}")
    if ep > 1 and not d.checkpoint.sparse:
        raise Undecided("--ep splits experts, and this model has none")
    sent = _or(wanted.all_to_all, d.all_to_all)
    return replace(d, tp=tp, attention_dp=groups, ep=ep, all_to_all=sent)


def _speculation(wanted: Wanted, d: Deployment, notes: list[str]) -> Deployment:
    steps = _or(wanted.spec_steps, d.draft_forwards)
    if not steps:
        if (wanted.accept_len or 1.0) != 1.0:
            raise Undecided("an accept length goes with speculation: --spec-steps N")
        host = _host_ms(wanted, d, drafts=False)
        return replace(d, draft_forwards=0, verify_tokens=0, accept_len=1.0, host_ms=host)
    kept = d.verify_tokens if steps == d.draft_forwards else 0
    tokens = wanted.draft_tokens or kept or steps + 1
    most = min(steps + 1, tokens)
    accepted = wanted.accept_len or (d.accept_len if d.draft_forwards else 0.0)
    if not accepted:
        accepted = 1 + ACCEPTED * (most - 1)
        notes.append(f"No accept length is told: {accepted:.1f} of at most {most} is assumed.")
    if not 1 <= accepted <= most:
        raise Undecided(
            f"an accept length of {accepted:g} cannot be: {steps} steps give 1 to {most}"
        )
    c = d.checkpoint
    if not c.draft_b:
        each = c.params_b / c.layers
        c = replace(c, draft_b=each, draft_replicated_b=2 * c.hidden * c.hidden / 1e9)
        notes.append("The config has no draft layer: one like the others is assumed (EAGLE).")
    host = _host_ms(wanted, d, drafts=True)
    return replace(
        d,
        checkpoint=c,
        draft_forwards=steps,
        verify_tokens=tokens,
        accept_len=accepted,
        host_ms=host,
    )


def _host_ms(wanted: Wanted, d: Deployment, *, drafts: bool) -> float:
    """Return the host's part: as it was, unless speculation begins or ends, or overlap is told."""
    if wanted.overlap is None and drafts == bool(d.draft_forwards):
        return d.host_ms
    overlap = wanted.overlap is not False
    if drafts:
        return HOST_MS["spec_v2" if overlap else "spec_v1"]
    return HOST_MS["overlap" if overlap else "no_overlap"]


def _link(wanted: Wanted, d: Deployment) -> Link:
    custom = _or(wanted.custom, d.link.custom)
    pcie = wanted.pcie_gen or wanted.pcie_width or wanted.p2p is not None
    known = d.link is not ALONE and wanted.gpu is None
    if wanted.nvlink in (None, "on") and not (pcie and wanted.nvlink is None):
        if known and wanted.nvlink is None:
            return replace(d.link, custom=custom and d.link.p2p)
        card = d.gpu.nvlink
        if card and (wanted.nvlink or card.kind != "bridge"):
            return Link.nv(card.both_ways_gb_s / 2, custom=custom)
        if wanted.nvlink:
            raise Undecided(f"{d.gpu.name} has no NVLink")
    if wanted.nvlink not in (None, "on", "off"):
        if wanted.nvlink not in link_data()["nvlink_gb_s"]:
            kinds = ", ".join(link_data()["nvlink_gb_s"])
            raise Undecided(f"--nvlink takes on, off or one of {kinds}")
        return Link.nv_kind(wanted.nvlink, custom=custom)
    was = d.link.pcie_form if known else None
    gen = wanted.pcie_gen or (was[0] if was else min(d.gpu.pcie_gen, 5))
    width = wanted.pcie_width or (was[1] if was else d.gpu.pcie_width)
    peer = _or(wanted.p2p, d.link.p2p if was else d.gpu.pcie_p2p)
    return Link.pcie(gen, width, p2p=peer, custom=custom)


def _memory(d: Deployment) -> list[str]:
    """Say where the weights alone are more than the cards hold."""
    c = d.checkpoint
    each = c.weights_gb / d.tp
    if each <= d.gpu.mem_gb * 0.97:
        return []
    return [f"It does not fit: the weights are {each:.0f} GB a GPU, and {d.gpu.name} has"
            f" {d.gpu.mem_gb:.0f}."]  # fmt: skip


def _or(told: T | None, now: T) -> T:
    return now if told is None else told
