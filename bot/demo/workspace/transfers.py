"""Bytes of files: where they are uploaded to, and where they are fetched from."""

from __future__ import annotations

from aiohttp import web

from bot.demo.workspace.api import broken, cut
from bot.demo.workspace.record import Call
from bot.demo.workspace.state import State

_LOGIN = "<!DOCTYPE html><html><head><title>Sign in to Lab | Slack</title></head><body>Sign in</body></html>"


async def upload(state: State, request: web.Request) -> web.StreamResponse:
    """The middle of an upload: raw bytes, or a form with one file."""
    call = Call("upload", {"file": request.match_info["file"]})
    state.record.calls.append(call)
    fault = state.faults.take("upload")
    if fault is not None and fault.kind != "drop_after":
        return await broken(request, fault, call)
    file = state.files.get(request.match_info["file"])
    content = await _content(request)
    if file is None or len(content) != file.length:
        call.status = 400
        return web.Response(status=400, text="bad upload")
    file.content, file.ready = content, True
    call.answer, call.status = {"ok": True}, 200
    return cut(request) if fault is not None else web.Response(text=f"OK - {len(content)}")


async def _content(request: web.Request) -> bytes:
    if not request.content_type.startswith("multipart/"):
        return await request.read()
    form = await request.post()
    part = next(iter(form.values()), b"")
    return part.file.read() if isinstance(part, web.FileField) else str(part).encode()


async def download(state: State, request: web.Request) -> web.StreamResponse:
    """A file, for a bearer token that may read files; anybody else gets the page to sign in, with a 200."""
    call = Call("download", {"path": request.path})
    state.record.calls.append(call)
    fault = state.faults.take("download")
    if fault is not None:
        return await broken(request, fault, call)
    settings = state.settings
    given = request.headers.get("Authorization", "")
    allowed = (
        given == f"Bearer {settings.bot_token}"
        and not settings.revoked
        and "files:read" in settings.scopes
    )
    call.status = 200
    if not allowed:
        return web.Response(text=_LOGIN, content_type="text/html")
    file_id = request.match_info["rest"].split("/")[0].removeprefix("T0LAB-")
    file = state.files.get(file_id)
    if file is None or not file.ready:
        call.status = 404
        return web.Response(
            status=404, text="<html>File not found</html>", content_type="text/html"
        )
    call.answer = {"ok": True}
    return web.Response(body=file.content, content_type=file.mimetype.split(";")[0])
