"""What every test can use; no test may reach beyond this machine."""

from __future__ import annotations

import socket
from typing import Any

import pytest

_CONNECT = socket.socket.connect


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="write the facts that today's parsers read"
    )


@pytest.fixture(autouse=True)
def loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def connect(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            host = str(address[0])
            assert host.startswith("127.") or host in ("::1", "localhost"), (
                f"a test reached for {host}"
            )
        _CONNECT(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect)
