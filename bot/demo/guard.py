"""Who may talk to the demo's page: this machine's browser, at this address, with this start's token."""

from __future__ import annotations

import secrets

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

TOKEN_HEADER = "X-Perfsleuth-Token"  # noqa: S105 - the name of a header
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Guard:
    """Refuses foreign names for this machine (DNS rebinding), foreign pages, and acts without the token."""

    def __init__(self) -> None:
        self.token = secrets.token_urlsafe(24)
        self._names: frozenset[str] = frozenset()

    def listens_on(self, port: int) -> None:
        """Say at which port of loopback the page is served; before that nobody is let in."""
        self._names = frozenset({f"127.0.0.1:{port}", f"localhost:{port}"})

    def refusal(self, request: web.Request) -> str | None:
        """Return why a request is not served, in one sentence; None if it is."""
        if request.headers.get("Host", "") not in self._names:
            return "This page is served to this machine alone."
        if request.method in ("GET", "HEAD"):
            return None
        origin = request.headers.get("Origin")
        if origin is not None and origin.removeprefix("http://") not in self._names:
            return "Another page may not act here."
        if not secrets.compare_digest(request.headers.get(TOKEN_HEADER, ""), self.token):
            return "The demo was started anew: load the page again."
        return None

    def middleware(self) -> Middleware:
        """Return the middleware that refuses, and that gives each answer its headers."""

        @web.middleware
        async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
            why = self.refusal(request)
            if why is not None:
                return web.json_response({"error": why}, status=403, headers=HEADERS)
            try:
                response = await handler(request)
            except web.HTTPException as what:
                what.headers.update(HEADERS)
                raise
            if not response.prepared:
                for name, value in HEADERS.items():
                    response.headers.setdefault(name, value)
            return response

        return guarded
