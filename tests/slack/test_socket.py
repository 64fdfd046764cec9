"""A connection that does not come back is helped: the ticket of its address may have expired."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from slack_bolt.app.async_app import AsyncApp

from bot.slack.reception import socket as module
from bot.slack.reception.socket import Socket


def test_a_client_that_tries_one_address_for_ever_gets_a_new_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_LOOK_S", 0.01)
    monkeypatch.setattr(module, "_STUCK_S", 0.05)

    async def story() -> None:
        socket = Socket(AsyncApp(token="xoxb-1", signing_secret=""), "xapp-1", lambda: None)
        lines: list[Any] = socket._lines
        for line in lines:
            line._client.wss_uri = "ws://127.0.0.1:1/?ticket=old"
            line._watch = asyncio.create_task(line._watched())
        await asyncio.sleep(0.02)
        assert all(line._client.wss_uri for line in lines), (
            "a short loss is the client's own affair"
        )
        async with asyncio.timeout(10):
            while any(line._client.wss_uri for line in lines):
                await asyncio.sleep(0.01)
        await socket.close()

    asyncio.run(story())
