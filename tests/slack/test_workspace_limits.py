"""The limits of blocks, at their edges: what Slack takes, and one more."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fakes import faults_of

Block = dict[str, Any]


def plain(length: int) -> Block:
    return {"type": "plain_text", "text": "x" * length}


def mrkdwn(length: int) -> Block:
    return {"type": "mrkdwn", "text": "x" * length}


def button(**more: Any) -> Block:
    return {"type": "button", "action_id": "a", "text": plain(1), **more}


def buttons(count: int) -> list[Block]:
    return [button(action_id=f"a{i}") for i in range(count)]


def section(length: int) -> Block:
    return {"type": "section", "text": mrkdwn(length)}


def fields(count: int, length: int = 1) -> Block:
    return {"type": "section", "fields": [mrkdwn(length)] * count}


def actions(*elements: Block) -> Block:
    return {"type": "actions", "elements": list(elements)}


def context(count: int) -> Block:
    return {"type": "context", "elements": [mrkdwn(1)] * count}


def feedback(count: int, text: int = 1, value: str = "v") -> Block:
    one = {"text": plain(text), "value": value}
    shown = [
        {
            "type": "feedback_buttons",
            "action_id": f"f{i}",
            "positive_button": one,
            "negative_button": one,
        }
        for i in range(count)
    ]
    return {"type": "context_actions", "elements": shown}


def table(rows: int, cells: int) -> Block:
    return {"type": "table", "rows": [[{"type": "raw_text", "text": "x"}] * cells] * rows}


def select(options: int, text: int = 1, value: int = 1) -> Block:
    offered = [{"text": plain(text), "value": "x" * value}] * options
    return actions({"type": "static_select", "action_id": "s", "options": offered})


def rich(*elements: Block, container: str = "rich_text_section", **more: Any) -> Block:
    return {
        "type": "rich_text",
        "elements": [{"type": container, "elements": list(elements), **more}],
    }


def task(**more: Any) -> Block:
    return {"type": "task_card", "task_id": "1", "title": "x", "status": "complete", **more}


TEXT = {"type": "text", "text": "x"}
IMAGE = {"type": "image", "image_url": "https://example.com/x.png"}

EDGES: dict[str, tuple[Block, Block]] = {
    "section text": (section(3000), section(3001)),
    "section says something": (section(1), section(0)),
    "fields": (fields(10), fields(11)),
    "field text": (fields(1, 2000), fields(1, 2001)),
    "header": ({"type": "header", "text": plain(150)}, {"type": "header", "text": plain(151)}),
    "header is plain": (
        {"type": "header", "text": plain(1)},
        {"type": "header", "text": mrkdwn(1)},
    ),
    "context": (context(10), context(11)),
    "actions": (actions(*buttons(25)), actions(*buttons(26))),
    "actions hold something": (actions(button()), actions()),
    "action ids differ": (actions(*buttons(2)), actions(button(), button())),
    "context_actions": (feedback(5), feedback(6)),
    "feedback text": (feedback(1, text=75), feedback(1, text=76)),
    "feedback value": (feedback(1, value="x" * 2000), feedback(1, value="")),
    "button text": (actions(button(text=plain(75))), actions(button(text=plain(76)))),
    "button value": (actions(button(value="x" * 2000)), actions(button(value="x" * 2001))),
    "button style": (actions(button(style="danger")), actions(button(style="loud"))),
    "block id": (
        {"type": "divider", "block_id": "x" * 255},
        {"type": "divider", "block_id": "x" * 256},
    ),
    "markdown": (
        {"type": "markdown", "text": "x" * 12_000},
        {"type": "markdown", "text": "x" * 12_001},
    ),
    "alert level": (
        {"type": "alert", "level": "success", "text": plain(1)},
        {"type": "alert", "level": "danger", "text": plain(1)},
    ),
    "table rows": (table(100, 2), table(101, 2)),
    "table cells": (table(2, 20), table(2, 21)),
    "image alt text": ({**IMAGE, "alt_text": "x"}, IMAGE),
    "options": (select(100), select(101)),
    "option text": (select(1, text=75), select(1, text=76)),
    "option value": (select(1, value=150), select(1, value=151)),
    "rich text element": (rich(TEXT), rich({"type": "mrkdwn", "text": "x"})),
    "rich text says something": (rich(TEXT), rich({"type": "text", "text": ""})),
    "rich text link": (
        rich({"type": "link", "url": "https://x"}),
        rich({"type": "link", "url": "x"}),
    ),
    "rich text container": (
        rich(TEXT, container="rich_text_quote"),
        rich(TEXT, container="rich_text_box"),
    ),
    "rich text style": (
        rich({**TEXT, "style": {"bold": True}}),
        rich({**TEXT, "style": {"huge": True}}),
    ),
    "list of sections": (
        rich(rich(TEXT)["elements"][0], container="rich_text_list", style="bullet"),
        rich(TEXT, container="rich_text_list", style="bullet"),
    ),
    "list style": (
        rich(rich(TEXT)["elements"][0], container="rich_text_list", style="ordered"),
        rich(rich(TEXT)["elements"][0], container="rich_text_list"),
    ),
    "task status": (task(), task(status="done")),
    "task output": (task(output=rich(TEXT)), task(output="text")),
    "kind": ({"type": "divider"}, {"type": "hologram"}),
}


@pytest.mark.parametrize("edge", EDGES)
def test_the_last_that_is_taken_and_the_first_that_is_refused(edge: str) -> None:
    taken, refused = EDGES[edge]
    assert faults_of([taken]) == []
    assert faults_of([refused]) != []


def test_a_message_has_50_blocks_and_a_view_100() -> None:
    assert faults_of([{"type": "divider"}] * 50) == []
    assert faults_of([{"type": "divider"}] * 51) != []
    assert faults_of([{"type": "divider"}] * 100, "home") == []
    assert faults_of([{"type": "divider"}] * 101, "modal") != []


def test_one_table_in_a_message_and_block_ids_that_differ() -> None:
    assert faults_of([table(1, 1), table(1, 1)]) == ["only_one_table_allowed"]
    twins = [{"type": "divider", "block_id": "b"}, {"type": "divider", "block_id": "b"}]
    assert faults_of(twins) == ["`block_id` already exists: b"]


def test_a_table_is_for_messages() -> None:
    assert faults_of([table(1, 1)], "home") != []


@pytest.mark.parametrize(
    "junk", [None, 5, "text", {"type": "divider"}, [None], [5], [[]], [{}], [{"type": None}]]
)
def test_whatever_is_no_list_of_blocks_is_refused_and_nothing_falls_over(junk: Any) -> None:
    assert faults_of(junk) != []


@pytest.mark.parametrize(
    "kind", ["section", "header", "context", "actions", "rich_text", "table", "image"]
)
@pytest.mark.parametrize("junk", [None, 5, "text", [], [5], {}, {"type": 5}])
def test_junk_inside_a_block_is_refused_and_nothing_falls_over(kind: str, junk: Any) -> None:
    assert (
        faults_of([{"type": kind, "text": junk, "elements": junk, "rows": junk, "title": junk}])
        != []
    )
