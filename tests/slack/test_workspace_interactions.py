"""What people press in the fake reaches Bolt, and what Bolt answers is seen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from tests.fakes import Workspace

Test = Callable[[], Coroutine[Any, Any, None]]


@asynccontextmanager
async def an_app(slack: Workspace) -> AsyncIterator[AsyncApp]:
    """A bot of Bolt that is connected; its listeners may be added later."""
    client = AsyncWebClient(slack.settings.bot_token, base_url=slack.api_url)
    app = AsyncApp(client=client)
    handler = AsyncSocketModeHandler(app, slack.settings.app_token, ping_interval=0.5)
    await handler.connect_async()
    await slack.connected()
    try:
        yield app
    finally:
        await handler.close_async()


def test_buttons_modals_commands_and_answers_work_with_bolt() -> None:
    async def test() -> None:
        async with Workspace() as slack, an_app(slack) as app:

            @app.event("message")
            async def message() -> None:
                pass

            reasons: list[str] = []
            field = {"type": "plain_text_input", "action_id": "why"}
            label = {"type": "plain_text", "text": "Why"}

            @app.action("right")
            async def right(ack: Any, body: dict[str, Any], client: AsyncWebClient) -> None:
                await ack()
                blocks = [{"type": "input", "block_id": "b", "label": label, "element": field}]
                view = {
                    "type": "modal",
                    "callback_id": "reason",
                    "title": label,
                    "submit": label,
                    "blocks": blocks,
                }
                await client.views_open(trigger_id=body["trigger_id"], view=view)
                with pytest.raises(Exception, match="expired_trigger_id"):
                    await client.views_open(trigger_id=body["trigger_id"], view=view)

            @app.view("reason")
            async def reason(ack: Any, view: dict[str, Any]) -> None:
                await ack()
                reasons.append(view["state"]["values"]["b"]["why"]["value"])

            @app.command("/perf")
            async def perf(ack: Any, command: dict[str, Any]) -> None:
                await ack(f"hosts: {command['text']}")

            yes, no = (
                {"text": {"type": "plain_text", "text": t}, "value": f"{t}:1"}
                for t in ("yes", "no")
            )
            asks = {
                "type": "feedback_buttons",
                "action_id": "right",
                "positive_button": yes,
                "negative_button": no,
            }
            blocks = [{"type": "context_actions", "elements": [asks]}]
            ts = (
                await app.client.chat_postMessage(
                    channel="C0GPU00001", text="Right?", blocks=blocks
                )
            )["ts"]
            pressed = slack.press("gpu", ts, "right", "sam", "no:1")
            assert pressed.payload["actions"][0]["value"] == "no:1"
            with pytest.raises(LookupError):
                slack.press("gpu", ts, "wrong", "sam")
            (view,) = await slack.until(lambda: slack.open_views("sam"))
            slack.submit(view, {"why": "it was NUMA"})
            await slack.until(lambda: not slack.open_views("sam"))
            assert reasons == ["it was NUMA"]
            slack.command("/perf CT129", "gpu", "ana")
            (seen,) = await slack.until(lambda: slack.ephemeral("gpu", "ana"))
            assert seen.text == "hosts: CT129"

    asyncio.run(test())


def test_a_command_that_nobody_acks_fails_before_the_person() -> None:
    async def test() -> None:
        async with Workspace(ack_s=0.1) as slack:
            slack.command("/perf hosts", "gpu", "sam")
            (seen,) = await slack.until(lambda: slack.ephemeral("gpu", "sam"))
            assert "dispatch_failed" in seen.text

    asyncio.run(test())
