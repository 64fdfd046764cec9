"""The answer to a follow-up: from the looks of the case, with their ids; pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from bot.followup.compare import side_by_side
from bot.followup.evidence import evidence
from bot.followup.gpu import gpu
from bot.followup.grep import grep
from bot.followup.intent import Intent
from bot.followup.log_lines import few, lines_behind, log_lines
from bot.followup.plain import plain
from bot.followup.rejudge import rejudge
from bot.followup.source import flags_of_version
from bot.followup.sure import sure, unchecked
from bot.followup.what_if import what_if
from bot.followup.who_set import who_set
from bot.followup.why import todo, why
from bot.followup.why_not import why_not
from bot.investigate import Judged
from bot.narrator import Line, Part
from bot.question import Question

HELP = (
    "why not NCCL? · is it the power cap?",
    "what about GPU 1?",
    "what if we had NVLink? · what if it ran at Gen3 x8? · what if the accept length was 3.75?",
    "compare with ANOTHER-HOST · what changed?",
    "who set disable_piecewise_cuda_graph? · which graph flags does our version have?",
    "show me the log lines · grep the log for retract · show E5",
    "why? · how sure are you? · what could you not check? · what should I do?",
    "check again, once something was done",
)
READS_ONLY = "I cannot do that: I only read, and change nothing on a host."


@dataclass(frozen=True)
class Answer:
    """What is said, and what goes with it.

    `attached` names a file that is to be sent along: raw answers of `looks` (all where it is empty),
    or lines of the logs, of which `text` says what they must hold (nothing: those that matter).
    """

    parts: tuple[Part, ...]
    attached: Literal["evidence", "log_lines"] | None = None
    looks: tuple[str, ...] = ()
    text: str = ""


def answer(
    intent: Intent,
    question: Question,
    end: Judged,
    asked: str,
    other: Judged | None = None,
    *,
    looked_at: str = "",
    names: tuple[str, str] = ("this host", "the other"),
) -> Answer:
    """Answer a follow-up about an investigation.

    `end` is what was concluded for the question of the thread; of the looks that `wanted` asked for
    it holds the answers. `asked` is the follow-up as it was written. `other` is the case to compare
    with: of `intent.host`, or the earlier one of the same host; `names` are what the two are called.
    `looked_at` says when the looks were taken, as a person reads it ("14:02").
    """
    if intent.kind == "evidence":
        parts, looks = evidence(intent, end)
        return Answer(tuple(parts), "evidence" if looks is not None else None, looks or ())
    if intent.kind == "log_lines":
        return _lines(end)
    if intent.kind in ("compare", "again"):
        again = intent.kind == "again"
        return Answer(tuple(side_by_side(end, other, names, asked, again=again)))
    if intent.kind == "rejudge":
        return Answer(tuple(rejudge(question, end, asked or intent.text, looked_at)))
    return Answer(tuple(_TELLERS[intent.kind](intent, end)))


def _lines(end: Judged) -> Answer:
    behind = lines_behind(end)
    parts = tuple(log_lines(end, behind))
    if few(behind):
        return Answer(parts)
    return Answer(parts, "log_lines", tuple(dict.fromkeys(one.look for one in behind)))


Teller = Callable[[Intent, Judged], Iterable[Part]]


def _why(intent: Intent, end: Judged) -> Iterable[Part]:
    return plain(end) if intent.plain else why(end)


def _todo(intent: Intent, end: Judged) -> Iterable[Part]:
    """Tell the steps; who asks us to take them is told first that we do not."""
    if intent.text:
        yield Line("lead", READS_ONLY)
    yield from todo(end)


def _help(_: Intent, __: Judged) -> Iterable[Part]:
    yield Line("text", "In this thread you can ask me, among others:")
    for line in HELP:
        yield Line("item", line)


_TELLERS: dict[str, Teller] = {
    "why_not": why_not,
    "gpu": gpu,
    "what_if": what_if,
    "who_set": who_set,
    "flags": flags_of_version,
    "grep": grep,
    "why": _why,
    "todo": _todo,
    "unchecked": lambda _, end: unchecked(end),
    "sure": lambda _, end: sure(end),
    "thanks": lambda _, __: (Line("text", "You are welcome."),),
    "help": _help,
}
