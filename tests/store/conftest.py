"""A store on SQLite and on PostgreSQL: what holds on one must hold on the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from bot.store import Store


class Clock:
    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


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
