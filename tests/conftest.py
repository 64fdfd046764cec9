"""What every test can use; no test may reach beyond this machine."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.lab import postgres, sshd
from tests.lab.postgres import Cluster
from tests.lab.sshd import Lab

_CONNECT = socket.socket.connect

# An example that takes long says something about the machine; one that never ends, faulthandler_timeout shows.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="write the facts that today's parsers read"
    )
    parser.addoption("--soak", action="store_true", help="run the slow suite of tests/soak alone")
    parser.addoption("--engine", action="store_true", help="run tests/real_engine: a real SGLang")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    for part, option in (("soak", "--soak"), ("real_engine", "--engine")):
        if part in collection_path.parts and not config.getoption(option):
            return True
    return None


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


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A host with sshd and fake GPU commands, of which the tests of a module may choose the mood."""
    if not sshd.SSHD:
        pytest.skip(sshd.MISSING)
    lab = Lab(tmp_path_factory.mktemp("lab"))
    yield lab
    lab.stop()


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A PostgreSQL for all tests, each with a database of its own."""
    if not all(postgres.PROGRAMS.values()):
        pytest.skip(postgres.MISSING)
    cluster = Cluster()
    yield cluster
    cluster.remove()


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database of each kind: what holds on one must hold on the other."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/state/perfsleuth.sqlite"
    cluster: Cluster = request.getfixturevalue("cluster")
    return cluster.database()
