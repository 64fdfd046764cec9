"""How much of everything Slack takes, and the checks that all kinds of block share.

The figures are those of https://docs.slack.dev/reference/block-kit (and of the checks in slack-sdk 3.48);
those of streams are documented (256 characters in the texts of a task) or were measured by others on a
live workspace (the weight of a whole stream).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Limits:
    """The most of each; characters unless the name says otherwise."""

    blocks_in_message: int = 50
    blocks_in_view: int = 100
    text: int = 40_000
    markdown: int = 12_000
    all_block_text: int = 13_200  # msg_blocks_too_long: not documented, measured
    section: int = 3000
    fields: int = 10
    field: int = 2000
    header: int = 150
    context_elements: int = 10
    actions: int = 25
    context_actions: int = 5
    button: int = 75
    value: int = 2000
    block_id: int = 255
    action_id: int = 255
    url: int = 3000
    alt_text: int = 2000
    table_rows: int = 100
    table_cells: int = 20
    options: int = 100
    option: int = 75
    option_value: int = 150
    label: int = 2000
    placeholder: int = 150
    view_title: int = 24
    private_metadata: int = 3000
    task_text: int = 256
    stream_bytes: int = 10_600


LIMITS = Limits()
Faults = list[str]
Check = Callable[[dict[str, Any], str], Faults]


def text_faults(
    value: Any, most: int, at: str, kinds: tuple[str, ...] = ("mrkdwn", "plain_text")
) -> Faults:
    """A text object must have its type, say something, and not too much of it."""
    if not isinstance(value, dict) or value.get("type") not in kinds:
        return [f"must be a valid text object of {' or '.join(kinds)} [json-pointer:{at}]"]
    text = value.get("text")
    if not isinstance(text, str) or not text:
        return [f"must be more than 0 characters [json-pointer:{at}/text]"]
    if len(text) > most:
        return [f"must be less than {most + 1} characters [json-pointer:{at}/text]"]
    return []


def plain_faults(value: Any, most: int, at: str) -> Faults:
    """As `text_faults`, where only plain_text will do."""
    return text_faults(value, most, at, ("plain_text",))


def many_faults(value: Any, most: int, at: str, least: int = 1) -> Faults:
    """A list must have between `least` and `most` items, each an object."""
    if not isinstance(value, list) or len(value) < least:
        return [f"no less than {least} items required [json-pointer:{at}]"]
    if len(value) > most:
        return [f"no more than {most} items allowed [json-pointer:{at}]"]
    wrong = [i for i, item in enumerate(value) if not isinstance(item, dict)]
    return [f"must be an object [json-pointer:{at}/{i}]" for i in wrong]


def string_faults(value: Any, most: int, at: str) -> Faults:
    """A required string of bounded length."""
    if not isinstance(value, str) or not value:
        return [f"missing required field [json-pointer:{at}]"]
    return (
        [f"must be less than {most + 1} characters [json-pointer:{at}]"]
        if len(value) > most
        else []
    )
