"""The page's server: whom it serves, what it sends, and what it lets a person do."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from bot.demo.acts import Acts
from bot.demo.guard import TOKEN_HEADER
from bot.demo.page_server import PageServer
from bot.demo.view import View
from bot.demo.workspace import Workspace

Check = Callable[["Visit"], Awaitable[None]]


class Visit:
    """A workspace without a bot, its page, and a client."""

    def __init__(self, slack: Workspace, page: PageServer, client: aiohttp.ClientSession) -> None:
        self.slack, self.page, self.client = slack, page, client
        self.me = slack.world.user("sam").id
        self.gpu = slack.world.channel("gpu").id

    async def post(self, act: str, **body: Any) -> tuple[int, dict[str, Any]]:
        headers = {TOKEN_HEADER: self.page.guard.token}
        async with self.client.post(self.page.url + act, json=body, headers=headers) as answer:
            return answer.status, await answer.json()

    async def say(self, text: str, *files: tuple[str, bytes]) -> tuple[int, dict[str, Any]]:
        form = aiohttp.FormData(
            {"channel": self.gpu, "text": text}, quote_fields=False, default_to_multipart=True
        )
        for name, content in files:
            form.add_field("file", content, filename=name)
        headers = {TOKEN_HEADER: self.page.guard.token}
        async with self.client.post(self.page.url + "say", data=form, headers=headers) as answer:
            return answer.status, await answer.json()


@asynccontextmanager
async def visit() -> AsyncIterator[Visit]:
    async with Workspace() as slack, aiohttp.ClientSession() as client:
        me = slack.world.user("sam").id
        page = PageServer(View(slack.state, me), Acts(slack, me))
        slack.listen(page.changed)
        await page.start()
        try:
            yield Visit(slack, page, client)
        finally:
            await page.close()


def during(check: Check) -> None:
    async def whole() -> None:
        async with visit() as there:
            await check(there)

    asyncio.run(whole())


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.evil.example", ""]
)
def test_a_name_that_was_rebound_to_this_machine_is_not_served(host: str) -> None:
    async def check(there: Visit) -> None:
        for path in ("", "events", "static/script/app.js"):
            async with there.client.get(there.page.url + path, headers={"Host": host}) as answer:
                assert answer.status == 403
                assert there.page.guard.token not in await answer.text()

    during(check)


@pytest.mark.parametrize(
    "headers",
    [{}, {TOKEN_HEADER: "guessed"}, {TOKEN_HEADER: "right", "Origin": "http://evil.example"}],
)
def test_an_act_needs_the_token_of_this_start_and_comes_from_this_page(
    headers: dict[str, str],
) -> None:
    async def check(there: Visit) -> None:
        sent = {
            name: there.page.guard.token if value == "right" else value
            for name, value in headers.items()
        }
        body = {"channel": there.gpu, "text": "/perf hosts"}
        async with there.client.post(there.page.url + "command", json=body, headers=sent) as answer:
            assert answer.status == 403
        assert not there.slack.record.deliveries

    during(check)


def test_every_answer_forbids_what_is_not_of_the_page() -> None:
    async def check(there: Visit) -> None:
        for path in ("", "static/avatar.svg", "static/none.js", "file/F0"):
            async with there.client.get(there.page.url + path) as answer:
                policy = answer.headers["Content-Security-Policy"]
                assert policy.startswith(("default-src 'self';", "default-src 'none'"))
                assert "unsafe" not in policy
                assert answer.headers["X-Content-Type-Options"] == "nosniff"

    during(check)


@pytest.mark.parametrize(
    "path", ["../__init__.py", "..%2f__init__.py", "%2e%2e/guard.py", "look", "/etc/passwd"]
)
def test_nothing_beside_the_page_is_served(path: str) -> None:
    async def check(there: Visit) -> None:
        from yarl import URL

        async with there.client.get(URL(f"{there.page.url}static/{path}", encoded=True)) as answer:
            assert answer.status == 404

    during(check)


def test_what_is_typed_becomes_a_message_with_its_files() -> None:
    async def check(there: Visit) -> None:
        status, said = await there.say("@perfsleuth <b>why</b>?", ("../serve.log", b"one\ntwo\n"))
        assert status == 200
        message = there.slack.message(there.gpu, said["ts"])
        assert (
            message.text == f"<@{there.slack.world.user('perfsleuth').id}> &lt;b&gt;why&lt;/b&gt;?"
        )
        (file,) = message.files
        assert file["name"] == ".._serve.log"
        async with there.client.get(f"{there.page.url}file/{file['id']}") as answer:
            assert answer.content_type == "text/plain"
            assert "sandbox" in answer.headers["Content-Security-Policy"]
            assert await answer.read() == b"one\ntwo\n"

    during(check)


def test_a_file_that_a_browser_could_run_is_shown_as_text() -> None:
    async def check(there: Visit) -> None:
        _, said = await there.say(
            "", ("evil.html", b"<script>alert(1)</script>"), ("evil.svg", b"<svg onload='x'/>")
        )
        for file in there.slack.message(there.gpu, said["ts"]).files:
            async with there.client.get(f"{there.page.url}file/{file['id']}") as answer:
                assert answer.content_type == "text/plain"

    during(check)


@pytest.mark.parametrize(
    ("act", "body", "says"),
    [
        ("say", {}, "not in that channel"),
        ("command", {"channel": "C0GPU00001", "text": "/remind me"}, "/perf"),
        ("press", {"channel": "C0GPU00001", "ts": "1.0", "action_id": "stop"}, "gone"),
        (
            "press",
            {"channel": "D0ANA00001", "ts": "1.0", "action_id": "stop"},
            "not in that channel",
        ),
        ("press", {"view": "home", "action_id": "ask"}, "gone"),
        ("submit", {"view": "V1"}, "closed already"),
        ("shortcut", {"channel": "C0GPU00001", "ts": "1.0"}, "gone"),
        ("press", {"channel": ["x"]}, "channel cannot be used"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(act: str, body: dict[str, Any], says: str) -> None:
    async def check(there: Visit) -> None:
        if act == "say":
            form = aiohttp.FormData(
                {"channel": "C0GENERAL9", "text": "x"}, default_to_multipart=True
            )
            headers = {TOKEN_HEADER: there.page.guard.token}
            async with there.client.post(
                there.page.url + "say", data=form, headers=headers
            ) as answer:
                status, said = answer.status, await answer.json()
        else:
            status, said = await there.post(act, **body)
        assert status == 400
        assert says in said["error"]

    during(check)


def test_a_press_that_nobody_acks_is_told() -> None:
    async def check(there: Visit) -> None:
        status, said = await there.post("command", channel=there.gpu, text="/perf hosts")
        assert (status, said["error"]) == (
            400,
            "The bot did not answer in time. Look into your terminal.",
        )

    during(check)


async def _events(answer: aiohttp.ClientResponse) -> AsyncIterator[list[dict[str, Any]]]:
    async for line in answer.content:
        if line.startswith(b"data: "):
            yield json.loads(line.removeprefix(b"data: "))


def test_a_page_is_sent_all_at_first_and_then_only_what_changed() -> None:
    async def check(there: Visit) -> None:
        first = there.slack.say(there.gpu, "ana", "before")
        async with there.client.get(there.page.url + "events") as answer:
            events = _events(answer)
            known = await anext(events)
            assert {one["type"] for one in known} >= {
                "world",
                "message",
                "bot",
                "home",
                "views",
                "suggestions",
            }
            there.slack.say(there.gpu, "sam", "after")
            assert [one["message"]["text"] for one in await anext(events)] == ["after"]
            there.slack.edit(there.gpu, first.ts, "changed")
            assert [one["message"]["text"] for one in await anext(events)] == ["changed"]
            there.slack.remove(there.gpu, first.ts)
            assert await anext(events) == [{"type": "gone", "channel": there.gpu, "ts": first.ts}]

    during(check)


def test_what_is_only_for_somebody_else_is_not_sent() -> None:
    async def check(there: Visit) -> None:
        gpu, ana = there.slack.world.channel("gpu"), there.slack.world.user("ana").id
        there.slack.state.post(gpu, text="secret", only_for=ana)
        there.slack.say("@ana", "ana", "also secret")
        async with there.client.get(there.page.url + "events") as answer:
            assert "secret" not in json.dumps(await anext(_events(answer)))

    during(check)
