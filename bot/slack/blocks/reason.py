"""What we ask a person who says that a verdict was wrong."""

from __future__ import annotations

from bot.slack.blocks.bricks import plain_text
from bot.slack.blocks.rendered import Block

CALLBACK = "reason"  # of the view; its input has the same block id and action id
LONGEST = 1000  # characters of a reason; Slack takes 3000


def reason_view(metadata: str) -> Block:
    """Return the modal; `metadata` comes back with the answer, up to 3000 characters.

    https://docs.slack.dev/reference/views/modal-views
    """
    return {
        "type": "modal",
        "callback_id": CALLBACK,
        "private_metadata": metadata,
        "title": plain_text("What was wrong?"),
        "submit": plain_text("Send"),
        "close": plain_text("Skip"),
        "blocks": [
            {
                "type": "input",
                "block_id": CALLBACK,
                "optional": True,
                "label": plain_text("What was it really, and how do you know?"),
                "hint": plain_text("It is kept with the case, so that I judge better next time."),
                "element": {
                    "type": "plain_text_input",
                    "action_id": CALLBACK,
                    "multiline": True,
                    "max_length": LONGEST,
                },
            }
        ],
    }
