"""How a run ends, as letters: the verdict, the chart, the end of the trail; pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from bot import narrator
from bot.charts import Picture
from bot.investigate import Judged
from bot.letter import Attached, Button, Letter
from bot.narrator import Explanation, Line, Part
from bot.narrator.set_by import what_set_it
from bot.narrator.wording import raised
from bot.question import Question
from bot.store import Run
from bot.work.chart import chart_of

AFTER: tuple[Button, ...] = ("check_again", "show_evidence", "ask_why", "propose", "right")
_ENDS = (".", "!", "?")
OF_FILES: tuple[Button, ...] = ("show_evidence", "ask_why", "right")


def verdict_letters(
    run: Run,
    question: Question,
    end: Judged,
    *,
    before: Sequence[Part] = (),
    after: Sequence[Part] = (),
    explanation: Explanation | None = None,
) -> list[Letter]:
    """Return the verdict of a run, with what goes before and after it, and its chart where there is one."""
    parts = (
        *before,
        *narrator.deployed(run.host, str(end.deployment)),
        *narrator.verdict(end.verdict, question.interest, explanation),
        *after,
    )
    letters = [_letter(run, "verdict", parts, AFTER if run.host else OF_FILES)]
    set_by = tuple(what_set_it(end.parted)) if run.joins is None else ()
    if set_by:  # the card has no room for it
        key = {"key": f"run:{run.id}:set-by"}
        letters.append(_letter(run, "answer", set_by).model_copy(update=key))
    chart = chart_of(end) if run.joins is None else None
    if chart:
        letters.append(_chart(run, chart))
    return letters


def first_reply(run: Run, said: str) -> Letter:
    """Return the first reply of a run, which then grows while it is carried out."""
    return Letter(
        key=f"run:{run.id}:trail",
        kind="trail",
        channel=run.channel,
        thread=run.thread,
        run=run.id,
        parts=(Line("lead", said),),
        buttons=("stop",),
    )


def trouble_letter(run: Run, text: str, todo: str = "", *, again: bool = True) -> Letter:
    """Return the letter of a run that could not be done: what happened, and what to do."""
    begins_plain = text.partition(" ")[0].isalpha()  # not with the name of a file
    sentence = raised(text) if begins_plain else text
    sentence = sentence if sentence.endswith(_ENDS) else f"{sentence}."
    parts = [Line("verdict", sentence), *([Line("text", todo)] if todo else [])]
    return _letter(run, "verdict", parts, ("check_again",) if again and run.host else ())


def answer_letter(run: Run, parts: Sequence[Part]) -> Letter:
    """Return the answer to a follow-up."""
    return _letter(run, "answer", parts)


def file_letter(run: Run, attached: Attached, key: str) -> Letter:
    """Return the letter that carries a file."""
    return Letter(
        key=key,
        kind="file",
        channel=run.channel,
        thread=run.thread,
        run=run.id,
        attached=attached,
    )


def trail_end(run: Run) -> Letter:
    """Return the letter by which the trail of a run is brought to its end."""
    return Letter(
        key=f"run:{run.id}:trail-end",
        kind="trail",
        channel=run.channel,
        thread=run.thread,
        run=run.id,
    )


def stopped(by: str, looks: int) -> str:
    """Say who stopped it, and how much had been seen."""
    who = f" by {by}" if by else ""
    if not looks:
        return f"Stopped{who} before I had seen anything."
    return f"Stopped{who} after {looks} look{'' if looks == 1 else 's'}. From what was seen so far:"


def evidence_of(run: Run, looks: tuple[str, ...] = ()) -> Attached:
    """Return the file of what was seen, raw."""
    what = run.host or "files"
    some = f"-{'-'.join(looks[:5])}" if looks else ""
    return Attached(
        kind="evidence",
        run=run.id,
        name=f"{what}-run{run.id}{some}-evidence.txt",
        title=f"What was seen of {what}: {', '.join(looks)}"
        if looks
        else f"What was seen of {what}",
        looks=looks,
    )


def _chart(run: Run, chart: Picture) -> Letter:
    what = run.host or "files"
    attached = Attached(
        kind="chart",
        run=run.id,
        name=f"{what}-run{run.id}-{chart.name}.png",
        title=f"{what}: {chart.title}",
        alt=chart.alt,
    )
    return file_letter(run, attached, f"run:{run.id}:chart")


def _letter(
    run: Run,
    kind: Literal["verdict", "answer"],
    parts: Sequence[Part],
    buttons: Sequence[Button] = (),
) -> Letter:
    return Letter(
        key=f"run:{run.id}:{kind}",
        kind=kind,
        channel=run.channel,
        thread=run.thread,
        run=run.id,
        parts=tuple(parts),
        buttons=tuple(buttons),
    )
