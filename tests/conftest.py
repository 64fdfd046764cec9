"""What every test can use; no test may reach beyond this machine."""

from __future__ import annotations

import functools
import os
import re
import signal
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadScopeScheduling

from tests.lab import engine, postgres, sshd
from tests.lab.postgres import Cluster
from tests.lab.sshd import Lab

_ROOT = Path(__file__).parents[1]
_CONNECT = socket.socket.connect
# What starts servers of this machine, or looks for all of them: by its text, so that a new test joins by itself.
_SERVERS = re.compile(
    r"tests\.(lab\.engine|change\.(engine|held|boxes|units)|measure\.serving|provenance\.hosts)\b|lab\.mood\("
    r"|find_server|Popen[\s\S]*launch_server|launch_server[\s\S]*Popen"
)

# An example that takes long says something about the machine; one that never ends, faulthandler_timeout shows.
settings.register_profile(
    "untimed", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("untimed")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="write the facts that today's parsers read"
    )
    parser.addoption("--soak", action="store_true", help="run the slow suite of tests/soak alone")
    parser.addoption("--engine", action="store_true", help="run tests/real_engine: a real SGLang")


def pytest_configure() -> None:
    """Let Ctrl-C end what tests start, also where a shell's & has us ignore it: children inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    for part, option in (("soak", "--soak"), ("real_engine", "--engine")):
        if part in collection_path.parts and not config.getoption(option):
            return True
    return None


@functools.cache
def _sees_servers(module: Path) -> bool:
    return bool(_SERVERS.search(module.read_text(encoding="utf-8")))


class Together(LoadScopeScheduling):
    """Two workers share the files; those that start servers, or look for all of them, stay with one.

    Marks of groups do not reach xdist 3.8 from pytest 9.2, whose items are named by an object of their own.
    """

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return "servers" if _sees_servers(_ROOT / file) else file


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Together:
    return Together(config, log)


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


@pytest.fixture(scope="module", autouse=True)
def nobody_is_left(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """End the servers that a module's tests orphaned: other tests look for all servers of this machine."""
    yield
    for orphan in engine.orphans(tmp_path_factory.getbasetemp()):
        with suppress(ProcessLookupError):
            os.kill(orphan, signal.SIGKILL)


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
