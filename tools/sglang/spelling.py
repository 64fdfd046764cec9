"""Flags of remedies as the version at hand spells them; some were renamed at 0.5.14 and 0.5.20."""

from __future__ import annotations

from tools.engine import Arguments


def max_graph_flag(args: Arguments, size: int) -> str:
    """Return the flag for the largest decode graph, or both spellings if the version is unknown."""
    if args.engine == "vllm":
        return f"--max-cudagraph-capture-size {size}"
    if args.version is None:
        return (
            f"--cuda-graph-max-bs {size} (from 0.5.14 on --cuda-graph-max-bs-decode {size};"
            " 0.5.20 knows the second only)"
        )
    return f"--cuda-graph-max-bs{'-decode' if args.version >= (0, 5, 14) else ''} {size}"


def mamba_strategy_flag(args: Arguments, strategy: str = "extra_buffer") -> str:
    """Return the flag that says how hybrid models keep states for the prefix cache."""
    old, new = "--mamba-scheduler-strategy", "--mamba-radix-cache-strategy"
    if args.version is None:
        return f"{new} {strategy} (before 0.5.14: {old})"
    return f"{new if args.version >= (0, 5, 14) else old} {strategy}"
