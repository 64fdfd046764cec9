"""A trail as a native stream: the chunks that bring it from one state to the next."""

from __future__ import annotations

from collections.abc import Iterator

from bot.slack.blocks.rendered import Element
from bot.slack.blocks.safe import fitted, markdown, shown
from bot.slack.blocks.trail import Item, TrailState
from bot.slack.blocks.trail_shown import opening

# bytes: Slack takes 256 characters in a text of a task and about 10 600 bytes in a whole stream, where
# an output counts twice and a title each time it is sent (measured by others)
_TITLE, _SAID, _MEANING = 70, 100, 400
_AT_LENGTH = 24  # looks whose answer is told; of later ones the title alone


def task_chunks(before: TrailState | None, after: TrailState, mark: str = "") -> list[Element]:
    """Return what is new; of a stream that begins (`before` is None) everything.

    The first chunk of a stream holds blocks: the title, whose block id is `mark`, and the Stop
    button. What a look gave is sent once, when it is over, so that it does not matter whether
    Slack replaces or appends it. https://docs.slack.dev/reference/methods/chat.appendStream
    """
    return list(_new(before, after, mark))


def _new(before: TrailState | None, after: TrailState, mark: str) -> Iterator[Element]:
    if before is None:
        yield {"type": "blocks", "blocks": opening(after, mark)}
    old = before or TrailState(after.title)
    if after.items and (before is None or old.progress != after.progress):
        yield {"type": "plan_update", "title": after.progress}
    known = {one.id: one for one in old.items}
    for number, one in enumerate(after.items):
        if known.get(one.id) != one:
            yield _task(one, at_length=number < _AT_LENGTH)
    for text in after.meaning[len(old.meaning) :]:
        yield _said(text)
    if after.note and after.note != old.note:
        yield _said(after.note)


def _task(one: Item, *, at_length: bool) -> Element:
    took = f" · {one.took_s:.1f} s" if one.took_s else ""
    cite = f" · {shown(one.cite, 20)}" if one.cite else ""
    title = (fitted(one.title, _TITLE, markdown) or "–") + took + cite
    made: Element = {"type": "task_update", "id": one.id, "title": title, "status": one.status}
    if at_length and one.over and (said := fitted(one.said, _SAID, markdown)):
        made["output"] = said
    return made


def _said(text: str) -> Element:
    return {"type": "markdown_text", "text": f"\n\n{fitted(text, _MEANING, markdown)}\n"}
