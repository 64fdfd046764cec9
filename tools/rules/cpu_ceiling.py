"""Decode on processors instead of GPUs: as fast as the host's memory."""

from __future__ import annotations

import re
from statistics import median

from tools.engine import Arguments, Benchmark, Launch, ServerInfo, ServerLog, Traffic
from tools.engine.traffic import step_ms
from tools.errors import Undecided
from tools.linux.machine import Machine
from tools.rule import Cleared, Finding, Outcome, rule

NEAR = 0.6  # of the step that reading all weights must take
OF_MODULES = 0.8  # of their peak, which STREAM reaches on current servers
WEIGHT_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2, "half": 2, "float": 4}
_SIZE = re.compile(r"(?<![A-Za-z0-9.])(\d{1,3}(?:\.\d)?)B(?![A-Za-z0-9])", re.IGNORECASE)
_SPARSE = re.compile(r"moe|mixtral|-a\d+b|\d+x\d+b|gpt-?oss|deepseek", re.IGNORECASE)
SETTLE = "STREAM on the same processors, and du -sh of the weights"


@rule(cause="memory_roofline")
def host_memory_is_the_limit(
    log: ServerLog,
    benchmark: Benchmark | None,
    launch: Launch | None,
    info: ServerInfo | None,
    machine: Machine | None,
) -> Outcome:
    """Decode on processors is as fast as the host's memory lets it be."""
    args = Arguments(launch, info, log)
    if "cpu" not in (args.text("device"), args.text("device_config")):
        return Cleared("the server does not run on processors", (log,))
    steps = [ms for line in Traffic(log).at(1) if (ms := step_ms(line)) is not None]
    if not steps:
        raise Undecided("no steady line of a single request was seen", suspicion=0.05)
    size = _weights_gb(log, args)
    measured = benchmark.stream_triad_gb_s if benchmark else None
    modules = machine.dimm_gb_s * OF_MODULES if machine and machine.dimm_gb_s else None
    rate = measured or modules
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
        f"Every token reads about {size:.0f} GB of weights; at the {rate:.0f} GB/s that {_source(measured)}"
        f" this takes {reading:.0f} ms, and a step takes {step:.0f} ms ({share:.0%}):"
        " the host's memory is the limit.",
        confidence=0.85 if measured else 0.65,
        slows=frozenset({"decode", "throughput"}),
        remedy=(
            "Half the bytes: --dtype bfloat16 instead of float32 doubles the rate."
            if "float32" in args.text("dtype")
            else "A smaller format of the weights.",
            *_slots(machine),
            "A GPU, whose memory is several times faster.",
        ),
        risk="Quality, to be judged by you.",
        quotes=(
            f"STREAM Triad {rate:g} GB/s" if measured else f"memory modules {rate:.0f} GB/s",
            f"dtype={args.value('dtype')}",
        ),
    )


def _source(measured: float | None) -> str:
    return "STREAM measures" if measured else "the fitted memory modules reach"


def _slots(machine: Machine | None) -> tuple[str, ...]:
    """Advise what the firmware's list of modules suggests: empty slots, or modules below their rate."""
    if machine is None or not machine.dimms or not machine.dimm_slots:
        return ()
    said: tuple[str, ...] = ()
    if machine.dimms < machine.dimm_slots:
        said += (
            f"{machine.dimms} of {machine.dimm_slots} memory slots are fitted: one module in each channel"
            " gives the full rate.",
        )
    runs, rated = machine.dimm_mt_s, machine.dimm_rated_mt_s
    if runs and rated and runs < rated:
        said += (f"The modules run at {runs:.0f} of {rated:.0f} MT/s: the BIOS, or mixed modules.",)
    return said


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
