"""Socket Mode of the fake with the real AsyncApp: acks, retries, reconnects, drops."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
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


async def heard_of(app: AsyncApp, *kinds: str) -> list[tuple[str, dict[str, Any]]]:
    """What the app hears, from now on."""
    heard: list[tuple[str, dict[str, Any]]] = []
    for kind in kinds:

        async def listen(body: dict[str, Any], event: dict[str, Any]) -> None:
            heard.append((body["event_id"], event))

        app.event(kind)(listen)
    return heard


def test_a_mention_is_told_twice_with_two_event_ids_and_acked_before_the_listener_ends() -> None:
    async def test() -> None:
        async with Workspace() as slack, an_app(slack) as app:
            heard = await heard_of(app, "app_mention", "message")
            asked = slack.mention("why?")
            await slack.until(lambda: len(heard) == 2)
            assert {e["type"] for _, e in heard} == {"app_mention", "message"}
            assert len({key for key, _ in heard}) == 2
            assert {e["ts"] for _, e in heard} == {asked.ts}
            await slack.until(lambda: all(d.acked for d in slack.record.deliveries))
            assert all(len(d.tries) == 1 for d in slack.record.deliveries)
            assert slack.record.ack_ms()[0] > 0

    asyncio.run(test())


def test_an_answer_of_the_app_is_told_to_the_app_itself() -> None:
    async def test() -> None:
        async with Workspace() as slack, an_app(slack) as app:
            posted = await app.client.chat_postMessage(channel="C0GPU00001", text="hello")
            await app.client.chat_update(channel="C0GPU00001", ts=posted["ts"], text="hello you")
            first, second = slack.record.events("message")
            assert first.event["bot_id"]
            assert second.event["subtype"] == "message_changed"
            assert second.event["previous_message"]["text"] == "hello"
            await slack.until(lambda: first.acked and second.acked)

    asyncio.run(test())


def test_what_is_not_acked_comes_again_with_the_same_event_id_three_times_at_most() -> None:
    async def test() -> None:
        async with (
            Workspace(ack_s=0.1, retry_after_s=(0.0, 0.05, 0.1)) as slack,
            an_app(slack) as app,
        ):
            tries: list[tuple[Any, ...]] = []

            @app.middleware
            async def never(body: dict[str, Any], req: Any) -> None:
                tries.append(
                    (
                        body["event_id"],
                        req.headers.get("x-slack-retry-num"),
                        req.headers.get("x-slack-retry-reason"),
                    )
                )

            slack.say("@sam", "sam", "hello")
            delivery = slack.record.deliveries[0]
            await slack.until(lambda: delivery.done)
            assert not delivery.acked
            assert [t.failed for t in delivery.tries] == ["timeout"] * 4
            await slack.until(lambda: len(tries) == 4)
            assert [t[0] for t in tries] == [delivery.key] * 4
            assert [t[1] for t in tries][1:] == [["1"], ["2"], ["3"]]
            assert tries[1][2] == ["timeout"]

    asyncio.run(test())


def test_a_polite_disconnect_is_followed_by_a_new_socket_and_nothing_is_lost() -> None:
    async def test() -> None:
        async with Workspace() as slack, an_app(slack) as app:
            heard = await heard_of(app, "app_mention", "message")
            await slack.refresh_sockets()
            asked = slack.mention("still there?")
            await slack.until(lambda: slack.sockets.made == 2 and len(slack.sockets.open) == 1)
            await slack.until(
                lambda: [e["ts"] for _, e in heard if e["type"] == "app_mention"] == [asked.ts], 10
            )

    asyncio.run(test())


def test_an_event_in_flight_on_a_dropped_socket_comes_again_over_another() -> None:
    async def test() -> None:
        async with (
            Workspace(retry_after_s=(0.2, 1.0, 2.0)) as slack,
            an_app(slack) as first,
            an_app(slack) as second,
        ):
            heard = [await heard_of(app, "message") for app in (first, second)]
            slack.faults.cut_socket_every(1)
            slack.say("@sam", "sam", "hello")
            delivery = slack.record.deliveries[0]
            await slack.until(
                lambda: (delivery.tries and delivery.tries[0].failed) or delivery.acked
            )
            slack.faults.over()
            await slack.until(lambda: delivery.done)
            assert delivery.acked
            assert len(delivery.tries) == 2
            assert delivery.tries[0].failed == "socket_gone"
            assert delivery.tries[0].socket != delivery.tries[1].socket
            assert {key for one in heard for key, _ in one} == {delivery.key}

    asyncio.run(test())


def test_with_no_socket_an_event_is_lost_after_its_tries_but_the_history_has_it() -> None:
    async def test() -> None:
        async with Workspace(retry_after_s=(0.0, 0.05)) as slack:
            said = slack.say("@sam", "sam", "anybody?")
            delivery = slack.record.deliveries[0]
            await slack.until(lambda: delivery.done)
            assert [t.failed for t in delivery.tries] == ["no_socket"] * 3
            client = AsyncWebClient(slack.settings.bot_token, base_url=slack.api_url)
            found = await client.conversations_history(channel=said.channel)
            assert [m["text"] for m in found["messages"]] == ["anybody?"]

    asyncio.run(test())


def test_a_duplicate_has_the_same_event_id() -> None:
    async def test() -> None:
        async with Workspace() as slack, an_app(slack) as app:
            heard = await heard_of(app, "message")
            slack.say("@sam", "sam", "hello")
            slack.again(slack.record.deliveries[0])
            await slack.until(lambda: len(heard) == 2)
            assert heard[0] == heard[1]

    asyncio.run(test())


def test_events_go_by_turns_and_an_eleventh_socket_is_turned_away() -> None:
    async def test() -> None:
        async with Workspace() as slack, aiohttp.ClientSession() as http:
            sockets = []
            for _ in range(11):
                client = AsyncWebClient(slack.settings.app_token, base_url=slack.api_url)
                opened = await client.apps_connections_open(app_token=slack.settings.app_token)
                sockets.append(await http.ws_connect(opened["url"]))
            hellos = [await ws.receive_json() for ws in sockets]
            assert [h["type"] for h in hellos] == ["hello"] * 10 + ["disconnect"]
            assert hellos[-1]["reason"] == "too_many_websockets"
            told = [slack.say("@sam", "sam", f"n{i}") for i in range(10)]
            seen = [(await ws.receive_json())["payload"]["event"]["ts"] for ws in sockets[:10]]
            assert sorted(seen) == [m.ts for m in told]

    asyncio.run(test())


def test_a_socket_needs_a_ticket_that_is_good_once() -> None:
    async def test() -> None:
        async with Workspace() as slack, aiohttp.ClientSession() as http:
            client = AsyncWebClient(slack.settings.app_token, base_url=slack.api_url)
            url = (await client.apps_connections_open(app_token=slack.settings.app_token))["url"]
            ws = await http.ws_connect(url)
            with pytest.raises(aiohttp.WSServerHandshakeError):
                await http.ws_connect(url)
            await ws.close()

    asyncio.run(test())
