"""What people do in the fake is told to the app as Slack tells it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from tests.fakes import BOT_USER, Delivery, Workspace

Plot = Callable[[Workspace, AsyncWebClient], Awaitable[None]]


def play(plot: Plot) -> None:
    """Nobody listens here: what would be told is in the record."""

    async def played() -> None:
        async with Workspace(retry_after_s=(), trigger_s=0.2) as slack:
            await plot(slack, AsyncWebClient(slack.settings.bot_token, base_url=slack.api_url))

    asyncio.run(played())


def told(slack: Workspace) -> list[dict[str, Any]]:
    return [d.event for d in slack.record.deliveries]


def test_what_a_client_sends_for_what_was_typed() -> None:
    typed = Workspace().typed("@perfsleuth is <b> & #gpu slow? see https://x.y/z?a=1&b=2")
    assert (
        typed
        == f"<@{BOT_USER}> is &lt;b&gt; &amp; <#C0GPU00001|gpu> slow? see <https://x.y/z?a=1&amp;b=2>"
    )


def test_a_direct_message_is_no_app_mention_and_a_channel_without_the_bot_tells_nothing() -> None:
    async def plot(slack: Workspace, _client: AsyncWebClient) -> None:
        slack.mention("why?", channel="@sam")
        slack.mention("why?", channel="general")
        assert [(e["type"], e["channel_type"]) for e in told(slack)] == [("message", "im")]

    play(plot)


def test_what_is_not_subscribed_is_not_told() -> None:
    async def plot(slack: Workspace, _client: AsyncWebClient) -> None:
        slack.settings.subscriptions.discard("message.channels")
        slack.mention("why?")
        assert [e["type"] for e in told(slack)] == ["app_mention"]

    play(plot)


def test_an_upload_comes_with_its_files_an_edit_and_a_deletion_with_what_was() -> None:
    async def plot(slack: Workspace, _client: AsyncWebClient) -> None:
        said = slack.say("gpu", "sam", "see", files=[("serve.log", b"x")])
        slack.edit("gpu", said.ts, "look")
        slack.remove("gpu", said.ts)
        upload, edit, deletion = told(slack)
        assert (upload["subtype"], upload["files"][0]["name"]) == ("file_share", "serve.log")
        assert edit["subtype"] == "message_changed"
        assert (edit["previous_message"]["text"], edit["message"]["text"]) == ("see", "look")
        assert (deletion["subtype"], deletion["deleted_ts"]) == ("message_deleted", said.ts)
        assert slack.messages("gpu") == []

    play(plot)


def test_another_bot_is_told_as_one() -> None:
    async def plot(slack: Workspace, _client: AsyncWebClient) -> None:
        slack.say_as_bot("gpu", f"<@{BOT_USER}> hello")
        (event,) = told(slack)
        assert (event["subtype"], bool(event["bot_id"])) == ("bot_message", True)

    play(plot)


def test_a_message_said_silently_is_in_the_history_only() -> None:
    async def plot(slack: Workspace, client: AsyncWebClient) -> None:
        said = slack.say_silently("gpu", "sam", "anybody?")
        assert told(slack) == []
        assert (await client.conversations_history(channel=said.channel))["messages"][0][
            "ts"
        ] == said.ts

    play(plot)


def test_home_the_assistant_and_stop_are_events() -> None:
    async def plot(slack: Workspace, client: AsyncWebClient) -> None:
        slack.open_home("sam")
        thread = slack.open_assistant("sam", context_channel="gpu")
        stream = await client.chat_startStream(channel=thread.channel, thread_ts=thread.ts)
        slack.stop_session("@sam", thread.ts, "sam")
        slack.change_context(thread, "sam", "general")
        home, started, _echo, stopped, changed = told(slack)
        assert (home["type"], home["tab"]) == ("app_home_opened", "home")
        assert started["assistant_thread"]["context"]["channel_id"] == "C0GPU00001"
        assert stopped["type"] == "agent_session_stopped"
        assert stopped["streaming_message_ts"] == [stream["ts"]]
        assert changed["assistant_thread"]["context"]["channel_id"] == "C0GENERAL1"

    play(plot)


def test_a_shortcut_carries_the_message() -> None:
    async def plot(slack: Workspace, _client: AsyncWebClient) -> None:
        said = slack.say("gpu", "ana", "it is slow")
        chosen = slack.shortcut("diagnose_this", "gpu", said.ts, "sam")
        assert chosen.payload["type"] == "message_action"
        assert (chosen.payload["message"]["text"], chosen.payload["user"]["name"]) == (
            "it is slow",
            "sam",
        )

    play(plot)


async def a_button(client: AsyncWebClient) -> str:
    element = {
        "type": "button",
        "action_id": "go",
        "value": "7",
        "text": {"type": "plain_text", "text": "Go"},
    }
    blocks = [{"type": "actions", "elements": [element]}]
    return str(
        (await client.chat_postMessage(channel="C0GPU00001", text="Go?", blocks=blocks))["ts"]
    )


def test_a_press_can_be_answered_by_its_response_url_five_times() -> None:
    async def plot(slack: Workspace, client: AsyncWebClient) -> None:
        ts = await a_button(client)
        pressed: Delivery = slack.press("gpu", ts, "go", "sam", value="7")
        url = pressed.payload["response_url"]
        async with aiohttp.ClientSession() as http:
            statuses = []
            for number in range(6):
                async with http.post(url, json={"text": f"n{number}"}) as response:
                    statuses.append(response.status)
            assert statuses == [200] * 5 + [404]
            assert [m.text for m in slack.ephemeral("gpu", "sam")] == ["n0", "n1", "n2", "n3", "n4"]
            again = slack.press("gpu", ts, "go", "sam").payload["response_url"]
            await http.post(again, json={"text": "done", "replace_original": True})
        assert slack.message("gpu", ts).text == "done"
        with pytest.raises(LookupError):
            slack.press("gpu", ts, "go", "sam")

    play(plot)


def view(**more: Any) -> dict[str, Any]:
    title = {"type": "plain_text", "text": "Why"}
    return {"type": "modal", "title": title, "blocks": [{"type": "divider"}], **more}


def test_a_trigger_opens_one_modal_within_its_seconds() -> None:
    async def plot(slack: Workspace, client: AsyncWebClient) -> None:
        ts = await a_button(client)
        trigger = slack.press("gpu", ts, "go", "sam").payload["trigger_id"]
        late = slack.press("gpu", ts, "go", "sam").payload["trigger_id"]
        await client.views_open(trigger_id=trigger, view=view())
        assert await refusal(client, trigger_id="1.2.3") == "invalid_trigger_id"
        assert await refusal(client, trigger_id=trigger) == "expired_trigger_id"
        await asyncio.sleep(0.25)
        assert await refusal(client, trigger_id=late) == "expired_trigger_id"
        assert len(slack.open_views("sam")) == 1

    play(plot)


async def refusal(client: AsyncWebClient, **args: Any) -> str:
    with pytest.raises(SlackApiError) as caught:
        await client.views_open(**{"view": view(), **args})
    return str(caught.value.response["error"])


@pytest.mark.parametrize(
    "wrong",
    [
        {"title": {"type": "plain_text", "text": "x" * 25}},
        {"submit": {"type": "plain_text", "text": "x" * 25}},
        {"private_metadata": "x" * 3001},
        {"type": "home"},
        {"blocks": [{"type": "divider"}] * 101},
    ],
)
def test_a_modal_beyond_its_limits_is_refused(wrong: dict[str, Any]) -> None:
    async def plot(slack: Workspace, client: AsyncWebClient) -> None:
        trigger = slack.press("gpu", await a_button(client), "go", "sam").payload["trigger_id"]
        assert await refusal(client, trigger_id=trigger, view=view(**wrong)) == "invalid_arguments"
        assert slack.open_views("sam") == []

    play(plot)


def test_home_is_published_for_one_person_and_its_buttons_can_be_pressed() -> None:
    async def plot(slack: Workspace, client: AsyncWebClient) -> None:
        element = {
            "type": "button",
            "action_id": "ask",
            "text": {"type": "plain_text", "text": "Ask"},
            "value": "CT129",
        }
        home = {"type": "home", "blocks": [{"type": "actions", "elements": [element]}]}
        await client.views_publish(user_id="U0SAM00001", view=home)
        assert list(slack.state.homes) == ["U0SAM00001"]
        pressed = slack.press_in_view(None, "ask", "sam")
        assert (pressed.payload["view"]["type"], pressed.payload["actions"][0]["value"]) == (
            "home",
            "CT129",
        )

    play(plot)
