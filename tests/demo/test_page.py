"""The page in a real browser, with messages as the bot sends them and as an attacker would."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from bot.demo.acts import Acts
from bot.demo.page_server import PageServer
from bot.demo.view import View
from bot.demo.workspace import Workspace
from bot.demo.workspace.stream import Stream
from tests.demo.browser import Browser

PAGE = Path(__file__).parents[2] / "bot" / "demo" / "page"
EVIL = "<img src=x onerror=alert(1)><script>alert(2)</script>\u202e[x](javascript:alert(3)) <!channel> &lt;b&gt;"


@asynccontextmanager
async def page(home: Path) -> AsyncIterator[tuple[Workspace, Browser]]:
    async with Workspace() as slack:
        me = slack.world.user("sam").id
        view = View(slack.state, me)
        server = PageServer(view, Acts(slack, me))
        slack.listen(server.changed)
        await server.start()
        view.bot_is("up")
        try:
            async with Browser(home) as browser:
                await browser.looks(1400, 1000)
                await browser.open(server.url)
                await browser.until("document.querySelector('.place.here')")
                yield slack, browser
                assert not browser.faults
                assert all(
                    url.startswith((server.url, "about:", "blob:", "data:"))
                    for url in browser.reached
                )
        finally:
            await server.close()


def _post(slack: Workspace, thread_ts: str | None, *blocks: dict[str, Any], **more: Any) -> None:
    slack.state.post(slack.world.channel("gpu"), thread_ts=thread_ts, blocks=list(blocks), **more)


def _plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text}


def _section(*elements: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "rich_text",
        "elements": [{"type": "rich_text_section", "elements": list(elements)}],
    }


def test_no_script_of_the_page_writes_markup() -> None:
    for path in (PAGE / "script").glob("*.js"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", text
        ), path
        assert len(text.splitlines()) <= 250, path
    for path in (PAGE / "look").glob("*.css"):
        assert not re.search(r"https?:|@import|url\(", path.read_text(encoding="utf-8")), path
    assert not re.search(
        r"https?://|\son\w+=|<style|<script(?! type=\"module\" src)",
        (PAGE / "index.html").read_text(),
    )


def test_hostile_text_stays_text_wherever_it_stands(chromium_home: Path) -> None:
    async def whole() -> None:
        async with page(chromium_home) as (slack, browser):
            root = slack.say(
                "gpu",
                "ana",
                f"{EVIL} <javascript:alert(4)|click> <https://ok.example/a|fine> <data:text/html,x|d>",
            )
            cell = {"type": "raw_text", "text": EVIL}
            task = {
                "type": "task_card",
                "task_id": "1",
                "title": EVIL,
                "status": "complete",
                "output": _section({"type": "text", "text": EVIL}),
            }
            _post(
                slack, root.ts,
                {"type": "header", "text": _plain(EVIL)},
                {"type": "section", "text": {"type": "mrkdwn", "text": EVIL}, "fields": [_plain(EVIL)]},
                {"type": "alert", "level": 'error" onclick="alert(5)', "text": _plain(EVIL)},
                _section({"type": "text", "text": EVIL}, {"type": "link", "url": "javascript:alert(6)", "text": EVIL}),
                {"type": "table", "rows": [[cell, cell], [cell, cell]]},
                {"type": "markdown", "text": EVIL},
                {"type": "plan", "title": EVIL, "tasks": [task]},
                {"type": "context", "elements": [_plain(EVIL)]},
                {"type": "actions", "elements": [{"type": "button", "action_id": "a", "text": _plain(EVIL), "url": "javascript:alert(7)"}]},
                {"type": EVIL},
            )  # fmt: skip
            await browser.click(".replies")
            await browser.until("document.querySelector('#thread .plan')")
            await browser.value(
                "document.querySelectorAll('details').forEach(one => { one.open = true; })"
            )
            assert (
                await browser.value(
                    "document.querySelectorAll('.messages script, .messages [onerror], .messages img[src=x]').length"
                )
                == 0
            )
            links = await browser.value(
                "[...document.querySelectorAll('.messages a')].map(a => [a.href, a.rel, a.target])"
            )
            assert {tuple(link) for link in links} == {
                ("https://ok.example/a", "noopener noreferrer", "_blank")
            }
            text = await browser.text("#thread .messages")
            assert text.count("<script>alert(2)</script>") >= 12

    asyncio.run(whole())


def test_a_stream_is_seen_to_grow_and_to_end(chromium_home: Path, tmp_path: Path) -> None:
    async def whole() -> None:
        async with page(chromium_home) as (slack, browser):
            root = slack.mention("why is CT129 slow?")
            stream = Stream("plan", 300)
            task = {"type": "task_update", "id": "1", "title": "The serve log"}
            stream.append(
                [
                    {"type": "plan_update", "title": "Looking at CT129"},
                    {**task, "status": "in_progress"},
                ]
            )
            slack.state.post(slack.world.channel("gpu"), thread_ts=root.ts, stream=stream)
            await browser.click(".replies")
            await browser.until("document.querySelector('#thread .task.in_progress .spinner')")
            assert await browser.value("document.querySelectorAll('#thread .cursor').length") == 0
            stream.append(
                [{**task, "status": "complete", "output": "170 **decode** lines \\\\*all\\\\*"}]
            )
            slack.state.changed()
            await browser.until("document.querySelector('#thread .task.complete')")
            await browser.click("#thread .task summary")
            await browser.until("document.querySelector('#thread .task[open]')")
            stream.stopped = True
            slack.state.changed()
            await browser.until("!document.querySelector('#thread .cursor')")
            assert await browser.value("document.querySelector('#thread .task').open"), (
                "what a person opened stays open"
            )

    asyncio.run(whole())


def test_a_press_counts_though_the_message_changes_under_the_finger(chromium_home: Path) -> None:
    async def whole() -> None:
        async with page(chromium_home) as (slack, browser):
            root = slack.mention("why is CT129 slow?")
            stream = Stream("plan", 300)
            stop = {"type": "button", "action_id": "stop", "value": "1", "text": _plain("Stop")}
            task = {"type": "task_update", "id": "1", "title": "The serve log"}
            stream.append(
                [
                    {"type": "blocks", "blocks": [{"type": "actions", "elements": [stop]}]},
                    {**task, "status": "in_progress"},
                ]
            )
            slack.state.post(slack.world.channel("gpu"), thread_ts=root.ts, stream=stream)
            await browser.click(".replies")
            spot = await browser.spot("#thread [data-action=stop]")
            await browser.mouse("mousePressed", spot)
            stream.append([{**task, "status": "complete", "output": "170 lines"}])
            slack.state.changed()
            await browser.until("document.querySelector('#thread .task.complete')")
            await browser.mouse("mouseReleased", spot)
            await slack.until(
                lambda: [one for one in slack.record.deliveries if one.kind == "interactive"]
            )

    asyncio.run(whole())


def test_a_modal_is_filled_in_and_its_errors_keep_what_was_typed(chromium_home: Path) -> None:
    async def whole() -> None:
        async with page(chromium_home) as (slack, browser):
            from bot.demo.workspace import View as Modal

            view = {
                "type": "modal", "title": _plain("What was wrong?"), "submit": _plain("Send"), "callback_id": "reason",
                "blocks": [{"type": "input", "block_id": "why", "label": _plain("Reason"),
                            "element": {"type": "plain_text_input", "action_id": "reason", "multiline": True}}],
            }  # fmt: skip
            slack.state.views["V1"] = Modal("V1", slack.world.user("sam").id, view)
            slack.state.changed()
            await browser.until("document.querySelector('#modal[open] textarea')")
            await browser.type("#modal textarea", "it was the riser")
            slack.state.views["V1"].view = {**view, "errors": {"why": "too short"}}
            slack.state.changed()
            await asyncio.sleep(0.5)
            assert (
                await browser.value("document.querySelector('#modal textarea').value")
                == "it was the riser"
            )
            await browser.press("Escape")
            await browser.until("!document.querySelector('#modal[open]')")
            assert not slack.open_views("sam")

    asyncio.run(whole())


def test_on_a_phone_the_thread_takes_the_whole_screen_and_nothing_overflows(
    chromium_home: Path, tmp_path: Path
) -> None:
    async def whole() -> None:
        async with page(chromium_home) as (slack, browser):
            await browser.looks(390, 844, dark=True)
            await browser.until("document.querySelector('.welcome .chip')")
            outside = "[...document.querySelectorAll('.chip')].filter(c => c.getBoundingClientRect().right > innerWidth || c.getBoundingClientRect().left < 0).length"
            assert await browser.value(outside) == 0
            root = slack.mention("why is CT129 slow? " + "x" * 300)
            cell = {"type": "raw_text", "text": "3,002 (2,401 to 3,602)"}
            _post(
                slack,
                root.ts,
                {"type": "table", "rows": [[cell] * 6] * 3},
                _section({"type": "text", "text": "y" * 400}),
            )
            await browser.click(".replies")
            await browser.until("document.querySelector('#thread .table')")
            assert not await browser.value("document.querySelector('#main').checkVisibility()")
            assert await browser.value("document.documentElement.scrollWidth") <= 390
            await browser.screenshot(tmp_path / "phone.png")
            await browser.press("Escape")
            await browser.until("document.querySelector('#main').checkVisibility()")

    asyncio.run(whole())
