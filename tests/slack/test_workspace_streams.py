"""Streams of the fake: they grow, they end, and they die of age as Slack's do."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from tests.fakes import TEAM, FakeSlack, Message

FOR_SAM = {"recipient_team_id": TEAM, "recipient_user_id": "U0SAM00001"}


@pytest.fixture
def slack() -> Iterator[FakeSlack]:
    with FakeSlack(rates=False) as slack:
        yield slack


@pytest.fixture
def client(slack: FakeSlack) -> WebClient:
    return WebClient(slack.settings.bot_token, base_url=slack.api_url)


@pytest.fixture
def asked(slack: FakeSlack) -> Message:
    return slack.mention("why?")


def refused(call: Any, **args: Any) -> str:
    with pytest.raises(SlackApiError) as caught:
        call(**args)
    return str(caught.value.response["error"])


def start(client: WebClient, asked: Message, **more: Any) -> str:
    begun = client.chat_startStream(channel=asked.channel, thread_ts=asked.ts, **FOR_SAM, **more)
    return str(begun["ts"])


def task(status: str, **more: Any) -> dict[str, Any]:
    return {"type": "task_update", "id": "1", "title": "The log", "status": status, **more}


def test_a_task_keeps_its_place_and_its_output_grows(
    slack: FakeSlack, client: WebClient, asked: Message
) -> None:
    marked = {"type": "divider", "block_id": "psl:run:1:trail"}
    ts = start(
        client, asked, task_display_mode="plan", chunks=[{"type": "blocks", "blocks": [marked]}]
    )
    place = {"channel": asked.channel, "ts": ts}
    client.chat_appendStream(
        chunks=[{"type": "plan_update", "title": "Looking"}, task("in_progress")], **place
    )
    client.chat_appendStream(markdown_text="It *seems* fine.", **place)
    client.chat_appendStream(
        chunks=[task("complete", output="55 "), task("complete", output="tok/s")], **place
    )
    seen = client.conversations_replies(channel=asked.channel, ts=asked.ts)["messages"][1]
    first, plan, text = seen["blocks"]
    assert first == marked
    assert (plan["title"], plan["tasks"][0]["status"]) == ("Looking", "complete")
    assert plan["tasks"][0]["output"]["elements"][0]["elements"][0]["text"] == "55 tok/s"
    assert text["text"] == seen["text"] == "It *seems* fine."


def test_in_a_channel_it_must_be_said_for_whom_but_not_in_a_direct_message(
    slack: FakeSlack, client: WebClient, asked: Message
) -> None:
    where = {"channel": asked.channel, "thread_ts": asked.ts}
    assert refused(client.chat_startStream, **where) == "missing_recipient_team_id"
    assert (
        refused(client.chat_startStream, recipient_team_id=TEAM, **where)
        == "missing_recipient_user_id"
    )
    direct = slack.say("@sam", "sam", "why?")
    assert client.chat_startStream(channel=direct.channel, thread_ts=direct.ts)["ok"]


def test_a_stopped_stream_is_an_ordinary_message(
    slack: FakeSlack, client: WebClient, asked: Message
) -> None:
    ts = start(client, asked, markdown_text="one")
    place = {"channel": asked.channel, "ts": ts}
    assert refused(client.chat_update, text="x", **place) == "streaming_state_conflict"
    client.chat_stopStream(markdown_text=" two", blocks=[{"type": "divider"}], **place)
    assert slack.message("gpu", ts).wire()["text"] == "one two"
    assert [b["type"] for b in slack.message("gpu", ts).shown_blocks()] == ["markdown", "divider"]
    assert (
        refused(client.chat_appendStream, markdown_text="x", **place)
        == "message_not_in_streaming_state"
    )
    client.chat_update(text="three", blocks=[{"type": "divider"}], **place)
    assert [b["type"] for b in slack.message("gpu", ts).shown_blocks()] == ["divider"]


def test_a_stream_dies_of_age(slack: FakeSlack, client: WebClient, asked: Message) -> None:
    slack.settings.stream_s = 60.0
    ts = start(client, asked, markdown_text="one")
    place = {"channel": asked.channel, "ts": ts}
    client.chat_appendStream(markdown_text=" two", **place)
    stream = slack.message("gpu", ts).stream
    assert stream
    assert 0 < stream.ends_at - time.monotonic() <= 60
    stream.ends_at = 0.0
    assert (
        refused(client.chat_appendStream, markdown_text="x", **place)
        == "message_not_in_streaming_state"
    )
    assert refused(client.chat_stopStream, **place) == "message_not_in_streaming_state"
    assert client.chat_update(text="three", blocks=[], **place)["ok"]


def test_what_is_too_long_or_no_chunk_is_refused(
    slack: FakeSlack, client: WebClient, asked: Message
) -> None:
    place = {"channel": asked.channel, "ts": start(client, asked)}
    append = client.chat_appendStream
    assert refused(append, markdown_text="x" * 12_001, **place) == "msg_too_long"
    assert (
        refused(append, markdown_text="x", chunks=[task("complete")], **place)
        == "invalid_arguments"
    )
    assert refused(append, chunks=[task("done")], **place) == "invalid_chunks"
    assert refused(append, chunks=[task("complete", output="x" * 257)], **place) == "invalid_chunks"
    assert refused(append, chunks=[{"type": "dance"}], **place) == "invalid_chunks"
    assert (
        refused(append, chunks=[{"type": "blocks", "blocks": [{"type": "no"}]}], **place)
        == "invalid_blocks"
    )
    assert append(markdown_text="x" * 9000, **place)["ok"]
    assert refused(append, markdown_text="x" * 2000, **place) == "msg_too_long"  # all of it counts


def test_a_stream_of_51_blocks_is_refused(
    slack: FakeSlack, client: WebClient, asked: Message
) -> None:
    place = {"channel": asked.channel, "ts": start(client, asked)}
    fifty = [{"type": "blocks", "blocks": [{"type": "divider"}] * 50}]
    assert client.chat_appendStream(chunks=fifty, **place)["ok"]
    one = [{"type": "blocks", "blocks": [{"type": "divider"}]}]
    assert refused(client.chat_appendStream, chunks=one, **place) == "invalid_blocks"


def test_the_helper_of_the_sdk_streams(slack: FakeSlack, client: WebClient, asked: Message) -> None:
    stream = client.chat_stream(channel=asked.channel, thread_ts=asked.ts, buffer_size=4, **FOR_SAM)
    stream.append(markdown_text="Hello, ")
    stream.append(markdown_text="world")
    stream.stop(session_status="active")
    assert slack.replies("gpu", asked.ts)[0].wire()["text"] == "Hello, world"
    assert slack.state.sessions[asked.channel, asked.ts].state == "active"
