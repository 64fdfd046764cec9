"""Send a message as it is, and in ever plainer form where a workspace cannot show it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from bot.slack.api.troubles import TOO_MUCH, Refused
from bot.slack.blocks import Rendered, plainer

_SECTION = 3000  # docs.slack.dev/reference/block-kit/blocks/section-block


async def plainly(
    rendered: Rendered, send: Callable[[Rendered], Awaitable[dict[str, Any]]]
) -> dict[str, Any]:
    """Return the answer to the first form that is taken; raise SlackTrouble where none is."""
    forms = _forms(rendered)
    for form in forms[:-1]:
        try:
            return await send(form)
        except Refused as why:
            if why.error not in TOO_MUCH:
                raise
    return await send(forms[-1])


def _forms(rendered: Rendered) -> list[Rendered]:
    """As it is; blocks that every workspace knows; the text with its mark; the mere text."""
    text = plainer(rendered, 2)
    if not rendered.blocks:
        return [text]
    marked = {
        "type": "section",
        "text": {"type": "mrkdwn", "text": text.text[:_SECTION] or "–", "verbatim": True},
        "block_id": rendered.blocks[0].get("block_id", ""),
    }
    return [rendered, plainer(rendered, 1), Rendered(text.text, [marked]), text]
