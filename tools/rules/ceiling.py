"""At the ceiling: memory bandwidth for decode, arithmetic for prefill."""

from __future__ import annotations

import re
from typing import Any, cast

from tools.engine import Arguments, Launch, ModelConfig, ServerInfo, ServerLog
from tools.errors import Undecided
from tools.nvidia.gpus import Gpus
from tools.nvidia.topology import Topology
from tools.physics.bounds import Bounds
from tools.physics.headroom import MEMORY_TERMS, Headroom, work_out
from tools.physics.seen import Seen
from tools.probe import Facts
from tools.rule import Cleared, Finding, Outcome, rule

NEAR_PCT = 88.0  # of the model's rate; the catalogue says step <= 1.10 x the model's
FULL_PCT = 102.0  # beyond, the model's error is what is left
MEMORY_SHARE = 0.75  # of the step that must be reading
WEIGHTS_ALONE = 0.65  # reached of the share of reading kernels, with the weights alone counted
PREFILL_NEAR = 0.85
BUSY, IDLE_MEMORY, AT_LIMIT, LOOKS = 97.0, 40.0, 0.95, 3
# Names of mixtures of experts: one token reads a part of the weights only.
_SPARSE = re.compile(
    r"moe|mixtral|deepseek|kimi|glm-?[456]|gpt-?oss|minimax|-a\d+b|\d+x\d+b|llama-?4", re.I
)


@rule(cause="memory_roofline")
def memory_is_the_limit(
    log: ServerLog,
    gpus: Gpus,
    config: ModelConfig | None,
    launch: Launch | None,
    info: ServerInfo | None,
    topology: Topology | None,
) -> Outcome:
    """Decode is as fast as the memory of these GPUs lets it be."""
    args = Arguments(launch, info, log)
    if config is None:
        return _by_weights(log, gpus, args)
    room = work_out(Seen(config, gpus, launch, info, log, topology))
    memory = sum(ms.mid for name, ms in room.terms if name in MEMORY_TERMS) / room.step_ms
    if room.share_pct < NEAR_PCT:
        return Cleared(f"decode reaches {room.share_pct:.0f} % of what the model gives", (log,))
    if memory < MEMORY_SHARE:
        return Cleared(f"reading memory is {memory:.0%} of the step only", (log,))
    reached = (
        f"{room.share_pct:.0f} % of the {room.ceiling_tok_s.mid:.0f}"
        if room.share_pct <= FULL_PCT
        else f"all and more of the {room.ceiling_tok_s.mid:.0f} ({room.ceiling_tok_s.lo:.0f} to"
        f" {room.ceiling_tok_s.hi:.0f})"
    )
    return _at_the_ceiling(
        f"Decode gives {room.measured_tok_s:.0f} tok/s, {reached} tok/s that this model can reach"
        f" here; {'nearly all' if memory > 0.95 else f'{memory:.0%}'} of each step is reading"
        " memory.",
        0.85,
        (log, gpus, config),
    )


@rule(cause="compute_roofline_prefill")
def arithmetic_limits_prefill(
    log: ServerLog,
    gpus: Gpus,
    config: ModelConfig,
    launch: Launch | None,
    info: ServerInfo | None,
    topology: Topology | None,
) -> Outcome:
    """Cold prompts are read as fast as the arithmetic of these GPUs allows."""
    room: Headroom = work_out(Seen(config, gpus, launch, info, log, topology))
    rate, ceiling = room.prefill_tok_s, room.prefill_ceiling
    if rate is None or ceiling is None:
        raise Undecided(
            "no cold prompt of several chunks was seen",
            settle="send one cold prompt of 8k to 10k tokens and read the Prefill lines",
            suspicion=0.05,
        )
    if rate < PREFILL_NEAR * ceiling.mid:
        return Cleared(f"cold prompts reach {rate / ceiling.mid:.0%} of what is possible", (log,))
    return Finding(
        f"A cold prompt is read at {rate:.0f} tok/s; {ceiling.mid:.0f} is what these GPUs can do.",
        confidence=0.7,
        slows=frozenset({"prefill", "ttft"}),
    )


@rule(cause="compute_roofline_prefill")
def arithmetic_is_busy(gpus: Gpus, log: ServerLog | None) -> Outcome:
    """The GPU computes all the time, hardly reads memory and is at its normal power limit."""
    looks = [s for s in gpus.busy() if s.util_pct is not None and s.mem_util_pct is not None]
    if log and log.decode:
        return Cleared("the load is decode, whose step is judged apart")
    if len(looks) < LOOKS:
        raise Undecided("too few looks under load tell both utilisations", suspicion=0.02)
    if not all((s.util_pct or 0) >= BUSY and (s.mem_util_pct or 100) <= IDLE_MEMORY for s in looks):
        return Cleared("memory is read as well, or the GPU waits", (gpus,))
    told = [s for s in looks if s.power_w and s.power_limit_w]
    capped = [s for s in told if s.power_default_w and (s.power_limit_w or 0) < s.power_default_w]
    full = [s for s in told if (s.power_w or 0) >= AT_LIMIT * (s.power_limit_w or 1)]
    slowed = {r for s in looks for r in s.reasons or ()} - {"sw_power_cap"}
    if capped or slowed or len(full) < len(looks):
        return Cleared("the GPU is slowed down, or not at its power limit", (gpus,))
    memory = max(s.mem_util_pct or 0 for s in looks)
    return Finding(
        f"The GPU is busy to {BUSY:.0f} % or more, its memory to {memory:.0f} % only, and it draws"
        " its full power: arithmetic is the limit. Weight-only formats save bytes and not"
        " operations.",
        confidence=0.55,
        slows=frozenset({"prefill", "throughput"}),
    )


def _by_weights(log: ServerLog, gpus: Gpus, args: Arguments) -> Outcome:
    """Judge a dense model without its config: a step must read all weights once."""
    bounds = Bounds.of(log, gpus)
    if bounds is None or bounds.gpu is None or bounds.weights_ms is None:
        raise Undecided("step, GPU or size of the weights is not known", suspicion=0.02)
    if args.speculative or any(line.accept_len for line in log.decode):
        raise Undecided("with drafts the model's config is needed for the bytes of a step")
    named = f"{args.value('model_path') or ''} {log.model_type or ''}"
    if not named.strip() or _SPARSE.search(named):
        raise Undecided("whether one token reads all weights is not known without the config")
    share = bounds.weights_ms / bounds.step_ms
    if share < WEIGHTS_ALONE * bounds.gpu.decode_fraction:
        return Cleared(f"reading the weights takes {share:.0%} of a step only", (log, gpus))
    return _at_the_ceiling(
        f"A step of {bounds.step_ms:.1f} ms reads all weights once, which takes"
        f" {bounds.weights_ms:.1f} ms at the full bandwidth of this GPU"
        f" ({bounds.gpu.bandwidth_gb_s:.0f} GB/s): {share:.0%}, and about"
        f" {bounds.gpu.decode_fraction:.0%} is what decode reaches at all.",
        0.7,
        (log, gpus),
    )


def _at_the_ceiling(statement: str, confidence: float, shown: tuple[Any, ...]) -> Finding:
    return Finding(
        statement,
        shown_by=cast("tuple[Facts, ...]", shown),
        confidence=confidence,
        slows=frozenset({"decode", "throughput"}),
        remedy=(
            "Fewer bytes for each token: a smaller format of weights, a model with fewer active"
            " ones.",
            "Better drafts, or more requests at once if the total counts.",
        ),
        risk="Quality, to be judged by you.",
    )


RULES = (memory_is_the_limit, arithmetic_limits_prefill, arithmetic_is_busy)
