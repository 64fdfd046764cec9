"""The ledger: what models took on a day, added up by many at once."""

from __future__ import annotations

import threading
from collections.abc import Callable

from bot.store import Store


def test_a_day_adds_up_over_processes_and_another_begins_at_nothing(
    opened: Callable[..., Store],
) -> None:
    first, second = opened("replica-0"), opened("replica-1")
    assert first.ledger.take("2026-11-30", 100, 0.5) == (100, 0.5)
    assert second.ledger.take("2026-11-30", 50, 0.25) == (150, 0.75)
    assert first.ledger.take("2026-11-30", -120, -0.5) == (30, 0.25)
    assert first.ledger.take("2026-12-01", 10**10, 0.0) == (10**10, 0.0)


def test_each_of_many_at_once_sees_a_sum_of_its_own(store: Store) -> None:
    sums: list[int] = []

    def take() -> None:
        sums.extend(store.ledger.take("2026-11-30", 1, 0.0)[0] for _ in range(5))

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(sums) == list(range(1, 21))
