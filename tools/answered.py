"""What the person said, answered: the cause they suspect, the rate they remember, what is faster elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tools.engine import Claim, ServerLog, Trials
from tools.engine.trial import Figure
from tools.interest import Interest
from tools.judgement import Confirmed, Judgement, RuledOut, Unchecked
from tools.knowledge.topics import TOPICS
from tools.known import Known

NEAR = 0.94  # of the rate that is remembered: a line so fast shows it
TELLING = 0.1  # a doubt below it is open only because not everything was seen
_CHANGES = ("became_slower_over_time", "version_regression", "acceptance_drop")
_SEVERITIES = ("critical", "major", "moderate", "minor", "info", "benign")
_BUILDS = "the same single request on both builds, on the same node"
_ELSEWHERE = (
    "the same looks at the other machine, and the same request on both; then ask to compare the two"
)


@dataclass(frozen=True)
class Answer:
    """One thing that the person said, and what the looks say to it.

    `holds` is None where they cannot tell; `against` is the reason where everything that was seen
    speaks against it, which is no proof as long as not everything was seen.
    """

    about: Literal["cause", "rate", "elsewhere"]
    text: str
    evidence: tuple[str, ...]
    holds: bool | None
    against: str = ""


def answered(
    asked: Interest, best: Confirmed | None, judged: Sequence[Judgement], known: Known
) -> tuple[Answer, ...]:
    """Answer what a question claims: suspicions first, then the earlier rate, then what is elsewhere."""
    topics: dict[str, set[str]] = {}
    for name in sorted(asked.blamed & TOPICS.keys()):
        topics.setdefault(TOPICS[name], set()).add(name)
    told = [_of_topic(topic, names, best, judged, asked) for topic, names in topics.items()]
    told += [_of_rate(judged, known)]
    if not (asked.stopped or (best and best.rule.cause.stops)):
        told += [_of_elsewhere(asked, judged)]
    return tuple(sorted((one for one in told if one), key=lambda one: one.holds is None))


def unfounded(answers: Sequence[Answer]) -> str:
    """Say why the suspicions are none, if all that was seen speaks against each; else nothing."""
    causes = [one for one in answers if one.about == "cause"]
    if not causes or not all(one.against for one in causes):
        return ""
    if all(one.holds is False for one in causes):
        return f"Not what you ask about: {_together(causes)}. What else it may be was not seen."
    return (
        f"Nothing speaks for what you ask about: {_together(causes)}. Too little was seen to say that"
        " nothing is wrong."
    )


def _together(causes: Sequence[Answer]) -> str:
    return "; ".join(f"{one.text.split(':')[0]} ({one.against})" for one in causes[:2])


def _of_topic(
    topic: str,
    names: set[str],
    best: Confirmed | None,
    judged: Sequence[Judgement],
    asked: Interest,
) -> Answer | None:
    own = [one for one in judged if names & {one.rule.cause.id, one.rule.cause.layer}]
    if best in own and best:
        fault = not best.benign and best.category != "at_ceiling"
        said = "this is it" if fault else "what you see is true, and no fault"
        return Answer("cause", f"{topic}: {said}", best.evidence, holds=fault)
    true = [one for one in own if isinstance(one, Confirmed)]
    if costly := next((one for one in true if not one.benign), None):
        said = f"true, and not most of what you ask about: {_lower(costly.finding.statement)}"
        return Answer("cause", f"{topic}: {said}", costly.evidence, holds=False if best else None)
    opened = [one for one in own if isinstance(one, Unchecked)]
    excluded = [one for one in own if isinstance(one, RuledOut) and one.why]
    excluded.sort(key=lambda one: (one.rule.cause.stops != asked.stopped, *_gravest(one)))
    doubt = max(opened, key=lambda one: one.suspicion, default=None)
    if doubt and (doubt.suspicion >= TELLING or not (excluded or true)):
        return _cannot_tell(topic, doubt, best)
    return _excluded(topic, true, excluded, len(opened), best)


def _excluded(
    topic: str,
    true: Sequence[Confirmed],
    excluded: Sequence[RuledOut],
    opened: int,
    best: Confirmed | None,
) -> Answer | None:
    if not (true or excluded):
        return None
    why = _lower(true[0].finding.statement if true else excluded[0].why)
    evidence = true[0].evidence if true else excluded[0].evidence
    if not opened:
        text = f"{topic}: no, because {why}"
        return Answer("cause", text, evidence, holds=False, against=why)
    text = f"{topic}: nothing speaks for it ({why}); {opened} more of its kind could not be checked"
    return Answer("cause", text, evidence, holds=False if best else None, against=why)


def _cannot_tell(topic: str, doubt: Unchecked, best: Confirmed | None) -> Answer:
    said = "not needed to explain this, and not excluded" if best else "cannot be told from this"
    text = f"{topic}: {said}: {_reason(doubt)}"
    return Answer(
        "cause", text + (_check(doubt) if best is None else ""), doubt.evidence, holds=None
    )


def _reason(doubt: Unchecked) -> str:
    return "what would show it was not seen" if doubt.missing else _lower(doubt.why)


def _check(doubt: Unchecked) -> str:
    return f"; to check: {doubt.how}" if doubt.how and not doubt.missing else ""


def _gravest(one: RuledOut) -> tuple[bool, int]:
    return not one.tested, _SEVERITIES.index(one.rule.cause.severity)


def _of_rate(judged: Sequence[Judgement], known: Known) -> Answer | None:
    claim = known.get(Claim)
    if claim is None or claim.before_tok_s is None:
        return None
    rate = f"{claim.before_tok_s:g} tok/s"
    changed = next((one for one in judged if _tells_of_change(one)), None)
    if isinstance(changed, Confirmed):
        text = f"{rate}: the looks show the change: {_lower(changed.finding.statement)}"
        return Answer("rate", text, changed.evidence, holds=True)
    return _in_a_test(known, claim.before_tok_s) or _in_the_log(known, claim, rate)


def _tells_of_change(one: Judgement) -> bool:
    return isinstance(one, Confirmed) and one.rule.cause.id in _CHANGES and not one.benign


def _in_the_log(known: Known, claim: Claim, rate: str) -> Answer:
    log, most = known.of_serving().get(ServerLog), claim.in_parallel or 1
    lines = [one for one in log.decode if one.tok_s and (one.running or 1) <= most] if log else []
    if log is None or not lines:
        text = f"{rate}: cannot be told from this: no Decode line of such a load was seen"
        check = "; to check: the log of that time, or the same request on what ran then"
        return Answer("rate", text + check, (), holds=None)
    fastest = max(lines, key=lambda one: one.tok_s or 0.0)
    told = f"{fastest.tok_s:.0f} tok/s" + (f" at {fastest.at}" if fastest.at else "")
    if (fastest.tok_s or 0.0) >= NEAR * (claim.before_tok_s or 0.0):
        return Answer(
            "rate", f"{rate}: the log itself shows it, {told}", known.cited((log,)), holds=True
        )
    text = f"{rate}: no line of this log shows it; the fastest is {told}"
    return Answer("rate", text, known.cited((log,)), holds=None)


def _in_a_test(known: Known, before_tok_s: float) -> Answer | None:
    trials = known.get(Trials)
    if trials is None:
        return None
    arms = (arm for trial in trials.trials for arm in trial.arms)
    again = next(
        (arm for arm in arms if any(_is_near(one, before_tok_s) for one in arm.figures)), None
    )
    if again is None:
        return None
    text = f"{before_tok_s:g} tok/s: the test reaches it again: {again.label}"
    return Answer("rate", text, known.cited((trials,)), holds=True)


def _is_near(figure: Figure, before_tok_s: float) -> bool:
    return figure.unit == "tok/s" and abs(figure.value / before_tok_s - 1) <= 1 - NEAR


def _of_elsewhere(asked: Interest, judged: Sequence[Judgement]) -> Answer | None:
    if asked.elsewhere == "host":
        text = f"another machine: cannot be told from the looks at one; to check: {_ELSEWHERE}"
        return Answer("elsewhere", text, (), holds=None)
    found = next((one for one in judged if one.rule.cause.id == "version_regression"), None)
    if not asked.elsewhere or found is None:
        return None
    if isinstance(found, Confirmed):
        return Answer("elsewhere", "the version: it is the slower one", found.evidence, holds=True)
    if isinstance(found, RuledOut) and found.tested:
        text = f"the version: no, because {_lower(found.why)}"
        return Answer("elsewhere", text, found.evidence, holds=False)
    why = _lower(found.why) if isinstance(found, RuledOut) and found.why else ""
    why = _reason(found) if isinstance(found, Unchecked) else why or "no look compares two"
    return Answer(
        "elsewhere",
        f"the version: cannot be told from this: {why}; to check: {_BUILDS}",
        found.evidence,
        holds=None,
    )


def _lower(text: str) -> str:
    """Let a sentence go on after a colon; names and abbreviations keep their capitals."""
    plain = text.rstrip(".")
    first = plain.split(" ", 1)[0]
    named = first[1:].lower() != first[1:] or any(sign.isdecimal() for sign in first)
    return plain if named else f"{plain[:1].lower()}{plain[1:]}"
