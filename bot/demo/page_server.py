"""The demo's page over HTTP on loopback: its files, what happens as events, and what a person does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import PurePosixPath
from typing import Self

from aiohttp import web

from bot.demo.acts import Act, Acts, WrongAct
from bot.demo.guard import Guard
from bot.demo.view import Sent, View

UPLOAD_BYTES = 64 << 20
_TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
_PACE_S = 0.1  # between two sends to a page: edits come faster than eyes
_BEAT_S = 1.0  # a status ends by time alone, and a lost browser is noticed


class PageServer:
    """Serves the page; `changed` is to be called, in its loop, whenever something may have changed."""

    def __init__(self, view: View, acts: Acts) -> None:
        self.guard = Guard()
        self._view = view
        self._acts = acts
        self._page = files("bot.demo") / "page"
        self._news: set[asyncio.Event] = set()
        self._ending = False
        self._runner: web.AppRunner | None = None
        self.url = ""

    def changed(self) -> None:
        """Wake all pages that are open."""
        for news in self._news:
            news.set()

    async def start(self, port: int = 0) -> Self:
        """Listen on 127.0.0.1; raise OSError if the port is taken."""
        app = web.Application(middlewares=[self.guard.middleware()], client_max_size=UPLOAD_BYTES)
        app.router.add_get("/", self._index)
        app.router.add_get("/static/{path:.+}", self._static)
        app.router.add_get("/events", self._events)
        app.router.add_get("/file/{id}", self._file)
        for name, act in self._acts.by_name().items():
            app.router.add_post(f"/{name}", self._acting(act))
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", port)
        await site.start()
        bound = self._runner.addresses[0][1]
        self.guard.listens_on(bound)
        self.url = f"http://127.0.0.1:{bound}/"
        return self

    async def close(self) -> None:
        """Tell the pages that it is over, and stop listening."""
        self._ending = True
        self.changed()
        if self._runner:
            await self._runner.cleanup()

    async def _index(self, request: web.Request) -> web.Response:  # noqa: ARG002
        text = (self._page / "index.html").read_text(encoding="utf-8")
        return web.Response(
            text=text.replace("@TOKEN@", self.guard.token), content_type="text/html"
        )

    async def _static(self, request: web.Request) -> web.Response:
        path = PurePosixPath(request.match_info["path"])
        kind = _TYPES.get(path.suffix)
        found = _within(self._page, path)
        if found is None or kind is None:
            raise web.HTTPNotFound
        return web.Response(body=found.read_bytes(), content_type=kind, charset="utf-8")

    async def _file(self, request: web.Request) -> web.Response:
        name = request.match_info["id"]
        content = self._view.content(name)
        if content is None:
            raise web.HTTPNotFound
        image = self._view.image_type(name)
        headers = {"Content-Security-Policy": "default-src 'none'; sandbox"}
        if image:
            return web.Response(body=content, content_type=image, headers=headers)
        return web.Response(
            body=content, content_type="text/plain", charset="utf-8", headers=headers
        )

    async def _events(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(
            headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"}
        )
        await response.prepare(request)
        sent = Sent()
        first = json.dumps(sent.news(self._view.things()))
        await response.write(f"event: snapshot\ndata: {first}\n\n".encode())
        async for text in self._told(sent):
            try:
                await response.write(text.encode())
            except ConnectionError:
                break
        return response

    async def _told(self, sent: Sent) -> AsyncIterator[str]:
        news = asyncio.Event()
        self._news.add(news)
        try:
            while not self._ending:
                with suppress(TimeoutError):
                    await asyncio.wait_for(news.wait(), _BEAT_S)
                news.clear()
                events = sent.news(self._view.things())
                yield f"data: {json.dumps(events)}\n\n" if events else ": still here\n\n"
                await asyncio.sleep(_PACE_S)
        finally:
            self._news.discard(news)

    def _acting(self, act: Act) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def handled(request: web.Request) -> web.Response:
            try:
                return web.json_response(await act(request))
            except WrongAct as why:
                return web.json_response({"error": str(why)}, status=400)

        return handled


def _within(root: Traversable, path: PurePosixPath) -> Traversable | None:
    """Return a file of the page; None for what lies outside of it or is not there."""
    if path.is_absolute() or any(part in ("..", ".") for part in path.parts):
        return None
    found = root
    for part in path.parts:
        found = found / part
    return found if found.is_file() else None
