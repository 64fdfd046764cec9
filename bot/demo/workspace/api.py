"""The Web API over HTTP: who calls, may they, how often, and what goes wrong on demand."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

from aiohttp import web

from bot.demo.workspace import assistant, chat, conversations, files, streams, views
from bot.demo.workspace.faults import Fault
from bot.demo.workspace.method import Args, Method
from bot.demo.workspace.rates import too_many
from bot.demo.workspace.record import Call
from bot.demo.workspace.refused import Refused
from bot.demo.workspace.state import State

METHODS: dict[str, Method] = {
    **chat.METHODS,
    **streams.METHODS,
    **conversations.METHODS,
    **files.METHODS,
    **views.METHODS,
    **assistant.METHODS,
    "api.test": Method(lambda _state, args: {"args": args}, tier=0, token=""),
}
_JSON = (
    "blocks",
    "chunks",
    "attachments",
    "files",
    "metadata",
    "prompts",
    "view",
    "loading_messages",
)


async def arguments(request: web.Request) -> Args:
    """From query, form or JSON; what is JSON within a form is read too."""
    args: Args = dict(request.query)
    if request.content_type == "application/json":
        body = await request.json()
        args |= body if isinstance(body, dict) else {}
    elif request.can_read_body:
        args |= dict(await request.post())
    for name in _JSON:
        if isinstance(args.get(name), str) and args[name]:
            try:
                args[name] = json.loads(args[name])
            except ValueError:
                word = "invalid_blocks_format" if name == "blocks" else "invalid_arguments"
                raise Refused(word) from None
    return args


def token_of(request: web.Request, args: Args) -> str:
    """The bearer token, or the argument; it is taken out of the arguments."""
    header = request.headers.get("Authorization", "")
    given = str(args.pop("token", "") or "")
    return header.removeprefix("Bearer ").strip() or given


def check_token(state: State, token: str, kind: str) -> None:
    """Refused when it is missing, unknown, of the other kind, or was revoked."""
    settings = state.settings
    if not token:
        raise Refused("not_authed")
    if settings.revoked and token in (settings.bot_token, settings.app_token):
        raise Refused("token_revoked")
    wanted = settings.app_token if kind == "app" else settings.bot_token
    if token == wanted:
        return
    raise Refused(
        "not_allowed_token_type"
        if token in (settings.bot_token, settings.app_token)
        else "invalid_auth"
    )


def check_scope(state: State, method: Method) -> None:
    """Refused with missing_scope, what was needed and what there is."""
    if method.scopes and not state.settings.scopes & set(method.scopes):
        provided = ",".join(sorted(state.settings.scopes))
        raise Refused("missing_scope", needed=method.scopes[0], provided=provided)


class Api:
    """Answers /api/{method}; every call is recorded."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.methods = dict(METHODS)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """One call."""
        name = request.match_info["method"]
        call = Call(name, {})
        self.state.record.calls.append(call)
        fault = self.state.faults.take(name)
        if fault is not None and fault.kind != "drop_after":
            return await broken(request, fault, call)
        done = await self._run(name, request, call)
        await asyncio.sleep(self.state.settings.answer_after_s)
        response = self._answer(call, *done)
        if fault is not None:
            call.answer = None
            return cut(request)
        return response

    async def _run(
        self, name: str, request: web.Request, call: Call
    ) -> tuple[dict[str, Any], Refused | None]:
        try:
            args = await arguments(request)
            token = token_of(request, args)
            call.args = args
            return self._perform(name, token, args), None
        except Refused as refused:
            return refused.body(), refused

    def _perform(self, name: str, token: str, args: Args) -> dict[str, Any]:
        state = self.state
        if name in state.settings.without:
            raise Refused(state.settings.without[name])
        method = self.methods.get(name)
        if method is None:
            raise Refused("unknown_method", req_method=name)
        if method.token:
            check_token(state, token, method.token)
        if method.token == "bot":  # noqa: S105 the kind of token
            check_scope(state, method)
        state.rates.check(
            name, method.tier, str(args.get("channel") or args.get("channel_id") or "") or None
        )
        return {"ok": True, **method.run(state, args)}

    def _answer(self, call: Call, body: dict[str, Any], refused: Refused | None) -> web.Response:
        call.answer = body
        call.status = refused.status if refused else 200
        call.took_ms = (time.monotonic() - call.at) * 1000
        headers = {"x-oauth-scopes": ",".join(sorted(self.state.settings.scopes))}
        if refused and refused.retry_after_s is not None:
            headers["Retry-After"] = str(refused.retry_after_s)
        return web.json_response(body, status=call.status, headers=headers)


async def broken(
    request: web.Request, fault: Fault, call: Call | None = None
) -> web.StreamResponse:
    """Go wrong before anything was done."""
    if fault.kind == "ratelimited":
        refused = too_many(fault.seconds)
        body, status, headers = refused.body(), 429, {"Retry-After": str(refused.retry_after_s)}
    elif fault.kind == "error":
        body, status, headers = {"ok": False, "error": fault.word}, 200, {}
    elif fault.kind == "status":
        if call is not None:
            call.status = fault.code
        return web.Response(
            status=fault.code, text="<html>Something went wrong</html>", content_type="text/html"
        )
    else:
        if fault.kind == "hang":
            await asyncio.sleep(fault.seconds)
        return cut(request)
    if call is not None:
        call.answer, call.status = body, status
    return web.json_response(body, status=status, headers=headers)


def cut(request: web.Request) -> web.Response:
    """Break the connection: the caller gets no answer."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response()
