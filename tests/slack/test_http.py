"""Signed HTTP mode: only what Slack signed, just now, passes."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import io
import time
from pathlib import Path

import aiohttp
import pytest

from bot.slack.reception import http as http_module
from bot.slack.reception.http import MOST_BYTES, PATH, HttpError, parted
from tests.fakes import Workspace
from tests.fakes.reception import Reception, play


def _url(bot: Reception) -> str:
    return f"http://127.0.0.1:{bot.door.port}{PATH}"  # type: ignore[union-attr]


def test_a_signed_event_is_heard_and_acknowledged(tmp_path: Path) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        request_url = slack.events_to(_url(bot))
        status, challenge = await request_url.verify()
        assert status == 200
        assert challenge
        slack.mention("why is CT129 slow?")
        await slack.until(lambda: bot.desk.heard)
        await slack.until(lambda: all(d.acked for d in slack.record.deliveries))
        assert bot.desk.texts() == ["why is CT129 slow?"]
        command = slack.command("/perf hosts", "gpu", "sam")
        await slack.until(lambda: command.acked)
        assert "CT129" in str(command.answer)

    play(tmp_path, scene, http=True, ack_s=60.0)


@pytest.mark.parametrize("wrong", ["signature", "stale", "future", "none", "secret"])
def test_what_slack_did_not_sign_just_now_is_refused(tmp_path: Path, wrong: str) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        request_url = slack.events_to(_url(bot))
        body = '{"type": "event_callback", "event": {"type": "app_mention", "user": "U1", "channel": "C1", "ts": "1.1", "text": "x"}}'
        secret, shift_s = slack.settings.signing_secret, 0
        if wrong == "secret":
            secret = "another"
        elif wrong in ("stale", "future"):
            shift_s = -400 if wrong == "stale" else 400
        headers = _signed(secret, body, time.time() + shift_s)
        if wrong == "signature":
            headers["X-Slack-Signature"] = "v0=" + "0" * 64
        elif wrong == "none":
            del headers["X-Slack-Signature"]
        status, _ = await request_url.post(body, headers)
        assert status == 401
        await asyncio.sleep(0.1)
        assert not bot.desk.heard

    play(tmp_path, scene, http=True)


def test_a_right_signature_passes_by_the_same_way(tmp_path: Path) -> None:
    """So that the refusals above are of what is wrong in them."""

    async def scene(slack: Workspace, bot: Reception) -> None:
        request_url = slack.events_to(_url(bot))
        body = '{"type": "event_callback", "event": {"type": "app_mention", "user": "U0SAM00001", "channel": "C0GPU00001", "ts": "1.1", "text": "x"}}'
        status, _ = await request_url.post(
            body, _signed(slack.settings.signing_secret, body, time.time() - 200)
        )
        assert status == 200
        await slack.until(lambda: bot.desk.heard)

    play(tmp_path, scene, http=True)


def test_a_body_without_end_is_cut_off_and_nonsense_is_no_fault(tmp_path: Path) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        async with aiohttp.ClientSession() as session:
            async with session.post(_url(bot), data=io.BytesIO(b"x" * (MOST_BYTES + 1))) as answer:
                assert answer.status == 413
            async with session.post(
                _url(bot), data=b"\xff\xfe{", headers={"Content-Type": "application/json"}
            ) as answer:
                assert answer.status in (400, 401)
            async with session.get(_url(bot)) as answer:
                assert answer.status == 405
            async with session.get(_url(bot).replace(PATH, "/healthz")) as answer:
                assert (answer.status, await answer.text()) == (200, "ok")

    play(tmp_path, scene, http=True)


def test_who_sends_its_headers_byte_by_byte_is_cut_off_and_who_signed_keeps_its_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_module, "WITHIN_S", 0.1)

    async def scene(slack: Workspace, bot: Reception) -> None:
        port = bot.door.port  # type: ignore[union-attr]
        kept = await asyncio.open_connection("127.0.0.1", port)
        assert await _asked(*kept, slack.settings.signing_secret) == 200
        for begun in (b"", f"POST {PATH} HTTP/1.1\r\nHost: x\r\nX-Slow:".encode()):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(begun)
            async with asyncio.timeout(60):
                assert await reader.read() == b""
            writer.close()
        assert await _asked(*kept, slack.settings.signing_secret) == 200
        kept[1].close()

    play(tmp_path, scene, http=True)


def test_who_did_not_sign_is_answered_once_and_then_hung_up_on(tmp_path: Path) -> None:
    async def scene(_slack: Workspace, bot: Reception) -> None:
        for line in (f"POST {PATH}", "GET /healthz"):
            reader, writer = await asyncio.open_connection("127.0.0.1", bot.door.port)  # type: ignore[union-attr]
            writer.write(f"{line} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n".encode())
            async with asyncio.timeout(60):
                told = (
                    await reader.read()
                )  # to its end, which comes although nobody closed but the bot
            assert told.startswith((b"HTTP/1.1 401", b"HTTP/1.1 200"))
            writer.close()

    play(tmp_path, scene, http=True)


@pytest.mark.parametrize(
    "address", ["3000", "127.0.0.1", ":3000", "127.0.0.1:x", "127.0.0.1:70000", ""]
)
def test_an_address_that_is_none_is_told(address: str) -> None:
    with pytest.raises(HttpError, match="HOST:PORT"):
        parted(address)


def test_an_address_is_parted() -> None:
    assert parted("127.0.0.1:3000") == ("127.0.0.1", 3000)
    assert parted("[::1]:3000") == ("::1", 3000)


async def _asked(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, secret: str) -> int:
    """Ask once over a connection that stays; the status of the answer."""
    body = '{"type": "url_verification", "challenge": "c"}'
    headers = {**_signed(secret, body, time.time()), "Host": "x", "Content-Length": str(len(body))}
    lines = [f"POST {PATH} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    writer.write("\r\n".join([*lines, "", body]).encode())
    async with asyncio.timeout(60):
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = next(line for line in head.splitlines() if line.startswith("content-length:"))
        await reader.readexactly(int(length.partition(":")[2]))
    return int(head.split()[1])


def _signed(secret: str, body: str, at: float) -> dict[str, str]:
    """https://docs.slack.dev/authentication/verifying-requests-from-slack"""
    text = f"v0:{int(at)}:{body}"
    told = hmac.new(secret.encode(), text.encode(), hashlib.sha256).hexdigest()
    return {
        "Content-Type": "application/json",
        "X-Slack-Request-Timestamp": str(int(at)),
        "X-Slack-Signature": f"v0={told}",
    }
