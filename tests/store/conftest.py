"""A store on SQLite and on PostgreSQL: what holds on one must hold on the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bot.store import Store
from tests.lab import postgres
from tests.lab.postgres import Cluster


class Clock:
    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    if not all(postgres.PROGRAMS.values()):
        pytest.skip(postgres.MISSING)
    cluster = Cluster()
    yield cluster
    cluster.remove()


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/state/perfsleuth.sqlite"
    cluster: Cluster = request.getfixturevalue("cluster")
    return cluster.database()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def opened(url: str, clock: Clock) -> Iterator[Callable[..., Store]]:
    """Opens the same database as often as wanted, each time like a process of its own."""
    stores: list[Store] = []

    def again(executor: str | None = None) -> Store:
        stores.append(Store.open(url, executor=executor, now=clock))
        return stores[-1]

    yield again
    for store in stores:
        store.close()


@pytest.fixture
def store(opened: Callable[..., Store]) -> Store:
    return opened("replica-0")
