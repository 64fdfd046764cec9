"""The same looks, judged for another question: what is asked now comes first."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace

from bot.followup.intent import Intent
from bot.followup.suspect import suspects
from bot.followup.why_not import why_not
from bot.investigate import Judged, conclude
from bot.narrator import Line, Part, Table
from bot.narrator import verdict as verdict_parts
from bot.narrator.answers import TOPICS
from bot.narrator.verdict import figures
from bot.narrator.wording import lowered, raised, spaced
from bot.question import Question
from bot.question.plain import plain
from tools.engine import Claim
from tools.judgement import Confirmed
from tools.rule import Aspect

_UP_TO = ("Not the cause, and why", "Could not check", "True, and not the cause")
_SHOWN = 3
_SLOW = re.compile(
    r"\b(?:slow\w*|fast\w*|speed|wrong|broken|bad|hang\w*|stuck|crash\w*|tok(?:ens?)?/s)\b",
    re.IGNORECASE,
)
_SHORTER = re.compile(r"\b(?:verdict|summary|summari[sz]e|recap|tl;?dr)\b", re.IGNORECASE)
_ANGRY = re.compile(
    r"\b(?:useless|bullshit|nonsense|rubbish|garbage|stupid|idiot|suck\w*|dumb|crap|no help|not help\w*"
    r"|doesn't help)\b",
    re.IGNORECASE,
)
_NAMES: dict[Aspect, str] = {"decode": "decode", "prefill": "prefill", "ttft": "the first token"}


def rejudge(question: Question, end: Judged, asked: str, looked_at: str = "") -> Iterator[Part]:
    """Tell the verdict for another question, and how old the looks are.

    Raises nothing; rates that the thread's question claimed hold on unless the new one names others.
    """
    if not _understood(asked):
        yield from _not_understood(end, angry=bool(_ANGRY.search(asked)))
        return
    meant = _merged(question, Question.of(asked))
    looks = [one for one in end.evidence if not isinstance(one.facts, Claim)]
    again = conclude(meant, looks)
    when = f"From the looks of {looked_at}" if looked_at else "From the looks of this thread"
    yield Line("text", f"{when}; nothing was asked anew. “check again” takes new looks.")
    there = {one.id for one in looks}  # a claim of the new question is no look of the thread
    yield from (_kept(part, there) for part in _aspects(again, meant))
    told = _told(again, meant, same=again.verdict.cause == end.verdict.cause)
    yield from (_kept(part, there) for part in told)


def on_the_verdict(text: str) -> bool:
    """Say whether a text is about what was said here, though it asks nothing: anger, or "tl;dr"."""
    return bool(_ANGRY.search(text) or _SHORTER.search(text))


def _understood(asked: str) -> bool:
    """Say whether a text names anything that looks can be judged for."""
    new = Question.of(asked)
    told = new.interest.aspects or suspects(asked) or new.now_tok_s or new.before_tok_s
    return bool(told or _SLOW.search(plain(asked)) or _SHORTER.search(asked))


def _not_understood(end: Judged, *, angry: bool) -> Iterator[Line]:
    """Say so, and what can be asked: the verdict stands, but it was not asked for."""
    if angry:
        sorry = "I am sorry that this does not help. If I am wrong, tell me what you see, and I look there."
        yield Line("text", sorry)
    else:
        yield Line("text", "I am not sure what you ask me there.")
    yield _stands(end)
    yield Line(
        "said",
        "I understand for example: “why not NCCL?”, “what should I do?”, “how sure are you?”,"
        " “check again”. “help” says more.",
    )


def _stands(end: Judged) -> Line:
    verdict = end.verdict
    stands = f"The verdict of this thread stands: {lowered(spaced(verdict.headline.rstrip('.')))}."
    return Line("text", stands, verdict.findings[0].evidence if verdict.cause else ())


def _kept(part: Part, there: Collection[str]) -> Part:
    if isinstance(part, Table):
        return part
    return replace(part, cites=tuple(one for one in part.cites if one in there))


def _merged(old: Question, new: Question) -> Question:
    told = new.now_tok_s is not None
    return replace(
        new,
        now_tok_s=new.now_tok_s if told else old.now_tok_s,
        before_tok_s=new.before_tok_s if told else old.before_tok_s,
        in_parallel=new.in_parallel or old.in_parallel,
        for_each=new.for_each if told else old.for_each,
    )


def _aspects(end: Judged, meant: Question) -> Iterator[Line]:
    """Tell what slows an aspect that is asked about, the largest loss first."""
    verdict = end.verdict
    for aspect in sorted(meant.interest.aspects & _NAMES.keys()):
        found = [one for one in verdict.findings if _loss(one, aspect) < 0]
        found.sort(key=lambda one: _loss(one, aspect))
        for one in found[:_SHOWN]:
            statement = spaced(one.finding.statement.rstrip("."))
            cost = f" It costs {told}." if (told := figures(one)) else ""
            yield Line("item", f"{_NAMES[aspect].capitalize()}: {statement}.{cost}", one.evidence)
        if not found:
            text = (
                f"Nothing that was seen costs {_NAMES[aspect]} anything that I can put a figure to."
            )
            yield Line("item", text)


def _loss(one: Confirmed, aspect: Aspect) -> float:
    effect = one.finding.effect
    told = effect.decode_pct if aspect == "decode" else effect.prefill_pct
    return told[1] if told else 0.0


def _told(end: Judged, meant: Question, *, same: bool) -> Iterator[Part]:
    """Yield what is new in the answer: all of the verdict, if it is another one."""
    verdict, asked = end.verdict, meant.interest
    if not same:
        yield from _in_full(end, meant)
        return
    if asked.aspects:
        yield from (part for part in verdict_parts(verdict, asked) if isinstance(part, Table))
    if asked.suspects:
        topics = [TOPICS[one] for one in sorted(asked.suspects & TOPICS.keys())]
        subject = raised(", ".join(dict.fromkeys(topics)) or "What you suspect")
        yield from why_not(Intent("why_not", asked.suspects, text=meant.text), end, subject)
    yield _stands(end)


def _in_full(end: Judged, meant: Question) -> Iterator[Part]:
    skipping = False
    for part in verdict_parts(end.verdict, meant.interest):
        if isinstance(part, Line) and part.kind == "heading":
            skipping = part.text in _UP_TO
        if not skipping:
            yield part
