"""Memory channels without a module, where weights are read from the host's memory."""

from __future__ import annotations

from tools.engine import Arguments, Benchmark, Launch, ServerInfo, ServerLog
from tools.errors import Undecided
from tools.linux.machine import Machine
from tools.rule import Cleared, Effect, Finding, Outcome, rule

# Arguments by which weights or experts lie in host memory (SGLang 0.5.x server_args.py, vLLM 0.18 arg_utils.py).
_OFFLOADS = ("kt_weight_path", "kt_num_gpu_experts", "cpu_offload_gb", "offload_group_size")
OF_PEAK = 0.8  # of what the fitted modules move at most: STREAM reaches that on current servers
_SETTLE = "STREAM Triad on all cores, against the same board with every channel fitted"


@rule(cause="memory_channels_unused")
def a_channel_has_no_module(
    machine: Machine,
    launch: Launch | None,
    log: ServerLog | None,
    info: ServerInfo | None,
    benchmark: Benchmark | None,
) -> Outcome:
    """A memory channel has no module, and weights are read from the host's memory."""
    if machine.dimms is None:
        return None
    if not machine.channels_empty:
        return Cleared("every memory channel that the board names has a module", (machine,))
    args = Arguments(launch, info, log)
    offloads = [name for name in _OFFLOADS if args.value(name)]
    if not offloads:
        return Cleared("no weights are read from the host's memory")
    empty = ", ".join(machine.channels_empty[:4])
    triad = benchmark.stream_triad_gb_s if benchmark else None
    peak = machine.dimm_gb_s
    said = f"memory channel {empty} has no module, and {offloads[0]} keeps weights in host memory"
    if triad is None:
        raise Undecided(
            f"{said}; what the memory reaches was not measured", settle=_SETTLE, suspicion=0.4
        )
    if peak and triad > peak:
        return Cleared(f"the memory moves {triad:.0f} GB/s, more than that list of modules could")
    missing = len(machine.channels_empty)
    lost = -100.0 * missing / (machine.dimms + missing)
    return Finding(
        statement=(
            f"{said[0].upper()}{said[1:]}: STREAM moves {triad:.0f} GB/s. Every token reads its experts at"
            " that rate; an empty channel also makes the others interleave more coarsely."
        ),
        confidence=0.75,
        slows=frozenset({"decode", "prefill", "throughput"}),
        effect=Effect(
            (3 * lost, 2 * lost, lost),
            (2 * lost, lost, 0.0),
            "the channels that are missing; coarse",
        ),
        quotes=(f"{empty}: No Module Installed", f"STREAM Triad {triad:g} GB/s"),
    )


RULES = (a_channel_has_no_module,)
