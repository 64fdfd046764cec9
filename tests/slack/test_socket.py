"""A lost connection is made anew at once; one that does not come back is given a new address."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from slack_bolt.app.async_app import AsyncApp

from bot.slack.reception import socket as module
from bot.slack.reception.socket import Socket


def test_a_lost_connection_is_made_anew_at_once_and_a_stuck_one_gets_a_new_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_LOOK_S", 0.01)
    monkeypatch.setattr(module, "_STUCK_S", 600.0)
    tries: list[object] = []

    async def story() -> None:
        socket = Socket(AsyncApp(token="xoxb-1", signing_secret=""), "xapp-1", lambda: None)
        lines: list[Any] = socket._lines

        async def in_vain() -> None:
            tries.append(None)
            raise ConnectionError

        for line in lines:
            line._hellos = 1
            line._client.wss_uri = "ws://127.0.0.1:1/?ticket=old"
            line._client.connect_to_new_endpoint = in_vain
            line._watch = asyncio.create_task(line._watched())
        async with asyncio.timeout(60):
            while len(tries) < 2 * len(lines):
                await asyncio.sleep(0.01)
        assert all(line._client.wss_uri for line in lines), "they are not stuck yet"
        monkeypatch.setattr(module, "_STUCK_S", 0.0)  # it is read at each look
        async with asyncio.timeout(60):
            while any(line._client.wss_uri for line in lines):
                await asyncio.sleep(0.01)
        await socket.close()

    asyncio.run(story())
