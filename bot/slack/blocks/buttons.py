"""What a person can press under a message of ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.letter import Button
from bot.slack.blocks.bricks import context, plain_text
from bot.slack.blocks.rendered import Block, Element

LABELS: dict[Button, str] = {
    "stop": "Stop",
    "check_again": "Check again",
    "show_evidence": "Show evidence",
    "ask_why": "Ask why",
    "propose": "Propose the change",
}
RIGHT = "Was this right?"


def buttons(chosen: Sequence[Button], run: int | None) -> Iterator[Block]:
    """Yield a row of buttons, and the question whether it was right, with two thumbs, below it.

    The action id is the button's name and its value the number of the run; the thumbs carry
    "yes:RUN" and "no:RUN".
    """
    if run is None:
        return
    row = [_button(name, run) for name in dict.fromkeys(chosen) if name in LABELS]
    if row:
        yield {"type": "actions", "elements": row}
    if "right" in chosen:
        yield context(RIGHT)
        yield {"type": "context_actions", "elements": [_thumbs(run)]}


def _button(name: Button, run: int) -> Element:
    made = {
        "type": "button",
        "action_id": name,
        "text": plain_text(LABELS[name]),
        "value": str(run),
    }
    return made | ({"style": "danger"} if name == "stop" else {})


def _thumbs(run: int) -> Element:
    """https://docs.slack.dev/reference/block-kit/block-elements/feedback-buttons-element"""
    return {
        "type": "feedback_buttons",
        "action_id": "right",
        "positive_button": {
            "text": plain_text("This was right"),
            "accessibility_label": f"{RIGHT} Yes",
            "value": f"yes:{run}",
        },
        "negative_button": {
            "text": plain_text("This was wrong"),
            "accessibility_label": f"{RIGHT} No, and I say what was wrong",
            "value": f"no:{run}",
        },
    }
