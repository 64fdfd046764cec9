"""What tests of trails say and see."""

from __future__ import annotations

from typing import Any

from bot.store import Run
from tests.fakes import Message
from tests.slack.delivering import Delivering


def text_of(blocks: Any) -> str:
    """All text in blocks, whatever holds it."""
    if isinstance(blocks, dict):
        own = [
            str(blocks[key])
            for key in ("text", "title", "output")
            if isinstance(blocks.get(key), str)
        ]
        return " ".join([*own, *(text_of(value) for value in blocks.values())])
    return " ".join(text_of(one) for one in blocks) if isinstance(blocks, list) else ""


def seen(message: Message) -> str:
    return f"{message.text} {text_of(message.shown_blocks())}"


def kinds(message: Message) -> set[str]:
    found = {str(block["type"]) for block in message.shown_blocks()}
    buttons = [e for b in message.shown_blocks() for e in b.get("elements", []) if "action_id" in e]
    return found | {str(button["action_id"]) for button in buttons}


async def opened(lab: Delivering, **more: Any) -> tuple[Run, Message]:
    run = lab.asked(**more)
    await lab.sent(lab.say(run, "trail", "Looking at CT129. You ask about decode."))
    (trail,) = lab.replies(run)
    return run, trail


def end(lab: Delivering, run: Run, state: Any = "done") -> str:
    lab.store.runs.end(run.id, state)
    key = lab.say(run, "trail-end", parts=())
    lab.trails.ended(run)
    return key
