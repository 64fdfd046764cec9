"""What Slack refuses in blocks: their number, their lengths, their form."""

from __future__ import annotations

from typing import Any

from bot.demo.workspace.block_kinds import CHECKS, ONLY_IN
from bot.demo.workspace.bounds import LIMITS, Faults, many_faults

__all__ = ["LIMITS", "faults_of", "visible_text"]


def faults_of(blocks: Any, where: str = "message") -> Faults:
    """Everything that Slack would object to in these blocks, each a line; empty when it would take them.

    `where` is message, modal or home: they differ in number, and in which blocks there may be.
    """
    most = LIMITS.blocks_in_message if where == "message" else LIMITS.blocks_in_view
    if not isinstance(blocks, list):
        return ["must be an array [json-pointer:/blocks]"]
    found = many_faults(blocks, most, "/blocks", least=0)
    if found:
        return found
    for number, block in enumerate(blocks):
        at = f"/blocks/{number}"
        kind = str(block.get("type"))
        if kind not in CHECKS or where not in ONLY_IN.get(kind, (where,)):
            found.append(f"unsupported type: {kind} [json-pointer:{at}/type]")
            continue
        found += CHECKS[kind](block, at)
        block_id = block.get("block_id")
        if block_id is not None and (
            not isinstance(block_id, str) or len(block_id) > LIMITS.block_id
        ):
            found.append(
                f"must be less than {LIMITS.block_id + 1} characters [json-pointer:{at}/block_id]"
            )
    return found + _repeated(blocks)


def _repeated(blocks: list[dict[str, Any]]) -> Faults:
    found: Faults = []
    ids = [b["block_id"] for b in blocks if b.get("block_id")]
    found += [
        f"`block_id` already exists: {one}" for one in sorted({i for i in ids if ids.count(i) > 1})
    ]
    if sum(b.get("type") == "table" for b in blocks) > 1:
        found.append("only_one_table_allowed")
    return found


def visible_text(value: Any) -> int:
    """How many characters of text blocks show; a message of more than `all_block_text` is refused."""
    if isinstance(value, dict):
        own = value.get("text")
        return (len(own) if isinstance(own, str) else 0) + sum(
            visible_text(v) for v in value.values() if isinstance(v, dict | list)
        )
    return sum(visible_text(v) for v in value) if isinstance(value, list) else 0
