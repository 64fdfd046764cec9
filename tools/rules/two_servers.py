"""Two model servers that compute on the same GPUs."""

from __future__ import annotations

from tools.nvidia.gpu_ranks import doubled
from tools.nvidia.gpus import Gpus
from tools.rule import Effect, Finding, Outcome, rule

BUSY_PCT = 90.0


@rule(cause="gpu_shared")
def two_servers_on_one_gpu(gpus: Gpus) -> Outcome:
    """Ranks of two servers hold the same GPU, so each gets a part of its time."""
    groups = doubled(gpus)
    if not groups:
        return None
    works = any((sample.util_pct or 0.0) > BUSY_PCT for sample in gpus.samples)
    pids = " and ".join(str(one.pid) for one in groups[0])
    on = f"GPU {groups[0][0].gpu}" + (f" and {len(groups) - 1} more" if len(groups) > 1 else "")
    return Finding(
        statement=(
            f"Two servers share {on} (pids {pids}): a rank has a GPU to itself, so these are of two. Memory for"
            " both does not make time for both: at work each gets about half."
        ),
        confidence=0.85 if works else 0.7,
        slows=frozenset(("decode", "prefill", "throughput", "ttft", "tail")),
        effect=Effect(
            (-60.0, -50.0, -10.0), (-60.0, -50.0, -10.0), "half of the time each, if both work"
        ),
        remedy=("Give each server GPUs of its own: half of them each, if the models fit.",),
        quotes=tuple(f"pid {one.pid} {one.name or ''}" for one in groups[0]),
    )


RULES = (two_servers_on_one_gpu,)
