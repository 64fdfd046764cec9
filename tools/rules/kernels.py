"""Kernels of the weights: formats that the GPU cannot compute, slow fallbacks, untuned experts."""

from __future__ import annotations

import re

from tools.engine import Arguments, Launch, Notice, ServerInfo, ServerLog, Traffic
from tools.errors import Undecided
from tools.knowledge.gpus import gpu_named
from tools.nvidia.gpus import Gpus
from tools.rule import Aspect, Cleared, Effect, Finding, Outcome, rule

FP8_FROM = 8.9  # compute capability with fp8 arithmetic
SLOWS: frozenset[Aspect] = frozenset({"decode", "prefill", "throughput"})
_TRITON = re.compile(r"/(triton_\d+_\d+_\d+)/")
_SHAPE = re.compile(r"E=\d+,N=\d+,device_name=[\w.-]+")
_ASKED = re.compile(
    r"can run with (\w{1,40}), however you specified quantization=(\w{1,40}) explicitly"
)
_SLOW = ("unoptimized awq", "slow implementation", "unoptimized", "falling back to transformers")


@rule(cause="quant_kernel_fallback")
def weights_only_in_fp8(log: ServerLog, gpus: Gpus | None) -> Outcome:
    """An fp8 checkpoint runs on a GPU without fp8 arithmetic: fewer bytes, no faster prefill."""
    said = _no_native_fp8(log)
    if not said:
        return Cleared("no line says that fp8 is done without fp8 arithmetic", (log,))
    cap = _capability(gpus)
    if cap is None:
        raise Undecided(
            f"{said[0].text[:120]}; which GPU it is was not seen",
            settle="nvidia-smi --query-gpu=name,compute_cap --format=csv",
            suspicion=0.3,
        )
    if cap >= FP8_FROM:
        return Cleared(f"the GPU (compute capability {cap}) has fp8, so the warning is wrong")
    return Finding(
        f"Compute capability {cap} has no fp8 arithmetic: the weight-only kernel halves the bytes,"
        " which helps decode, and prefill stays bound by 16-bit arithmetic. That is by design.",
        confidence=0.85,
        slows=frozenset({"prefill", "ttft", "throughput"}),
        category="at_ceiling",
        remedy=(
            "None for prefill on this GPU, except int8 (W8A8) weights and activations.",
            "int4 (AWQ, GPTQ) if decode matters more.",
        ),
        risk="none",
        verify="decode gains about the bytes saved, prefill stays as in 16 bit",
        quotes=(said[0].text,),
    )


@rule(cause="capability_misdetected")
def fp8_denied_wrongly(log: ServerLog, gpus: Gpus) -> Outcome:
    """The engine takes a GPU with fp8 arithmetic for one without."""
    said, cap = _no_native_fp8(log), _capability(gpus)
    if not said:
        return Cleared("no line says that fp8 is done without fp8 arithmetic", (log,))
    if cap is None:
        raise Undecided("the GPU's compute capability was not seen", suspicion=0.2)
    if cap < FP8_FROM:
        return Cleared(f"compute capability {cap} has no fp8: the warning is right", (gpus,))
    mig = any(sample.mig for sample in gpus.samples)
    slice_ = " The server runs in a MIG slice, where the check fails." if mig else ""
    return Finding(
        f"The engine says that the GPU has no native fp8, and its compute capability is {cap},"
        f" which has: its check went wrong and a weight-only kernel runs instead.{slice_}",
        confidence=0.85,
        slows=SLOWS,
        effect=Effect((-40.0, -15.0, 0.0), (-50.0, -35.0, -20.0), "an estimate, coarse"),
        verify="torch.cuda.get_device_capability() inside the process; no such warning",
        quotes=(said[0].text, f"compute_cap {cap}"),
    )


@rule(cause="quant_kernel_fallback")
def slow_kernel_named(log: ServerLog) -> Outcome:
    """The engine says itself that it fell back to a slow kernel."""
    said = [n for n in log.notices if any(words in n.text.lower() for words in _SLOW)]
    said = [n for n in said if "no sglang implementation" not in n.text.lower()]
    if not said:
        return Cleared("the engine names no slow kernel that it fell back to", (log,))
    return Finding(
        f"The engine fell back to a slow kernel: {said[0].text[:200]}",
        shown_by=(log,),
        confidence=0.75,
        slows=SLOWS,
        effect=Effect((-50.0, -25.0, -10.0), (-60.0, -30.0, -10.0), "an estimate, coarse"),
        quotes=tuple(notice.text for notice in said[:2]),
    )


@rule(cause="quant_kernel_fallback")
def slower_kernel_asked_for(log: ServerLog) -> Outcome:
    """A flag names the slow kernel of a checkpoint that a faster one can run."""
    said = [(n, named) for n in log.said("kernel") if (named := _ASKED.search(n.text))]
    if not said:
        return Cleared(
            "no line says that a flag asks for a slower kernel than could be used", (log,)
        )
    notice, named = said[0]
    return Finding(
        f"The checkpoint can run with {named[1]}, and the flag --quantization {named[2]} forces the"
        " older, slower kernel.",
        shown_by=(log,),
        confidence=0.85,
        slows=SLOWS,
        effect=Effect((-85.0, -70.0, -40.0), (-80.0, -50.0, -20.0), "vLLM 21376: 23 for 123 tok/s"),
        remedy=(f"Leave --quantization out, or say {named[1]}.",),
        verify="the log names the faster kernel, and the same request is faster",
        quotes=(notice.text,),
    )


@rule(cause="model_implementation_fallback")
def model_without_own_code(log: ServerLog) -> Outcome:
    """The engine has no code of its own for this model and runs the generic one."""
    words = ("no sglang implementation", "using transformers backend")
    said = [n for n in log.notices if any(w in n.text.lower() for w in words)]
    if not said:
        return Cleared("no line says that the model runs on the generic Transformers code", (log,))
    return Finding(
        "The engine has no code of its own for this model and runs the Transformers"
        " implementation.",
        shown_by=(log,),
        confidence=0.8,
        slows=SLOWS,
        effect=Effect((-60.0, -40.0, -15.0), (-50.0, -30.0, -10.0), "own estimate; coarse"),
        quotes=(said[0].text,),
    )


@rule(cause="moe_config_missing")
def experts_not_tuned(log: ServerLog, launch: Launch | None, info: ServerInfo | None) -> Outcome:
    """The kernel of the experts runs with a default setting instead of a tuned one."""
    said = [n for n in log.notices if "using default moe" in n.text.lower()]
    if not said:
        return Cleared("no line says that a tuned setting is missing", (log,))
    text, args = said[0].text, Arguments(launch, info, log)
    triton, shape = _TRITON.search(text), _SHAPE.search(text)
    if triton and shape and _else_healthy(log, args):
        return Finding(
            f"No tuned setting exists for {shape[0]} under {triton[1]}: settings are kept for each"
            " version of Triton, so an upgrade loses them. It costs single digits of percent.",
            shown_by=(log,),
            confidence=0.65,
            slows=SLOWS,
            effect=Effect((-15.0, -6.0, 0.0), (-10.0, -4.0, 0.0), "SGLang 7687: 6.4 %"),
            quotes=(text,),
        )
    raise Undecided(
        "the warning alone decides nothing: default settings often equal tuned ones, and it never"
        " explains a factor of two",
        settle="benchmark_moe (tuning_fused_moe_triton) default against tuned at the batch in use;"
        " and the running requests of each line, for the rate of one request",
        suspicion=0.25,
    )


def _no_native_fp8(log: ServerLog) -> list[Notice]:
    words = ("not have native support for fp8", "fp8 is not natively supported")
    return [n for n in log.notices if any(w in n.text.lower() for w in words)]


def _capability(gpus: Gpus | None) -> float | None:
    for sample in gpus.samples if gpus else ():
        product = gpu_named(sample.name) if sample.name else None
        told = sample.compute_cap or (product.sm if product else None)
        if told and re.fullmatch(r"\d{1,2}\.\d", told):
            return float(told)
    return None


def _else_healthy(log: ServerLog, args: Arguments) -> bool:
    """Say whether the decode lines show nothing that would cost more."""
    decode = Traffic(log).decode
    graphs = any(n.graph for n in decode) and not any(n.graph is False for n in decode)
    return graphs and args.engine != "vllm" and not any(line.queued for line in decode)


RULES = (
    weights_only_in_fp8,
    fp8_denied_wrongly,
    slow_kernel_named,
    slower_kernel_asked_for,
    model_without_own_code,
    experts_not_tuned,
)
