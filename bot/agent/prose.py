"""Prose of a model about a verdict: asked for once, checked sentence by sentence, else the plain text stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import prompts
from bot.agent.asking.patient import Asked, Stopped
from bot.agent.asking.reply import Reply, Said
from bot.agent.asking.trouble import ModelTrouble
from bot.agent.checking.grounds import Grounds
from bot.agent.checking.sentences import Sentence, sentences
from bot.agent.exchange import Exchange, as_json
from bot.agent.hypotheses import Hypothesis, shown
from bot.agent.planning.briefing import briefing
from bot.agent.planning.fence import Fence
from bot.investigate import Judged
from bot.narrator import Line
from bot.narrator.explained import Explanation
from bot.narrator.verdict import todo
from bot.narrator.wording import spaced
from bot.question import Question
from tools.verdict import Verdict

TOKENS = 400  # of an answer; 110 words take about 200
ASKED = 600  # characters of what a person asks in a thread
_FIGURES = 2000  # of what was worked out
_EXCLUDED = 8
_LEAST = 2  # sentences that an explanation keeps, or none is told


@dataclass(frozen=True)
class Explained(Explanation):
    """What stands of a model's prose. `dropped` holds each sentence that does not, and why."""

    dropped: tuple[tuple[str, str], ...] = ()
    exchanges: tuple[Exchange, ...] = ()

    def exchanges_kept(self) -> list[dict[str, Any]]:
        """Return what the model was given and said, as a case keeps it."""
        return as_json(self.exchanges)


def explain(
    models: Asked,
    question: Question,
    end: Judged,
    *,
    computed: Sequence[str] = (),
    supposed: Sequence[Hypothesis] = (),
    trouble: str = "",
) -> Explained:
    """Have a verdict explained. `computed` is what was worked out for the model, `supposed` its ideas.

    `trouble` is what the person was told already: the same is not remarked upon again.
    """
    grounds = Grounds(end, computed)
    made = _told(models, "prose", "Explain the verdict.", question, end, grounds, computed, _LEAST)
    ideas, left = shown(supposed, grounds.invented)
    again = trouble and made.exchanges[0].trouble == trouble
    remarks = [] if again else list(made.remarks)
    if left:
        what = "idea of the model names" if left == 1 else "ideas of the model name"
        remarks.append(f"{left} {what} what no look holds, and so is left out.")
    return replace(made, ideas=ideas, remarks=tuple(remarks))


def follow_up(
    models: Asked, question: Question, end: Judged, asked: str, *, computed: Sequence[str] = ()
) -> Explained:
    """Have a free question of a thread answered from its looks.

    Where no sentence stands there are no lines, and what code answers stands alone.
    """
    return _told(models, "followup", asked, question, end, Grounds(end, computed), computed, 1)


def _told(
    models: Asked,
    prompt: str,
    asked: str,
    question: Question,
    end: Judged,
    grounds: Grounds,
    computed: Sequence[str],
    least: int,
) -> Explained:
    fence = Fence()
    given = (Said("user", _given(fence, prompt, asked, question, end, computed)),)
    words = f"{prompt} {prompts.version(prompt)}"
    try:
        reply = models.ask(
            prompts.load(prompt, boundary=fence.boundary), given, max_output_tokens=TOKENS
        )
    except ModelTrouble as why:
        kept = Exchange(prompt, words, given, None, str(why))
        said = f"No model explains this ({why.inside}): the plain text stands."
        remarks = () if isinstance(why, Stopped) else (said,)
        return Explained(remarks=remarks, exchanges=(kept,))
    return replace(_kept(reply, grounds, least), exchanges=(Exchange(prompt, words, given, reply),))


def _kept(reply: Reply, grounds: Grounds, least: int) -> Explained:
    """Keep what stands; the plain text stands alone where too little or less than half does."""
    lines: list[Line] = []
    dropped: list[tuple[str, str]] = []
    for one in _read(reply):
        why = grounds.checked(one)
        if why is None:
            lines.append(Line("text", one.text, one.cites))
        else:
            dropped.append((one.text, why))
    if len(lines) < max(least, len(dropped)):
        return Explained(remarks=_without(reply, dropped), dropped=tuple(dropped))
    few = f"{len(dropped)} sentence{'' if len(dropped) == 1 else 's'} of the model left out: not found in the looks."
    return Explained(tuple(lines), (), (few,) if dropped else (), tuple(dropped))


def _read(reply: Reply) -> list[Sentence]:
    found = sentences(reply.text)
    if (
        reply.finish == "length"
        and found
        and not reply.text.rstrip().endswith((".", "]", "!", "?"))
    ):
        found = found[:-1]
    fresh = dict.fromkeys(one for one in found if not one.text.endswith(":"))
    return list(fresh)


def _without(reply: Reply, dropped: Sequence[object]) -> tuple[str, ...]:
    if not reply.text.strip():
        return ("The model gave no explanation: the plain text stands.",)
    if not dropped:
        return ("The model's explanation was too short to be told: the plain text stands.",)
    return (
        f"The model's explanation is left out, as {len(dropped)} of its sentences could not be found"
        " in the looks: the plain text stands.",
    )


def _given(
    fence: Fence,
    prompt: str,
    asked: str,
    question: Question,
    end: Judged,
    computed: Sequence[str],
) -> str:
    figures = "\n".join((*_figures(end.verdict), *computed))
    parts = [briefing(question, end, fence), fence.around("worked out by code", figures, _FIGURES)]
    parts.append(
        fence.around("what the person asks now", asked, ASKED) if prompt == "followup" else asked
    )
    return "\n".join(parts)


def _figures(verdict: Verdict) -> Iterator[str]:
    if verdict.headroom:
        yield from verdict.headroom.sentences()
    if verdict.findings and verdict.cause:
        yield from _steps(todo(verdict.findings[0]))
    for one in [each for each in verdict.ruled_out if each.why][:_EXCLUDED]:
        yield f"not the cause: {spaced(one.why)} {' '.join(one.evidence)}"


def _steps(lines: Iterable[Line]) -> Iterator[str]:
    return (f"step: {line.text}" for line in lines if line.kind == "item")
