"""The fake Slack answers the real WebClient as Slack does: messages, threads, tokens, scopes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from tests.fakes import BOT_USER, TEAM, FakeSlack


@pytest.fixture
def slack() -> Iterator[FakeSlack]:
    with FakeSlack(rates=False) as slack:
        yield slack


@pytest.fixture
def client(slack: FakeSlack) -> WebClient:
    return WebClient(slack.settings.bot_token, base_url=slack.api_url)


def refused(call: Any, **args: Any) -> str:
    with pytest.raises(SlackApiError) as caught:
        call(**args)
    return str(caught.value.response["error"])


def test_it_says_who_the_token_is_and_what_it_may(slack: FakeSlack, client: WebClient) -> None:
    who = client.auth_test()
    assert (who["user_id"], who["team_id"]) == (BOT_USER, TEAM)
    assert "chat:write" in who.headers["x-oauth-scopes"].split(",")


def test_a_reply_is_in_its_thread_and_not_in_the_channel(
    slack: FakeSlack, client: WebClient
) -> None:
    asked = slack.mention("why?")
    client.chat_postMessage(channel=asked.channel, thread_ts=asked.ts, text="because")
    history = client.conversations_history(channel=asked.channel)["messages"]
    replies = client.conversations_replies(channel=asked.channel, ts=asked.ts)["messages"]
    assert [m["text"] for m in history] == [asked.text]
    assert history[0]["reply_count"] == 1
    assert [m["text"] for m in replies] == [asked.text, "because"]
    assert replies[1]["bot_id"]


def test_a_thread_that_is_not_there_is_refused(client: WebClient) -> None:
    assert (
        refused(client.chat_postMessage, channel="C0GPU00001", thread_ts="1.0", text="x")
        == "thread_not_found"
    )


def test_history_is_paged_newest_first_and_replies_oldest_first(
    slack: FakeSlack, client: WebClient
) -> None:
    said = [slack.say("gpu", "sam", f"n{i}") for i in range(5)]
    for i in range(3):
        slack.say("gpu", "ana", f"r{i}", thread_ts=said[0].ts)
    page = client.conversations_history(channel="C0GPU00001", limit=2)
    assert [m["text"] for m in page["messages"]] == ["n4", "n3"]
    assert page["has_more"]
    following = client.conversations_history(
        channel="C0GPU00001", limit=2, cursor=page["response_metadata"]["next_cursor"]
    )
    assert [m["text"] for m in following["messages"]] == ["n2", "n1"]
    thread = client.conversations_replies(channel="C0GPU00001", ts=said[0].ts, limit=2)
    assert [m["text"] for m in thread["messages"]] == ["n0", "r0", "r1"]
    since = client.conversations_history(channel="C0GPU00001", oldest=said[2].ts)
    assert [m["text"] for m in since["messages"]] == ["n4", "n3"]
    since = client.conversations_history(channel="C0GPU00001", oldest=said[2].ts, inclusive=True)
    assert [m["text"] for m in since["messages"]] == ["n4", "n3", "n2"]


@pytest.mark.parametrize(
    ("channel", "error"),
    [
        ("C0NOWHERE", "channel_not_found"),
        ("C0GENERAL1", "not_in_channel"),
        ("C0OLD", "is_archived"),
    ],
)
def test_a_channel_that_cannot_be_posted_to_says_why(
    slack: FakeSlack, client: WebClient, channel: str, error: str
) -> None:
    slack.world.add_channel("old", archived=True).id = "C0OLD"
    slack.world.channels["C0OLD"] = slack.world.channel("old")
    assert refused(client.chat_postMessage, channel=channel, text="x") == error


def test_a_private_channel_without_the_bot_is_not_found(
    slack: FakeSlack, client: WebClient
) -> None:
    secret = slack.world.add_channel("secret", members=set(), kind="private")
    assert refused(client.chat_postMessage, channel=secret.id, text="x") == "channel_not_found"


def test_nothing_to_say_and_too_much_are_refused(client: WebClient) -> None:
    post = client.chat_postMessage
    assert (
        refused(client.api_call, api_method="chat.postMessage", json={"channel": "C0GPU00001"})
        == "no_text"
    )
    assert refused(post, channel="C0GPU00001", text="x" * 40_001) == "msg_too_long"
    assert refused(post, channel="C0GPU00001", markdown_text="x" * 12_001) == "msg_too_long"
    long = [{"type": "section", "text": {"type": "mrkdwn", "text": "x" * 2900}}] * 5
    assert refused(post, channel="C0GPU00001", text="x", blocks=long) == "msg_blocks_too_long"
    assert (
        refused(post, channel="C0GPU00001", text="x", blocks=[{"type": "new"}]) == "invalid_blocks"
    )


def test_an_edit_keeps_what_was_said_and_blocks_that_are_not_given(
    slack: FakeSlack, client: WebClient
) -> None:
    block = {"type": "section", "text": {"type": "mrkdwn", "text": "one"}}
    ts = client.chat_postMessage(channel="C0GPU00001", text="one", blocks=[block])["ts"]
    client.chat_update(channel="C0GPU00001", ts=ts, text="two")
    message = slack.message("gpu", ts)
    assert (message.text, message.blocks, message.versions) == ("two", [block], [("one", [block])])
    client.chat_update(channel="C0GPU00001", ts=ts, text="three", blocks=[])
    assert message.blocks == []


def test_only_own_messages_can_be_changed(slack: FakeSlack, client: WebClient) -> None:
    theirs = slack.say("gpu", "sam", "mine")
    args = {"channel": theirs.channel, "ts": theirs.ts}
    assert refused(client.chat_update, text="x", **args) == "cant_update_message"
    assert refused(client.chat_delete, **args) == "cant_delete_message"
    assert (
        refused(client.chat_update, channel=theirs.channel, ts="1.0", text="x")
        == "message_not_found"
    )


def test_a_link_of_a_reply_names_its_thread(slack: FakeSlack, client: WebClient) -> None:
    asked = slack.mention("why?")
    reply = client.chat_postMessage(channel=asked.channel, thread_ts=asked.ts, text="because")["ts"]
    link = client.chat_getPermalink(channel=asked.channel, message_ts=reply)["permalink"]
    assert link.endswith(f"/p{reply.replace('.', '')}?thread_ts={asked.ts}&cid={asked.channel}")


def test_an_ephemeral_message_is_seen_by_one_and_found_by_nobody(
    slack: FakeSlack, client: WebClient
) -> None:
    client.chat_postEphemeral(channel="C0GPU00001", user="U0SAM00001", text="psst")
    assert [m.text for m in slack.ephemeral("gpu", "sam")] == ["psst"]
    assert slack.ephemeral("gpu", "ana") == []
    assert client.conversations_history(channel="C0GPU00001")["messages"] == []


def test_tokens_are_looked_at(slack: FakeSlack, client: WebClient) -> None:
    wrong = WebClient("xoxb-wrong", base_url=slack.api_url)
    assert refused(wrong.auth_test) == "invalid_auth"
    assert refused(WebClient(base_url=slack.api_url).auth_test) == "not_authed"
    assert (
        refused(client.apps_connections_open, app_token=slack.settings.bot_token)
        == "not_allowed_token_type"
    )
    slack.settings.revoked = True
    assert refused(client.auth_test) == "token_revoked"


def test_a_missing_scope_is_named(slack: FakeSlack, client: WebClient) -> None:
    slack.settings.scopes.discard("chat:write")
    with pytest.raises(SlackApiError) as caught:
        client.chat_postMessage(channel="C0GPU00001", text="x")
    assert caught.value.response["error"] == "missing_scope"
    assert caught.value.response["needed"] == "chat:write"
    assert "files:read" in caught.value.response["provided"]
    assert (
        refused(client.conversations_open, users=["U0SAM00001"]) == "missing_scope"
    )  # im:write is not asked for


def test_a_direct_message_is_opened_by_posting_to_the_person(
    slack: FakeSlack, client: WebClient
) -> None:
    assert client.chat_postMessage(channel="U0SAM00001", text="hello")["channel"] == "D0SAM00001"
    assert [m.text for m in slack.messages("@sam")] == ["hello"]


def test_an_unknown_method_and_one_that_is_off(slack: FakeSlack, client: WebClient) -> None:
    assert refused(client.api_call, api_method="chat.shout") == "unknown_method"
    slack.without("users.info", error="feature_not_enabled")
    assert refused(client.users_info, user="U0SAM00001") == "feature_not_enabled"


def test_people_and_groups(slack: FakeSlack, client: WebClient) -> None:
    slack.world.add_user("guest", guest=True)
    slack.world.add_user("stranger", team="T0OTHER001")
    assert client.users_info(user=slack.world.user("guest").id)["user"]["is_restricted"]
    assert client.users_info(user=slack.world.user("stranger").id)["user"]["is_stranger"]
    group = client.usergroups_list()["usergroups"][0]["id"]
    assert client.usergroups_users_list(usergroup=group)["users"] == ["U0SAM00001"]


def test_a_file_takes_two_steps_and_lands_in_the_thread(
    slack: FakeSlack, client: WebClient
) -> None:
    asked = slack.mention("why?")
    client.files_upload_v2(
        channel=asked.channel,
        thread_ts=asked.ts,
        filename="E3.log",
        content="line",
        title="E3",
        alt_txt="a log",
    )
    (reply,) = slack.replies("gpu", asked.ts)
    assert reply.files[0]["name"] == "E3.log"
    assert slack.content(reply.files[0]["id"]) == b"line"
    assert [c.method for c in slack.calls() if c.method.startswith(("files.", "upload"))] == [
        "files.getUploadURLExternal",
        "upload",
        "files.completeUploadExternal",
    ]


def test_assistant_and_session_are_remembered(slack: FakeSlack, client: WebClient) -> None:
    asked = slack.mention("why?")
    where = {"channel_id": asked.channel, "thread_ts": asked.ts}
    client.assistant_threads_setStatus(status="looks", loading_messages=["one"], **where)
    client.assistant_threads_setTitle(title="CT129", **where)
    client.assistant_threads_setSuggestedPrompts(prompts=[{"title": "t", "message": "m"}], **where)
    client.agents_sessions_setStatus(status="processing", **where)
    session = slack.state.sessions[asked.channel, asked.ts]
    assert (session.status, session.title, session.state) == ("looks", "CT129", "processing")
    assert session.prompts == [{"title": "t", "message": "m"}]
    assert refused(client.agents_sessions_setStatus, status="busy", **where) == "invalid_arguments"
