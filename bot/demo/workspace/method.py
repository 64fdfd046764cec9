"""What a method of the Web API is: who may call it, how often, and what it does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bot.demo.workspace.limits import LIMITS, faults_of, visible_text
from bot.demo.workspace.refused import Refused
from bot.demo.workspace.state import State

Args = dict[str, Any]
Answer = dict[str, Any]


@dataclass(frozen=True)
class Method:
    """`scopes`: any one of them will do, none means none is needed; `token`: bot or app."""

    run: Callable[[State, Args], Answer]
    scopes: tuple[str, ...] = ()
    tier: int = 3
    token: str = "bot"  # noqa: S105 the kind of token


def invalid(*says: str) -> Refused:
    """invalid_arguments, with Slack's lines of what is wrong."""
    return Refused(
        "invalid_arguments", response_metadata={"messages": [f"[ERROR] {line}" for line in says]}
    )


def needed(args: Args, *names: str) -> list[str]:
    """These arguments as strings; Refused with invalid_arguments when one is missing."""
    missing = [name for name in names if args.get(name) in (None, "")]
    if missing:
        raise invalid(*(f"missing required field: {name}" for name in missing))
    return [str(args[name]) for name in names]


def checked_blocks(state: State, blocks: Any, where: str = "message") -> list[dict[str, Any]]:
    """Blocks that Slack would take; Refused with invalid_blocks or msg_blocks_too_long."""
    if not blocks:
        return []
    wrong = faults_of(blocks, where)
    known = state.settings.only_blocks
    if known is not None and isinstance(blocks, list):
        kinds = {str(b.get("type")) for b in blocks if isinstance(b, dict)} - known
        wrong += [f"unsupported type: {kind}" for kind in sorted(kinds)]
    if wrong:
        says = [f"[ERROR] {line}" for line in wrong]
        raise Refused("invalid_blocks", errors=wrong, response_metadata={"messages": says})
    if where == "message" and visible_text(blocks) > LIMITS.all_block_text:
        raise Refused("msg_blocks_too_long")
    return list(blocks)
