"""A TCP proxy on loopback that adds a delay to each way, so that round trips can be counted by the clock."""

from __future__ import annotations

import queue
import socket
import threading
import time
from contextlib import suppress


class SlowLine:
    """A port that leads to another one, `delay_s` further away in each direction."""

    def __init__(self, port: int, delay_s: float) -> None:
        self._target, self._delay_s = port, delay_s
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._server.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._server.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near = self._server.accept()[0]
                far = socket.create_connection(("127.0.0.1", self._target))
                for source, target in ((near, far), (far, near)):
                    source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    line: queue.SimpleQueue[tuple[float, bytes]] = queue.SimpleQueue()
                    threading.Thread(target=self._take, args=(source, line), daemon=True).start()
                    threading.Thread(target=self._give, args=(target, line), daemon=True).start()

    def _take(self, source: socket.socket, line: queue.SimpleQueue[tuple[float, bytes]]) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                line.put((time.monotonic() + self._delay_s, data))
        line.put((time.monotonic() + self._delay_s, b""))

    def _give(self, target: socket.socket, line: queue.SimpleQueue[tuple[float, bytes]]) -> None:
        with target, suppress(OSError):
            while True:
                due, data = line.get()
                time.sleep(max(0.0, due - time.monotonic()))
                if not data:
                    target.shutdown(socket.SHUT_RDWR)
                    return
                target.sendall(data)
