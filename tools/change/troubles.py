"""Why a server did not come up: recognised from how it ended and from the last lines of its log."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, get_args

from tools.change.status import Trouble, TroubleKind
from tools.engine.prompts import cleaned
from tools.harmless import harmless
from tools.secrets import scrub
from tools.sglang.args import clean_dumps

LINE_CHARS = 300


class _Sign(NamedTuple):
    kind: TroubleKind
    pattern: re.Pattern[str]
    says: str


def _signs(*rows: tuple[TroubleKind, str, str]) -> tuple[_Sign, ...]:
    return tuple(_Sign(kind, re.compile(pattern), says) for kind, pattern, says in rows)


# The first that is found counts: what stands above explains what stands below. Sources: SGLang 0.4.6 to 0.5.23
# (server_args.py, model_runner.py, graph runners, memory pools), argparse, uvicorn, torch, the kernel's OOM killer.
_UNKNOWN = "The installed version does not know {what}."
_SHORT = "{what} is short for several flags of the installed version."
_NOT_TAKEN = "The installed version does not take that value for {what}: invalid {why}."
_NO_MODEL = "The model cannot be found at the path that was given."
_PORT = "Its port was taken: it could not listen, whatever its log says of being ready."
_NO_POOL = "No memory was left for the KV cache after the weights."
_CAPTURE_MEMORY = "The GPU's memory ran out while CUDA graphs were captured."
SIGNS = _signs(
    ("unknown_flag", r"error: unrecognized arguments: (?P<what>.+)", _UNKNOWN),
    ("unknown_flag", r"error: ambiguous option: (?P<what>\S+)", _SHORT),
    ("bad_value", r"error: argument (?P<what>\S+?): invalid (?P<why>.{1,120}?)(?: \(choose from|$)", _NOT_TAKEN),
    ("bad_value", r"error: argument (?P<what>\S+?): (?P<why>.{1,120})", "{what} is wrong: {why}."),
    ("bad_value", r"context_length \((?P<what>\d+)\) is greater than the derived context_length \((?P<why>\d+)\)",
     "A context of {what} tokens is longer than the model's {why}."),
    ("bad_value", r"Repo id must be in the form|does not appear to have a file named|is not a local folder", _NO_MODEL),
    ("port_in_use", r"\[Errno 98\]|[Aa]ddress already in use|[Pp]ort (?:\d{1,5} )?is already in use", _PORT),
    ("out_of_memory", r"leave no GPU memory for the KV cache|No available memory for the cache", _NO_POOL),
    ("out_of_memory", r"Not enough memory\. Please try to increase --mem-fraction-static", _NO_POOL),
    ("out_of_memory", r"Capture cuda graph failed: .*out of memory", _CAPTURE_MEMORY),
    ("out_of_memory", r"(?:CUDA|HIP) out of memory|torch\.(?:cuda\.)?OutOfMemoryError|CUDA error: out of memory",
     "The GPU's memory ran out."),
    ("out_of_memory", r"an't allocate memory|annot allocate memory|bad_alloc|MemoryError|ut of memory: Killed process",
     "The host's memory ran out."),
    ("graph_capture", r"Capture cuda graph failed|Exception: Capture (?:CUDA|cuda) graph",
     "It crashed while CUDA graphs were captured."),
    ("crashed", r"Exception: (?P<what>\S.{0,60} is not installed)", "A package is missing: {what}."),
    ("crashed", r"No module named '?(?P<what>[\w.]+)", "A package is missing: {what}."),
    ("crashed", r"NCCL error|ncclUnhandledCudaError|ncclSystemError", "The GPUs could not talk to each other (NCCL)."),
    ("crashed", r"CUDA error|illegal memory access|device-side assert|Segmentation fault|Fatal Python", "It crashed."),
    ("crashed", r"Subprocess \S{1,60} \(pid=\d+\) crashed with exit code|Received sigquit from a child process",
     "A process of it died while it started."),
)  # fmt: skip
_PREFIX = re.compile(r"^\[\d{4}-\d\d-\d\d[^\]]{0,60}\]\s*")
_LAST = re.compile(r"^(?:\w+\.)*\w*(?:Error|Exception|Interrupt)\b.*")


def trouble_of(failed: Mapping[str, Any] | None) -> Trouble | None:
    """Return what the keeper tells of a failure, with the cause that the log shows."""
    if failed is None:
        return None
    how, sentence = str(failed["how"]), harmless(scrub(str(failed["sentence"])))
    lines = shown(failed["tail"])
    if how in get_args(TroubleKind) and how != "other":
        return Trouble(kind=_kind(how), sentence=_capital(sentence), line=failed["line"])
    return recognised(lines, sentence)


def shown(lines: Sequence[object]) -> tuple[str, ...]:
    """Return lines of a log without prompts, secrets and what steers a terminal."""
    text = cleaned(clean_dumps("\n".join(map(str, lines))))
    return tuple(map(harmless, text.split("\n"))) if lines else ()


def recognised(lines: Sequence[str], sentence: str) -> Trouble:
    """Return the trouble that the last lines of a log show; `sentence` is what is known without them."""
    usual = _capital(sentence)
    for sign in SIGNS:
        if found := _last(sign, lines):
            line, match = found
            return Trouble(
                kind=sign.kind, sentence=_filled(sign, match, usual), line=line[:LINE_CHARS]
            )
    kind: TroubleKind = "other"
    for word, one in (("hung:", "hung"), ("slow:", "slow_start"), ("is taken by", "wrong_server"),
                      ("another command line", "wrong_server"), ("ended while", "crashed")):  # fmt: skip
        if word in sentence:
            kind = _kind(one)
            break
    said = [line for line in lines if _LAST.match(_PREFIX.sub("", line))]
    shows = said and kind in ("crashed", "other")
    last = _PREFIX.sub("", said[-1])[:LINE_CHARS] if shows else None
    return Trouble(kind=kind, sentence=usual, line=last)


def _last(sign: _Sign, lines: Sequence[str]) -> tuple[str, re.Match[str]] | None:
    for line in reversed(lines):
        text = _PREFIX.sub("", line)
        if match := sign.pattern.search(text):
            return text, match
    return None


def _filled(sign: _Sign, match: re.Match[str], usual: str) -> str:
    named = {name: value or "it" for name, value in match.groupdict().items()}
    said = sign.says.format(**named)
    how = re.search(r"\((status \d+|killed by signal \d+)\)", usual)
    return f"{said} It ended with {how[1]}." if how and "status" in how[1] else said


def _kind(word: str) -> TroubleKind:
    kinds: dict[str, TroubleKind] = {kind: kind for kind in get_args(TroubleKind)}
    return kinds[word]


def _capital(sentence: str) -> str:
    text = sentence[:1].upper() + sentence[1:]
    return text if text.endswith((".", "!", "?")) else text + "."
