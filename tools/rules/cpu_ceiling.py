"""Decode on processors instead of GPUs: as fast as the host's memory."""

from __future__ import annotations

import re
from statistics import median

from tools.engine import Arguments, Benchmark, Launch, ServerInfo, ServerLog, Traffic
from tools.engine.traffic import step_ms
from tools.errors import Undecided
from tools.rule import Cleared, Finding, Outcome, rule

NEAR = 0.6  # of the step that reading all weights must take
WEIGHT_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2, "half": 2, "float": 4}
_SIZE = re.compile(r"(?<![A-Za-z0-9.])(\d{1,3}(?:\.\d)?)B(?![A-Za-z0-9])", re.IGNORECASE)
_SPARSE = re.compile(r"moe|mixtral|-a\d+b|\d+x\d+b|gpt-?oss|deepseek", re.IGNORECASE)
SETTLE = "STREAM on the same processors, and du -sh of the weights"


@rule(cause="memory_roofline")
def host_memory_is_the_limit(
    log: ServerLog, benchmark: Benchmark | None, launch: Launch | None, info: ServerInfo | None
) -> Outcome:
    """Decode on processors is as fast as the host's memory lets it be."""
    args = Arguments(launch, info, log)
    if "cpu" not in (args.text("device"), args.text("device_config")):
        return Cleared("the server does not run on processors", (log,))
    steps = [ms for line in Traffic(log).at(1) if (ms := step_ms(line)) is not None]
    if not steps:
        raise Undecided("no steady line of a single request was seen", suspicion=0.05)
    size = _weights_gb(log, args)
    rate = benchmark.stream_triad_gb_s if benchmark else None
    if size is None or rate is None:
        raise Undecided(
            "the size of the weights or the bandwidth of the host's memory is not known",
            settle=SETTLE,
            suspicion=0.3,
        )
    step = median(steps)
    reading = size / rate * 1e3
    share = reading / step
    if share < NEAR:
        return Cleared(f"reading the weights takes {share:.0%} of a step only", (log,))
    return Finding(
        f"Every token reads about {size:.0f} GB of weights; at the {rate:.0f} GB/s that STREAM"
        f" measures this takes {reading:.0f} ms, and a step takes {step:.0f} ms ({share:.0%}):"
        " the host's memory is the limit.",
        confidence=0.85,
        slows=frozenset({"decode", "throughput"}),
        remedy=(
            "Half the bytes: --dtype bfloat16 instead of float32 doubles the rate."
            if "float32" in args.text("dtype")
            else "A smaller format of the weights.",
            "A GPU, whose memory is several times faster.",
        ),
        risk="Quality, to be judged by you.",
        quotes=(f"STREAM Triad {rate:g} GB/s", f"dtype={args.value('dtype')}"),
    )


def _weights_gb(log: ServerLog, args: Arguments) -> float | None:
    """Return the bytes that one token reads, from the log or from the size in the model's name."""
    if log.weights_gb:
        return log.weights_gb * 1.0737  # the log prints GiB
    name = str(args.value("model_path") or "")
    size = _SIZE.search(name)
    width = WEIGHT_BYTES.get(args.text("dtype").removeprefix("torch."))
    if not size or width is None or args.text("quantization") not in ("", "none"):
        return None
    return None if _SPARSE.search(name) else float(size[1]) * width


RULES = (host_memory_is_the_limit,)
