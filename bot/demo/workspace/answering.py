"""Answers that are no calls: response_url, and what the ack of a command or a modal says."""

from __future__ import annotations

import asyncio
from typing import Any

from aiohttp import web

from bot.demo.workspace.api import broken
from bot.demo.workspace.method import checked_blocks
from bot.demo.workspace.record import Call, Delivery
from bot.demo.workspace.refused import Refused
from bot.demo.workspace.state import State
from bot.demo.workspace.views import checked_view

_USES = 5  # of a response_url: https://docs.slack.dev/interactivity/handling-user-interaction


async def respond(state: State, request: web.Request) -> web.StreamResponse:
    """A post to a response_url: a new message, or in place of the one that was pressed."""
    key = request.match_info["key"]
    call = Call("response_url", {})
    state.record.calls.append(call)
    fault = state.faults.take("response_url")
    if fault is not None:
        return await broken(request, fault, call)
    if key not in state.response_urls or state.response_urls[key][3] >= _USES:
        call.status = 404
        return web.json_response({"ok": False, "error": "expired_url"}, status=404)
    channel, thread_ts, whom, used = state.response_urls[key]
    state.response_urls[key] = (channel, thread_ts, whom, used + 1)
    call.args = await request.json()
    user, _, ts = whom.partition("|")
    try:
        show(state, channel, thread_ts, user, ts, call.args)
    except Refused as refused:
        call.answer, call.status = refused.body(), 400
        return web.Response(status=400, text=refused.error)
    call.answer, call.status = {"ok": True}, 200
    return web.Response(text="ok")


def show(
    state: State, channel: str, thread_ts: str | None, user: str, ts: str, said: dict[str, Any]
) -> None:
    """What an answer does: delete, replace, or post for one or for all."""
    original = state.messages.get(channel, ts) if ts else None
    if said.get("delete_original") and original is not None:
        original.deleted = True
        state.changed()
        return
    blocks = checked_blocks(state, said.get("blocks"))
    text = str(said.get("text") or "")
    if not text and not blocks:
        raise Refused("no_text")
    if said.get("replace_original") and original is not None:
        before = original.wire()
        original.change(text, blocks, state.ids.ts())
        state.edited(original, before)
        return
    only_for = None if said.get("response_type") == "in_channel" else user
    thread = said.get("thread_ts") or thread_ts
    state.post(
        state.world.channels[channel], text=text, blocks=blocks, thread_ts=thread, only_for=only_for
    )


def after_ack(state: State, delivery: Delivery) -> None:
    """When the ack has come, do what it says."""
    task = asyncio.get_running_loop().create_task(_after_ack(state, delivery))
    _RUNNING.add(task)
    task.add_done_callback(_RUNNING.discard)


_RUNNING: set[asyncio.Task[None]] = set()


async def _after_ack(state: State, delivery: Delivery) -> None:
    while not delivery.done:
        await asyncio.sleep(0.01)
    if delivery.kind == "slash_commands":
        _show_command(state, delivery)
    elif delivery.acked:
        _obey(state, delivery)
    state.changed()


def _show_command(state: State, delivery: Delivery) -> None:
    payload = delivery.payload
    said = delivery.answer or {}
    if not delivery.acked:
        said = {"text": f"{payload['command']} failed with the error “dispatch_failed”"}
    if said.get("text") or said.get("blocks"):
        show(state, payload["channel_id"], None, payload["user_id"], "", said)


def _obey(state: State, delivery: Delivery) -> None:
    view = state.views[delivery.payload["view"]["id"]]
    said = delivery.answer or {}
    action = said.get("response_action")
    if action in ("update", "push"):
        view.view = checked_view(said.get("view"), "modal")
    elif action == "errors":
        view.view = {**view.view, "errors": said.get("errors")}
    else:
        view.open = False
