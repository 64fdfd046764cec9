"""A replica that stands still in the middle of a transaction holds up nobody."""

from __future__ import annotations

import threading

import pytest

from bot.store import Store, StoreError, database
from tests.lab.postgres import Cluster


def test_who_is_frozen_in_the_middle_of_a_beat_is_taken_over_and_beats_again_when_it_thaws(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "IDLE_S", 1)
    url = cluster.database()
    frozen, other = Store.open(url, executor="bot-0"), Store.open(url, executor="bot-1")
    inside, thaws = threading.Event(), threading.Event()
    ends: list[Exception] = []

    def stand_still() -> None:
        try:
            with frozen.together():
                frozen.replicas.beat("runs")
                inside.set()
                thaws.wait(60)
        except StoreError as why:
            ends.append(why)

    frozen.replicas.beat("runs")
    standing = threading.Thread(target=stand_still)
    standing.start()
    try:
        assert inside.wait(60)
        (last,) = other.replicas.others()
        taken: list[bool] = []
        taking = threading.Thread(
            target=lambda: taken.append(other.replicas.let_go(last)), daemon=True
        )
        taking.start()
        taking.join(60)
        assert taken == [True]
    finally:
        thaws.set()
        standing.join()
    assert len(ends) == 1, "what it did meanwhile counts for nothing, and it is told"
    assert not frozen.replicas.beat("runs"), "its row is still there, and it lives again"
    frozen.close()
    other.close()
