"""What was understood, and each look: what was asked, how long it took, what came back."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from bot.narrator.briefs import brief
from bot.narrator.line import Line
from bot.narrator.wording import lowered, raised
from bot.question import Question
from tools.engine import Claim, Trials
from tools.evidence import AnyProbe, Evidence
from tools.hosts.files.forms import READ_AS
from tools.hosts.files.found import UNKNOWN
from tools.rule import Aspect

_VERB = re.compile(r"^(?:Read|Watch|Find|Look in) ")
_STDIN = "-"
_LONG = 160  # characters, from which on an aside in brackets is too much
_ASIDE = re.compile(r" \([^()]*\)")
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
    """Name what a probe looks at: its docstring's first line, without the verb and the details."""
    return title_of((type(probe).__doc__ or "").strip()) if probe else "Of no form that I know"


def title_of(doc: str) -> str:
    """Name what is looked at by the docstring of its probe: "The kernel log"."""
    first = doc.splitlines()[0].split(":")[0].rstrip(".") if doc else ""
    noun = _VERB.sub("", first)
    plain = noun.split(" ")[0].isalpha()  # not a file's name
    return raised(noun) if plain else noun


def look(seen: Evidence, before: Collection[str] = (), *, of_file: bool = False) -> Iterator[Line]:
    """Tell one look, and which file it is `of_file`s; a trouble told `before` is not told again."""
    took = seen.output.took_s if seen.output else None
    if isinstance(seen.facts, Claim):
        yield Line("look", "What you say yourself", (seen.id,))
        yield Line("said", _claimed(seen.facts))
        return
    if seen.probe is None and isinstance(seen.facts, Trials):
        yield Line("look", raised(seen.source), (seen.id,))
        yield Line("said", brief(seen.facts))
        return
    judged = seen.probe or not seen.trouble.startswith(READ_AS)
    name = title(seen.probe) if judged else "Of a form that no rule decides by"
    if of_file or not seen.probe:
        source = "standard input" if seen.source == _STDIN else seen.source
        name = f"{source}: {lowered(name)}"
    yield Line("trouble" if seen.trouble else "look", name, (seen.id,), took)
    said = seen.trouble or (brief(seen.facts) if seen.facts else "")
    if len(said) > _LONG:
        said = _ASIDE.sub("", said)
    if said == UNKNOWN:
        said = ""  # the name says it already
    if seen.trouble and seen.trouble in before:
        said = "the same trouble as above"
    for text in filter(None, (said, seen.note)):
        yield Line("said", text)


def _claimed(claim: Claim) -> str:
    rates = ((claim.now_tok_s, "now"), (claim.before_tok_s, "before, or elsewhere"))
    parts = [f"{rate:g} tok/s {when}" for rate, when in rates if rate]
    many = claim.in_parallel
    return ", ".join([*parts, *([f"{many} requests in parallel"] if many else [])])
