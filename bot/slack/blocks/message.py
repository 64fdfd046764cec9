"""A letter as a Slack message: its story, what was left out, and its buttons."""

from __future__ import annotations

from collections.abc import Mapping

from bot.letter import Letter
from bot.slack.blocks.bricks import context, rich, section
from bot.slack.blocks.buttons import LABELS, buttons
from bot.slack.blocks.fallback import text_of
from bot.slack.blocks.rendered import Rendered, mark
from bot.slack.blocks.safe import mrkdwn, shown
from bot.slack.blocks.spans import plain
from bot.slack.blocks.story import Story

_TITLE = 200


def render(letter: Letter, links: Mapping[str, str]) -> Rendered:
    """Return a letter within Slack's limits; `links` gives the address of each evidence id.

    The first block's id is the mark by which the message is found again. A letter that only
    carries a file has no blocks: its text is the title of the file.
    """
    if letter.kind == "file":
        title = letter.attached.title if letter.attached else ""
        return Rendered(mrkdwn(shown(title, _TITLE)), [])
    below = list(
        buttons(
            letter.buttons,
            letter.run,
            digest=letter.shown,
            asks=letter.asks,
            choices=letter.choices,
        )
    )
    room_for = [*below, context(_left_out(9999, letter))]
    story = Story(links, reserve=room_for)
    blocks = story.blocks(letter.parts) or [rich([section([plain("–")])])]
    if story.left_out:
        blocks.append(context(_left_out(story.left_out, letter)))
    blocks[0] = {**blocks[0], "block_id": mark(letter.edits or letter.key)}
    return Rendered(text_of(letter.parts), blocks + below)


def _left_out(count: int, letter: Letter) -> str:
    lines = f"{count} more line{'' if count == 1 else 's'} did not fit here"
    if "show_evidence" not in letter.buttons:
        return f"{lines}."
    return f"{lines}: “{LABELS['show_evidence']}” has everything that was seen."
