"""The demo as a stranger meets it: the real bot in a pretend Slack, in a real browser."""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bot.demo import acts, slack
from tests.demo.browser import Browser

ROOT = Path(__file__).parents[2]
VERDICT = "#thread [data-action=check_again]"
ARTICLES = "[...document.querySelectorAll('#thread article')].map(one => one.innerText)"
LINK_LOG = (
    "LnkCap: Port #0, Speed 16GT/s, Width x16\nLnkSta: Speed 2.5GT/s (downgraded), Width x16\n"
)


@asynccontextmanager
async def demo(home: Path, *, pace: float = 0.1) -> AsyncIterator[Browser]:
    """Open the demo; what is answered late on a busy machine is no trouble here."""
    with pytest.MonkeyPatch.context() as patch:
        drawn: dict[str, Any] = {**slack.tokens(), "ack_s": 60.0, "trigger_s": 60.0}
        patch.setattr(slack, "tokens", lambda: drawn)
        patch.setattr(acts, "ACK_S", 60.0)
        async with _demo(home, pace) as browser:
            yield browser


@asynccontextmanager
async def _demo(home: Path, pace: float) -> AsyncIterator[Browser]:
    stop, up = asyncio.Event(), asyncio.get_running_loop().create_future()
    running = asyncio.create_task(slack.run(0, stop, up.set_result, pace))
    await asyncio.wait({running, up}, return_when=asyncio.FIRST_COMPLETED)
    if running.done():
        running.result()
    async with Browser(home) as browser:
        try:
            await browser.looks(1400, 1000)
            await browser.open(up.result())
            await browser.until("document.querySelector('.chip')")
            yield browser
            assert not browser.faults
            assert all(
                url.startswith((up.result(), "about:", "blob:", "data:")) for url in browser.reached
            )
        finally:
            stop.set()
            await asyncio.wait_for(running, 120)


async def _said(browser: Browser, word: str, after: int = 0) -> str:
    """Wait for a message of the thread with this word, from the given one on."""
    await browser.until(f"{ARTICLES}.slice({after}).some(text => text.includes({word!r}))")
    texts = await browser.value(f"{ARTICLES}.slice({after})")
    return next(text for text in texts if word in text)


async def _replies(browser: Browser) -> int:
    return int(await browser.value(f"{ARTICLES}.length"))


def test_a_question_is_answered_and_its_buttons_are_alive(
    chromium_home: Path, tmp_path: Path
) -> None:
    async def whole() -> None:
        async with demo(chromium_home) as browser:
            await browser.screenshot(tmp_path / "start.png")
            await browser.click(".chip")
            await browser.until("document.querySelector('#thread .task')")
            await browser.screenshot(tmp_path / "looking.png")
            await browser.until(f"document.querySelector({VERDICT!r})")
            verdict = await _said(browser, "Hardware:")
            assert "Gen1" in verdict
            assert "It will not be 70" in verdict
            await browser.screenshot(tmp_path / "verdict.png")

            before = await _replies(browser)
            await browser.click("#thread .chip")
            assert "NCCL" in await _said(browser, "NCCL", before + 1)

            before = await _replies(browser)
            await browser.click("#thread [data-action=show_evidence]")
            await browser.until(
                "document.querySelector('#thread .snippet .snippet-more:not([hidden])')", 40
            )
            await browser.screenshot(tmp_path / "evidence.png")

            before = await _replies(browser)
            await browser.click(VERDICT)
            await _said(browser, "Looking at CT129", before)
            await browser.until(f"document.querySelectorAll({VERDICT!r}).length === 2")
            await browser.screenshot(tmp_path / "again.png")

            await browser.click("#thread [data-action='right:down']")
            await browser.until("document.querySelector('#modal[open] textarea')")
            await browser.type("#modal textarea", "it was the riser")
            await browser.screenshot(tmp_path / "modal.png")
            await browser.click("#modal .primary")
            await browser.until("!document.querySelector('#modal[open]')")

            await browser.press("Escape")
            await browser.click("[data-place=home]")
            await browser.until("document.querySelector('.home')?.innerText.includes('CT129')")
            await browser.screenshot(tmp_path / "home.png")

    asyncio.run(whole())


def test_a_log_that_is_uploaded_is_judged(chromium_home: Path, tmp_path: Path) -> None:
    async def whole() -> None:
        log = tmp_path / "riser.txt"
        log.write_text(LINK_LOG)
        async with demo(chromium_home) as browser:
            await browser.choose_files("#main input[type=file]", log)
            await browser.until("document.querySelector('.attached-file')")
            await browser.type("#main .writing", "@perfsleuth what is wrong with this?")
            await browser.press("Enter")
            assert "Gen1" in await _said(browser, "Not decided")
            await browser.screenshot(tmp_path / "log.png")

    asyncio.run(whole())


def test_stop_ends_it_and_says_what_was_learned(chromium_home: Path, tmp_path: Path) -> None:
    async def whole() -> None:
        async with demo(chromium_home, pace=4.0) as browser:
            await browser.click(".chip")
            await browser.until("document.querySelector('#thread .task.complete')")
            await browser.click("#thread [data-action=stop]")
            await _said(browser, "Stopped")
            await browser.screenshot(tmp_path / "stopped.png")

    asyncio.run(whole())


def test_a_direct_message_and_a_command_are_answered(chromium_home: Path, tmp_path: Path) -> None:
    async def whole() -> None:
        async with demo(chromium_home, pace=0) as browser:
            await browser.type("#main .writing", "/perf hosts")
            await browser.press("Enter")
            await browser.until("document.querySelector('.ephemeral')?.innerText.includes('CT130')")
            await browser.click("[data-place^=D]")
            await browser.until("document.querySelector('#thread .chip')")
            await browser.screenshot(tmp_path / "assistant.png")
            await browser.type("#thread .writing", "is anything wrong with CT130?")
            await browser.press("Enter")
            await browser.until(f"document.querySelector({VERDICT!r})")

    asyncio.run(whole())


def test_the_command_serves_the_page_until_it_is_told_to_end() -> None:
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "bot", "demo", "--slack"],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "PYTHONPATH": str(ROOT)},
    ) as running:  # fmt: skip
        assert running.stdout is not None
        try:
            assert running.stdout.readline().startswith("A pretend Slack is at http://127.0.0.1:")
            running.send_signal(signal.SIGINT)
            said, complaints = running.communicate(timeout=120)
        finally:
            running.kill()
    assert (running.returncode, complaints) == (0, "")
    assert said.endswith("The demo is over; nothing of it is kept.\n")


@pytest.mark.parametrize("arguments", [("--slack", "--json"), ("--port", "8080")])
def test_options_that_do_not_go_together_are_status_2(arguments: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "bot", "demo", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2


def test_a_port_that_is_taken_is_one_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = subprocess.run(
            [sys.executable, "-P", "-m", "bot", "demo", "--slack", "--port", port],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.strip().splitlines() == [
        f"perfsleuth: Port {port} is taken: choose another with --port."
    ]


def test_the_remedy_is_proposed_approved_measured_and_kept_and_another_taken_back(
    chromium_home: Path,
) -> None:
    async def whole() -> None:
        async with demo(chromium_home) as browser:
            await browser.click(".chip")
            await browser.until(f"document.querySelector({VERDICT!r})")
            await browser.click("#thread [data-action=propose]")
            card = await _said(browser, "Proposed for CT129:30000")
            assert "- --disable-radix-cache" in card
            await browser.click("#thread [data-action=approve]")
            await browser.until("document.querySelector('dialog .primary')")
            assert "CT129:30000 is restarted" in await browser.text("dialog[open]")
            await browser.click("dialog .primary")
            await browser.until("!document.querySelector('#thread [data-action=approve]')")
            await _said(browser, "It is being carried out in this thread")
            await _said(browser, "Kept on CT129 port 30000")
            await browser.type(
                "#thread .writing", "@perfsleuth set --chunked-prefill-size 4096 and measure decode"
            )
            await browser.press("Enter")
            await browser.click("#thread [data-action=approve]")
            await browser.click("dialog .primary")
            await _said(browser, "Taken back on CT129 port 30000")

    asyncio.run(whole())


def test_a_plan_is_shown_whole_approved_as_one_and_ends_in_a_ledger(chromium_home: Path) -> None:
    async def whole() -> None:
        async with demo(chromium_home) as browser:
            await browser.type(
                "#main .writing", "@perfsleuth tune CT129 for prefill, an hour at most"
            )
            await browser.press("Enter")
            card = await _said(browser, "Plan for CT129:30000: one change for prefill.")
            assert "2.5 times as fast (1.25 to 10) predicted for prefill" in card
            assert "--chunked-prefill-size 16384: at best +0.1 % is predicted" in card
            await browser.click("#thread [data-action=approve]")
            await browser.until("document.querySelector('dialog .primary')")
            assert "within 60 minutes" in await browser.text("dialog[open]")
            await browser.click("dialog .primary")
            await _said(browser, "Change 1 of 1 on CT129")
            ledger = await _said(browser, "1 of 1 change kept.")
            assert "Nothing that is predicted to help is left." in ledger

    asyncio.run(whole())
