"""Which of the engine's own rules switch prefill graphs off for the deployment at hand."""

from __future__ import annotations

from collections.abc import Callable

from tools.engine import Arguments, ModelConfig, SourceLines
from tools.sglang.overrides import Override, override_of

FIELD = "disable_piecewise_cuda_graph"
Holds = Callable[[Arguments, ModelConfig | None], bool]

# By the conditions of tools/sglang/overrides.py; what is not here cannot be told from facts.
_HOLDS: dict[str, Holds] = {
    "the model is multimodal": lambda _, config: bool(config and config.multimodal),
    "speculative decoding": lambda args, _: bool(args.speculative),
    "data-parallel attention": lambda args, _: args.on("enable_dp_attention"),
    "torch.compile": lambda args, _: args.on("enable_torch_compile"),
    "pipeline parallelism": lambda args, _: (args.count("pp_size") or 1) > 1,
    "LoRA": lambda args, _: args.on("enable_lora"),
    "CPU offload or hierarchical cache": lambda args, _: (
        bool(args.number("cpu_offload_gb")) or args.on("enable_hierarchical_cache")
    ),
    "deterministic inference": lambda args, _: args.on("enable_deterministic_inference"),
    "symmetric memory": lambda args, _: args.on("enable_symm_mem"),
    "debug mode of CUDA graphs": lambda args, _: args.on("debug_cuda_graph"),
}


def rules_that_fire(args: Arguments, config: ModelConfig | None) -> tuple[Override, ...]:
    """Return the rules whose condition holds, in the order of the source; none for other versions."""
    if args.version is None:
        return ()
    known = override_of(FIELD, ".".join(map(str, args.version)))
    return tuple(one for one in known if _HOLDS.get(one.condition, _never)(args, config))


def told(args: Arguments, config: ModelConfig | None, lines: SourceLines | None) -> str:
    """Say which rule wrote the field and where, checked against the installed source if it was read."""
    fired = rules_that_fire(args, config)
    version = ".".join(map(str, args.version or ()))
    if not fired:
        return _writes(lines)
    where = [f"{one.where(version)} ({one.condition})" for one in fired]
    seen = {f"{line.path}:{line.line}" for line in lines.found} if lines else set()
    checked = all(str(one.where(version)) in seen for one in fired)
    proof = ", and the installed source has those lines" if checked else f" of {version}"
    return f" The rule is at {' and '.join(where)}{proof}."


def _never(_args: Arguments, _config: ModelConfig | None) -> bool:
    return False


def _writes(lines: SourceLines | None) -> str:
    """Name the source lines that write the field, where the rule itself is not known."""
    found = [
        f"{one.path}:{one.line}"
        for one in (lines.found if lines else ())
        if f"{FIELD} = True" in one.text
    ]
    if not found:
        return ""
    more = " and more" if len(found) > 3 else ""
    return f" The installed source writes it at {', '.join(found[:3])}{more}."
