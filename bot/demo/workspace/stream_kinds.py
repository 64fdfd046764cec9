"""The task card, which streams make and blocks may hold."""

from __future__ import annotations

from typing import Any

from bot.demo.workspace.bounds import LIMITS, Faults, string_faults
from bot.demo.workspace.rich_text import rich_text_faults

STATUSES = ("pending", "in_progress", "complete", "error")


def task_card_faults(block: dict[str, Any], at: str) -> Faults:
    """A task has an id, a title and one of four states; details and output are rich text."""
    found = string_faults(block.get("task_id"), LIMITS.task_text, f"{at}/task_id")
    found += string_faults(block.get("title"), LIMITS.task_text, f"{at}/title")
    if block.get("status") not in STATUSES:
        found.append(f"must be one of {', '.join(STATUSES)} [json-pointer:{at}/status]")
    for name in ("details", "output"):
        if name in block:
            found += rich_text_faults(block[name], f"{at}/{name}")
    return found
