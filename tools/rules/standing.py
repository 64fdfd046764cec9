"""Where the schedulers stand, as stacks show it: which rank waits for which, and in what."""

from __future__ import annotations

import re

from tools.engine import ServerLog
from tools.errors import Undecided
from tools.linux.machine import Processes, Stack
from tools.rule import Aspect, Cleared, Finding, Outcome, rule

SLOWS: frozenset[Aspect] = frozenset({"crash", "decode", "prefill", "ttft", "throughput", "tail"})
_SCHEDULER = re.compile(
    r"sglang::sched|vllm::(?:worker|enginecore)|run_scheduler_process", re.IGNORECASE
)
# torch.distributed, and the engines' own collectives, SGLang 0.4.6 to 0.5.23 and vLLM 0.8 to 0.11
_COLLECTIVE = re.compile(
    r"distributed_c10d\.py|pynccl|custom_all_reduce|parallel_state\.py|\b(?:broadcast_pyobj|barrier|all_reduce|all_gather)\b"
)
_COMPILES = re.compile(
    r"triton/(?:runtime|compiler)|torch/_inductor|torch/_dynamo|flashinfer/jit|cpp_extension\.py|deep_gemm.{0,60}jit"
    r"|_run_ninja_build|tvm_ffi.{0,60}build"
)
_GPU = re.compile(r"\b(?:synchronize|_cuda_synchronize|wait_event)\b|torch/cuda/streams\.py")
_IDLE = re.compile(
    r"\b(?:poll|recv|recv_pyobj|recv_multipart|wait_for_request|maybe_sleep)\b.{0,80}(?:zmq|sleep|poll|idle)"
)
_LOOK_AGAIN = "py-spy dump of every scheduler twice, ten seconds apart"


@rule(cause="server_hung")
def a_rank_waits_for_another(processes: Processes, log: ServerLog | None) -> Outcome:
    """One rank stands in its own work while the others wait for it in a collective call."""
    mains = [one for one in processes.stacks if _is_main(one)]
    if not mains:
        return None
    places = {_rank(one): _place(one) for one in mains}
    said = "; ".join(f"{rank} {_words(one)}" for rank, one in zip(places, mains, strict=False))
    if "compiles" in places.values():
        return Cleared(f"kernels are being compiled, which takes minutes at a first start ({said})")
    if set(places.values()) == {"idle"}:
        return Cleared("every scheduler waits for requests", (processes,))
    hung = bool(log and log.said("watchdog", "health"))
    still = all(one.seen > 1 for one in mains)
    # under load a rank is often seen waiting for its GPU, so that alone counts only in a known hang
    apart = [one for one in mains if _place(one) in (("works", "gpu") if hung else ("works",))]
    waiting = [one for one in mains if _place(one) == "collective"]
    if not (apart and waiting and (hung or still)):
        raise Undecided(
            said if hung or still else f"{said}; one look does not tell whether it moves",
            settle=_LOOK_AGAIN,
            suspicion=0.3 if waiting else 0.1,
        )
    return _alone(apart[0], waiting[0], confidence=0.75 if hung else 0.55)


def _alone(lone: Stack, waits: Stack, *, confidence: float) -> Finding:
    return Finding(
        statement=f"{_rank(lone)} {_words(lone)}, while {_rank(waits)} {_words(waits)}: the ranks"
        " wait for the one that does not come.",
        confidence=confidence,
        slows=SLOWS,
        remedy=(
            f"Look for that call in the engine's issues: {_own_call(lone)}.",
            "Restart; then leave out the feature that the call belongs to, or change the version.",
        ),
        risk="restart",
        verify="py-spy dump under the same load: the main threads move on from one look to the next",
        quotes=tuple(f"{_rank(one)}: {_own_call(one)}" for one in (lone, waits)),
    )


def _is_main(one: Stack) -> bool:
    main = one.thread in ("MainThread", "") or "run_scheduler_process" in " ".join(one.frames)
    return (
        main
        and bool(one.frames)
        and bool(_SCHEDULER.search(f"{one.process} {' '.join(one.frames)}"))
    )


def _rank(one: Stack) -> str:
    title = one.process.split(" ")[0]
    return title if "::" in title else f"pid {one.pid}"


def _place(one: Stack) -> str:
    inner = one.frames[:6]
    for name, form in (
        ("compiles", _COMPILES),
        ("collective", _COLLECTIVE),
        ("gpu", _GPU),
        ("idle", _IDLE),
    ):
        if any(form.search(frame) for frame in inner):
            return name
    return "works"


def _words(one: Stack) -> str:
    how = {
        "compiles": "compiles a kernel in",
        "collective": "waits for the other ranks in",
        "gpu": "waits for its GPU in",
        "idle": "waits for requests in",
        "works": "stands in",
    }[_place(one)]
    return f"{how} {_own_call(one)}"


def _own_call(one: Stack) -> str:
    """Return the innermost call of the engine itself, else the innermost of all."""
    own = (
        frame for frame in one.frames if re.search(r"sglang|vllm|scheduler\.py|_worker\.py", frame)
    )
    return next(own, one.frames[0])[:160]


RULES = (a_rank_waits_for_another,)
