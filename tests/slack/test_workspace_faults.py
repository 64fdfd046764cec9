"""Faults of the fake: rate limits, lost answers, outages, and HTTP mode with its signatures."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any
from urllib.error import URLError

import pytest
from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.async_app import AsyncApp
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from tests.fakes import FakeSlack, Workspace

GPU = "C0GPU00001"


@pytest.fixture
def slack() -> Iterator[FakeSlack]:
    with FakeSlack() as slack:
        yield slack


@pytest.fixture
def client(slack: FakeSlack) -> WebClient:
    return WebClient(slack.settings.bot_token, base_url=slack.api_url, timeout=2, retry_handlers=[])


def posted(client: WebClient, channel: str = GPU) -> tuple[int, str | None]:
    """Status and Retry-After of one post."""
    try:
        response = client.chat_postMessage(channel=channel, text="x")
    except SlackApiError as error:
        return error.response.status_code, error.response.headers.get("Retry-After")
    return response.status_code, None


def test_a_channel_takes_a_burst_then_one_message_a_second_and_others_do_not_mind(
    slack: FakeSlack, client: WebClient
) -> None:
    assert [posted(client)[0] for _ in range(4)] == [200] * 4
    # at once, or when it was faster than what comes back
    assert next(told for _ in range(100) if (told := posted(client))[0] != 200) == (429, "1")
    assert posted(client, "D0SAM00001")[0] == 200
    slack.settings.rates = False
    assert posted(client)[0] == 200


def test_a_tier_is_so_many_calls_a_minute(slack: FakeSlack, client: WebClient) -> None:
    for _ in range(20):
        client.usergroups_list()
    with pytest.raises(SlackApiError) as caught:  # noqa: PT012 - some come back on a slow machine
        for _ in range(500):
            client.usergroups_list()
    assert caught.value.response.status_code == 429
    assert int(caught.value.response.headers["Retry-After"]) >= 1


def test_every_third_call_is_told_to_wait(slack: FakeSlack, client: WebClient) -> None:
    slack.settings.rates = False
    slack.faults.every(3, "ratelimited", seconds=2)
    assert [posted(client) for _ in range(6)] == [(200, None), (200, None), (429, "2")] * 2
    assert len(slack.messages("gpu")) == 4


def test_an_answer_can_be_lost_before_and_after_the_message_was_posted(
    slack: FakeSlack, client: WebClient
) -> None:
    slack.faults.next("chat.postMessage", "drop_before")
    with pytest.raises((URLError, OSError)):
        posted(client)
    assert slack.messages("gpu") == []
    slack.faults.next("chat.postMessage", "drop_after")
    with pytest.raises((URLError, OSError)):
        posted(client)
    assert [m.text for m in slack.messages("gpu")] == ["x"]
    assert [c.answer for c in slack.calls("chat.postMessage")] == [None, None]


def test_an_error_a_page_of_html_and_silence(slack: FakeSlack, client: WebClient) -> None:
    slack.faults.next("chat.postMessage", "error", word="fatal_error")
    with pytest.raises(SlackApiError, match="fatal_error"):
        client.chat_postMessage(channel=GPU, text="x")
    slack.faults.next("chat.postMessage", "status", code=502)
    with pytest.raises(SlackApiError, match="non-JSON"):
        client.chat_postMessage(channel=GPU, text="x")
    assert slack.calls()[-1].status == 502
    slack.faults.next("chat.postMessage", "hang", seconds=5)
    impatient = WebClient(
        slack.settings.bot_token, base_url=slack.api_url, timeout=1, retry_handlers=[]
    )
    with pytest.raises(TimeoutError):
        posted(impatient)
    assert slack.messages("gpu") == []


def test_an_outage_refuses_everything_and_then_is_over(slack: FakeSlack, client: WebClient) -> None:
    slack.faults.outage(60)
    assert posted(client)[0] == 503
    slack.faults.over()
    assert posted(client)[0] == 200


def test_a_download_without_the_right_token_is_a_page_to_sign_in() -> None:
    async def test() -> None:
        async with Workspace() as slack, web_session() as http:
            said = slack.say("gpu", "sam", "see", files=[("serve.log", b"decode 55")])
            url = said.files[0]["url_private_download"]
            right = {"Authorization": f"Bearer {slack.settings.bot_token}"}
            for headers in ({}, {"Authorization": "Bearer xoxb-wrong"}):
                async with http.get(url, headers=headers) as response:
                    assert (response.status, response.content_type) == (200, "text/html")
            async with http.get(url, headers=right) as response:
                assert await response.read() == b"decode 55"
            slack.settings.scopes.discard("files:read")
            async with http.get(url, headers=right) as response:
                assert response.content_type == "text/html"

    asyncio.run(test())


def web_session() -> Any:
    import aiohttp

    return aiohttp.ClientSession()


def test_in_http_mode_only_a_right_and_fresh_signature_is_heard() -> None:
    async def test() -> None:
        async with Workspace(retry_after_s=(0.0,)) as slack:
            client = AsyncWebClient(slack.settings.bot_token, base_url=slack.api_url)
            app = AsyncApp(client=client, signing_secret=slack.settings.signing_secret)
            heard: list[tuple[str, Any]] = []

            @app.event("message")
            async def listen(body: dict[str, Any], req: Any) -> None:
                heard.append((body["event_id"], req.headers.get("x-slack-retry-num")))

            async def handle(request: web.Request) -> web.Response:
                return await to_aiohttp_response(
                    await app.async_dispatch(await to_bolt_request(request))
                )

            server = web.Application()
            server.router.add_post("/slack/events", handle)
            runner = web.AppRunner(server)
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            there = slack.events_to(f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events")
            status, challenge = await there.verify()
            assert (status, "lab-challenge" in challenge) == (200, True)

            slack.say("@sam", "sam", "hello")
            await slack.until(lambda: slack.record.deliveries[0].done)
            assert [key for key, _ in heard] == [slack.record.deliveries[0].key]
            there.secret = "wrong"
            slack.say("@sam", "sam", "forged")
            there_is = slack.record.deliveries[1]
            await slack.until(lambda: there_is.done)
            assert not there_is.acked
            there.secret, there.age_s = slack.settings.signing_secret, 600
            slack.say("@sam", "sam", "stale")
            await slack.until(lambda: slack.record.deliveries[2].done)
            assert there.statuses == [200, 200, 401, 401, 401, 401]
            assert len(heard) == 1
            await runner.cleanup()

    asyncio.run(test())


def test_in_http_mode_a_closed_port_is_tried_again_with_its_reason() -> None:
    async def test() -> None:
        async with Workspace(retry_after_s=(0.0, 0.0)) as slack:
            slack.events_to("http://127.0.0.1:9/slack/events")
            slack.say("@sam", "sam", "hello")
            delivery = slack.record.deliveries[0]
            await slack.until(lambda: delivery.done)
            assert [t.failed for t in delivery.tries] == ["connection_failed"] * 3

    asyncio.run(test())
