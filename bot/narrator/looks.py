"""What was understood, and each look: what was asked, how long it took, what came back."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from bot.narrator.briefs import brief
from bot.narrator.line import Line
from bot.question import Question
from tools.engine import Claim
from tools.evidence import AnyProbe, Evidence
from tools.rule import Aspect

_NAMES: dict[Aspect, str] = {
    "decode": "decode",
    "prefill": "prefill",
    "ttft": "time to first token",
    "tail": "the tail",
    "throughput": "throughput under load",
    "start": "start-up",
    "crash": "a crash or a hang",
}


def asked(question: Question) -> Iterator[Line]:
    """Repeat the question as it was put."""
    if question.text:
        yield Line("said", f"> {question.text}")


def understood(question: Question, where: str, made: str = "") -> Line:
    """Say what was understood of the question, before anything is asked."""
    about = [name for aspect, name in _NAMES.items() if aspect in question.interest.aspects]
    parts = [f"Looking at {where}{f' ({made})' if made else ''}."]
    if about:
        parts.append(f"You ask about {', '.join(about)}{_rates(question)}.")
    return Line("lead", " ".join(parts))


def _rates(question: Question) -> str:
    if not question.now_tok_s:
        return ""
    before = f", {question.before_tok_s:g} remembered" if question.before_tok_s else ""
    return f": {question.now_tok_s:g} tok/s now{before}"


def deployed(host: str | None, what: str) -> Iterator[Line]:
    """Name what is served on what, once that is known."""
    if what:
        yield Line("heading", f"{host}: {what}" if host else what)


def title(probe: AnyProbe | None) -> str:
    """Say what a look is: the first line of its probe's docstring, up to the details."""
    doc = (type(probe).__doc__ or "").strip() if probe else ""
    return (
        doc.splitlines()[0].split(":")[0].rstrip(".") if doc else "a text that I do not recognise"
    )


def look(seen: Evidence, before: Collection[str] = ()) -> Iterator[Line]:
    """Tell one look; a trouble that was told `before` is not spelled out again."""
    took = seen.output.took_s if seen.output else None
    if isinstance(seen.facts, Claim):
        yield Line("look", "What you say yourself", (seen.id,))
        yield Line("said", _claimed(seen.facts))
        return
    name = title(seen.probe) if seen.probe else f"{seen.source}: {title(None)}"
    yield Line("trouble" if seen.trouble else "look", name, (seen.id,), took)
    said = seen.trouble or (brief(seen.facts) if seen.facts else "")
    if seen.trouble and seen.trouble in before:
        said = "the same trouble as above"
    for text in filter(None, (said, seen.note)):
        yield Line("said", text)


def _claimed(claim: Claim) -> str:
    rates = ((claim.now_tok_s, "now"), (claim.before_tok_s, "before, or elsewhere"))
    parts = [f"{rate:g} tok/s {when}" for rate, when in rates if rate]
    many = claim.in_parallel
    return ", ".join([*parts, *([f"{many} requests in parallel"] if many else [])])
