"""What the rendered view finds: every way to mention and to link, and the ways that do neither."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fakes import rendered


def section(text: str, **more: Any) -> dict[str, Any]:
    return {"blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": text, **more}}]}


def rich(element: dict[str, Any]) -> dict[str, Any]:
    inner = {"type": "rich_text_section", "elements": [element]}
    return {"blocks": [{"type": "rich_text", "elements": [inner]}]}


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ({"text": "hi <!channel>"}, "!channel"),
        ({"text": "hi <!here|here>"}, "!here"),
        ({"text": "hi @here"}, "@here"),
        ({"text": "hi <@U123>"}, "@U123"),
        ({"text": "hi <!subteam^S1>"}, "!subteam^S1"),
        (section("`<!everyone>`"), "!everyone"),
        (section("see <#C1|gpu>"), "#C1"),
        (rich({"type": "user", "user_id": "U1"}), "U1"),
        (rich({"type": "broadcast", "range": "here"}), "here"),
        ({"blocks": [{"type": "markdown", "text": "<!channel>"}]}, "!channel"),
        ({"chunks": [{"type": "markdown_text", "text": "<@U1>"}]}, "@U1"),
        ({"chunks": [{"type": "task_update", "id": "1", "output": "<!here>"}]}, "!here"),
        ({"chunks": [{"type": "blocks", "blocks": section("<!here>")["blocks"]}]}, "!here"),
    ],
)
def test_it_finds_whom_a_message_mentions(message: dict[str, Any], found: str) -> None:
    assert rendered(message).mentions == [found]


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ({"text": "<https://evil|x>"}, "https://evil"),
        ({"text": "at https://evil/x now"}, "https://evil/x"),
        ({"text": "at www.evil.com now"}, "www.evil.com"),
        ({"text": "at evil.com now"}, "evil.com"),
        ({"text": "to a@evil.org now"}, "a@evil.org"),
        (section("<mailto:a@b.c|x>"), "mailto:a@b.c"),
        (section("https://evil"), "https://evil"),
        (rich({"type": "link", "url": "https://evil"}), "https://evil"),
        ({"blocks": [{"type": "markdown", "text": "[x](https://evil)"}]}, "https://evil"),
        (
            {"blocks": [{"type": "markdown", "text": "![x](https://evil/i.png)"}]},
            "https://evil/i.png",
        ),
        ({"blocks": [{"type": "markdown", "text": "[x]: https://evil"}]}, "https://evil"),
        ({"chunks": [{"type": "markdown_text", "text": "<https://evil>"}]}, "https://evil"),
        (
            {"chunks": [{"type": "task_update", "id": "1", "sources": [{"url": "https://evil"}]}]},
            "https://evil",
        ),
        (
            {
                "blocks": [
                    {"type": "actions", "elements": [{"type": "button", "url": "https://evil"}]}
                ]
            },
            "https://evil",
        ),
    ],
)
def test_it_finds_where_a_message_links(message: dict[str, Any], found: str) -> None:
    assert found in rendered(message).links


HOSTILE = "<!channel> @here <@U1> https://evil [x](https://evil) a@evil.org"


@pytest.mark.parametrize(
    "message",
    [
        rich({"type": "text", "text": HOSTILE}),
        {"blocks": [{"type": "header", "text": {"type": "plain_text", "text": HOSTILE}}]},
        {"blocks": [{"type": "table", "rows": [[{"type": "raw_text", "text": HOSTILE}]]}]},
        section("https://quiet", verbatim=True),
        {"text": "&lt;!channel&gt; &lt;@U1&gt;"},
        {"blocks": [{"type": "markdown", "text": r"\[x\](y) `https://in/code`"}]},
        {"text": "decode 55.5 tok/s at server_args.py:1230, 2.5 GT/s, and e.g. 3.2"},
    ],
)
def test_what_is_plain_mentions_nobody_and_links_nowhere(message: dict[str, Any]) -> None:
    found = rendered(message)
    assert (found.mentions, found.links) == ([], [])


def test_an_image_that_is_fetched_is_told() -> None:
    image = {"type": "image", "image_url": "https://evil/i.png", "alt_text": "x"}
    assert rendered({"blocks": [image]}).images == ["https://evil/i.png"]
