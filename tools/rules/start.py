"""Servers that do not start, die or hang: what the log itself names as the reason."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tools.engine import Arguments, Launch, ServerLog
from tools.errors import Undecided
from tools.linux.kernel import KernelLog
from tools.nvidia.gpus import Gpus
from tools.rule import Aspect, Cleared, Finding, Outcome, rule

_FLAG = re.compile(
    r"unrecognized arguments: *(.{1,200})|argument (--?[\w/ -]{1,60}): invalid choice"
)
_PORT = re.compile(
    r"\[Errno 98\]|address already in use|port(?: \d{1,5})? is (?:already )?in use", re.I
)
_FRACTION = re.compile(r"leave no GPU memory for the KV cache|increase --mem-fraction-static", re.I)
_CONTEXT = re.compile(r"context_length \(\d+\) is greater than the derived", re.I)
_OOM = re.compile(
    r"CUDA out of memory|OutOfMemoryError|Capture cuda graph failed|out of memory", re.I
)
_NEEDS = re.compile(
    r"is not installed|No module named|ImportError|PackageNotFound|Repo id must be|not compatible with radix"
    r"|does not exist|No such file or directory|does not appear to have a file named|Can't load the configuration"
    r"|driver on your system is too old|forward compatibility was attempted"
    r"|gated repo|401 Client Error|trust_remote_code|Unrecognized model in"
    r"|divisible by|% (?:\w{1,30}\.)?(?:tp|pp|ep|dp|world|\w{1,20}parallel)\w{0,20}size == 0",
    re.I,
)
# What Python and transformers raise when an argument, a file or a package is not as it must be.
_REFUSES = re.compile(
    r"\b(?:ValueError|OSError|ImportError|NotImplementedError|\w{1,40}(?:Validation|NotFound|Repo)Error): "
)
_STEPS = (
    (re.compile(r"size == 0|divisible"), "A --tp that divides the model's attention and KV heads."),
    (re.compile(r"too old|forward compat"), "A newer driver, or an image for the CUDA it has."),
    (re.compile(r"trust_remote"), "--trust-remote-code, if you trust that code."),
    (
        re.compile(r"config\.json|Repo id"),
        "--model-path: the folder that holds config.json itself.",
    ),
)
_SAYS_NOTHING = re.compile(r"(?i)received sigquit|SIGQUIT received|py-?spy dump|\"GET /health")
_ELSEWHERE = re.compile(r"memory capacity is unbalanced|/dev/shm|shared memory", re.I)
STARTS: frozenset[Aspect] = frozenset({"start"})
DIES: frozenset[Aspect] = frozenset({"crash"})
HELD_MIB = 2000  # what another process must hold to be the reason
WHO_STOPS = (
    "what runs at that minute: systemctl list-timers; crontab -l; kubectl get events (a liveness"
    " probe, a rollout); docker events; journalctl -u UNIT"
)
SAME_START = "the message in the issues of the engine; the same command with the version before"
NO_LOG = "dmesg -T | grep -iE 'xid|oom'; the traceback above the last line of the log"


@rule(cause="launch_flag_unknown")
def flag_unknown(log: ServerLog, launch: Launch | None) -> Outcome:
    """The launch holds a flag or a value that this version does not know."""
    said = _matching(log, _FLAG)
    if not said:
        return Cleared("no flag was refused", (log,))
    found = _FLAG.search(said[0])
    name = ((found[1] or found[2]) if found else "").strip()
    version = Arguments(launch, None, log).version
    shown = f" of {'.'.join(map(str, version))}" if version else ""
    return _fails(
        f"The argument parser{shown} does not know {name}: the launch ends at once.", said
    )


@rule(cause="port_in_use")
def port_taken(log: ServerLog) -> Outcome:
    """Another process holds the server's port."""
    said = _matching(log, _PORT)
    if not said:
        return Cleared("the port could be bound", (log,))
    ready = (
        " The ready line proves nothing here: the warm-up reached the other server."
        if log.started
        else ""
    )
    return _fails(f"The port is held by another process.{ready}", said)


@rule(cause="memory_fraction_too_low")
def no_memory_for_cache(log: ServerLog) -> Outcome:
    """The weights leave no memory for the KV cache."""
    said = _matching(log, _FRACTION)
    if not said:
        return Cleared("the KV cache was given memory", (log,))
    return _fails("After the weights nothing is left for the KV cache.", said)


@rule(cause="context_longer_than_model")
def context_too_long(log: ServerLog) -> Outcome:
    """The context length asked for is longer than the model's."""
    said = _matching(log, _CONTEXT)
    if not said:
        return Cleared("the context length was accepted", (log,))
    return _fails("The context length asked for is longer than the model was made for.", said)


@rule(cause="start_dependency_missing")
def something_missing(log: ServerLog) -> Outcome:
    """The launch misses a package, a file, or holds options that exclude each other."""
    ends = [n.text for n in log.said("start_failed")]
    said = [text for text in ends if _NEEDS.search(text)]
    if said and not log.started:
        step = next((do for form, do in _STEPS if form.search(said[0])), "")
        return _fails(f"The launch ends with: {said[0][:300]}", said, 0.75, step=step)
    said = [text for text in ends if _REFUSES.search(text) and not _named(text)]
    if said and not log.started:
        return _fails(
            f"The launch refuses what it was given: {said[0][:300]}. If arguments, files and"
            " packages are right, it is a bug of this version.",
            said,
            0.6,
        )
    return Cleared("nothing that the launch needs is named as missing", (log,))


@rule(cause="gpu_out_of_memory")
def gpu_memory_used_up(log: ServerLog, gpus: Gpus | None) -> Outcome:
    """The server ran out of GPU memory."""
    said = [n.text for n in log.said("oom", "start_failed") if _OOM.search(n.text)]
    said = [t for t in said if "#retracted" not in t]
    if not said:
        return Cleared("no line tells of memory that ran out", (log,))
    mine = {"sglang", "vllm", "python", "ray"}
    others = [
        p
        for p in (gpus.processes or () if gpus else ())
        if (p.used_mib or 0) >= HELD_MIB
        and not any(word in (p.name or "").lower() for word in mine)
    ]
    if others:
        return Cleared(
            f"{others[0].name or others[0].pid} holds {others[0].used_mib:.0f} MiB of it"
        )
    return _fails(
        f"GPU memory ran out: {said[0][:200]}", said, 0.8, STARTS if not log.started else DIES
    )


@rule(cause="server_hung")
def server_hangs(log: ServerLog, kernel: KernelLog | None) -> Outcome:
    """The server stands still without an error of the hardware."""
    said = [n.text for n in log.said("watchdog", "health") if "shutdown" not in n.text.lower()]
    if not said:
        return Cleared("no watchdog or health line", (log,))
    return _unexplained("The server stood still", said, log, kernel)


@rule(cause="server_crashed")
def server_crashes(log: ServerLog, kernel: KernelLog | None) -> Outcome:
    """A process of the server died of an error in its own code."""
    said = [notice.text for notice in log.said("crash")]
    if said and log.said("watchdog"):
        return Cleared("it ended itself after its watchdog, so what stood still is the question")
    if not said and (at := _told_to_stop(log)):
        raise Undecided(
            f"it did not crash: at {at} it was told to stop (SIGTERM) and ended in order; who told"
            " it is not in this log",
            settle=WHO_STOPS,
            suspicion=0.2,
        )
    if not said and not log.said("start_failed"):
        return Cleared("no process of the server died, as far as the log shows", (log,))
    return _unexplained("A process of the server died", said, log, kernel)


def _told_to_stop(log: ServerLog) -> str | None:
    """Return when the server was told to stop, if that is how the log ends."""
    told = [n for n in log.said("shutdown") if "SIGTERM received" in n.text]
    if not told or log.said("crash", "oom", "watchdog", "nccl_error"):
        return None
    at = told[-1].at or ""
    return at if at >= (log.last_request_at or "") else None


def _named(text: str) -> bool:
    """Say whether a rule of its own knows this end of a start."""
    return any(form.search(text) for form in (_FLAG, _PORT, _FRACTION, _CONTEXT, _OOM, _ELSEWHERE))


def _explains(text: str) -> bool:
    return _named(text) or bool(_NEEDS.search(text) or _REFUSES.search(text))


def _matching(log: ServerLog, form: re.Pattern[str]) -> list[str]:
    said = log.said("start_failed", "oom", "crash", "refusal")
    return [notice.text for notice in said if form.search(notice.text)]


def _unexplained(what: str, said: list[str], log: ServerLog, kernel: KernelLog | None) -> Outcome:
    """A death or a hang is a symptom: it is the engine's own only when nothing else explains it."""
    if kernel and (kernel.xids or kernel.fallen_off or kernel.oom_kills):
        return Cleared("the kernel log tells of the reason", (kernel,))
    other = [n for n in log.notices if n.kind in ("nccl_error", "oom", "start_failed")]
    strange = [n.text for n in other if n.kind == "start_failed" and not _explains(n.text)]
    if other and len(strange) == len(other):
        raise Undecided(
            f"the start ends with: {strange[0][:300]}", settle=SAME_START, suspicion=0.35
        )
    if other:
        return Cleared(f"that end follows from something else: {other[0].text[:200]}", (log,))
    if not said:
        return Cleared("no process of the server died, as far as the log shows", (log,))
    telling = [text for text in said if not _SAYS_NOTHING.search(text)] or said
    hint = f": {telling[-1][:300]}"
    if kernel is None:
        raise Undecided(f"{what}{hint}; the kernel log was not seen", settle=NO_LOG, suspicion=0.35)
    return Finding(
        f"{what}, and the kernel log tells of no GPU error and no lack of memory{hint}",
        confidence=0.6,
        slows=DIES,
        quotes=tuple(telling[:2]),
    )


def _fails(
    statement: str,
    said: Sequence[str],
    confidence: float = 0.9,
    slows: frozenset[Aspect] = STARTS,
    step: str = "",
) -> Finding:
    return Finding(
        statement,
        confidence=confidence,
        slows=slows,
        remedy=(step,) if step else (),
        quotes=tuple(t[:300] for t in said[:2]),
    )


RULES = (
    flag_unknown,
    port_taken,
    no_memory_for_cache,
    context_too_long,
    something_missing,
    gpu_memory_used_up,
    server_hangs,
    server_crashes,
)
