"""The port for monitors: /healthz, /livez and /metrics, in threads of its own; off by default."""

from __future__ import annotations

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from bot.pulse.alive import Alive
from tools.errors import ToolsError

_READ_S = 5.0  # for the request line; who sends nothing is cut off
_TEXT = "text/plain; charset=utf-8"


class PulseError(ToolsError):
    """The port cannot be listened on."""


class Port:
    """`metrics` gives a body and its kind, once there is something to count; nothing here is a secret.

    /livez says that the process answers, for who would restart it: an outage of Slack is no reason.
    """

    def __init__(self, address: tuple[str, int], alive: Alive) -> None:
        self.metrics: Callable[[], tuple[bytes, str]] = lambda: (b"", _TEXT)
        self._alive = alive
        try:
            self._server = _Server(address, _Handler)
        except OSError as why:
            raise PulseError(
                f"PERFSLEUTH_METRICS: {address[0]}:{address[1]} cannot be listened on ({why.strerror})."
            ) from None
        self._server.port = self
        self.number: int = self._server.server_address[1]
        self._thread = threading.Thread(
            target=self._server.serve_forever, name="perfsleuth-pulse", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Listen no more."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=5)

    def answer(self, path: str) -> tuple[int, bytes, str]:
        """Return status, body and its kind."""
        if path == "/livez":
            return 200, b"alive\n", _TEXT
        if path == "/healthz":
            sentence = self._alive.sentence()
            return (503 if sentence else 200), f"{sentence or 'ok'}\n".encode(), _TEXT
        if path == "/metrics":
            return 200, *self.metrics()
        return 404, b"Here are /healthz, /livez and /metrics.\n", _TEXT


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    port: Port


class _Handler(BaseHTTPRequestHandler):
    timeout = _READ_S
    server: _Server

    def do_GET(self) -> None:
        status, body, kind = self.server.port.answer(self.path.partition("?")[0])
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def version_string(self) -> str:
        return "perfsleuth"

    def log_message(self, *_: Any) -> None:
        """A monitor that asks each second is no news."""
