"""Who is dead is told by the clock of the database, and never of a replica that could not say it lives."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest

from bot.beats import LOOKS, Beats
from bot.letter import Letter
from bot.store import Store
from tests.lab.postgres import Cluster

Opened = Callable[[str], Store]
SILENT_S = 0.3


class Taken:
    """Jobs, as far as beats know them."""

    def __init__(self) -> None:
        self.of: list[str] = []

    def take_over(self, executor: str, *_: object) -> int:
        self.of.append(executor)
        return 1


@pytest.fixture
def opened(cluster: Cluster) -> Iterator[Opened]:
    url, stores = cluster.database(), []

    def open_(executor: str) -> Store:
        stores.append(Store.open(url, executor=executor))
        return stores[-1]

    yield open_
    for store in stores:
        store.close()


def beats(store: Store, jobs: Taken) -> Beats:
    """Beats that are told when to look: their own next time is far away."""
    return Beats(store, jobs, every_s=600.0, silent_s=SILENT_S)  # type: ignore[arg-type]


def test_who_came_up_after_a_death_need_not_count_the_silence_anew(opened: Opened) -> None:
    opened("bot-0").replicas.beat("w")
    time.sleep(SILENT_S)
    jobs = Taken()
    late = beats(opened("bot-1"), jobs).begin()
    for _ in range(LOOKS - 2):
        late.once()
    assert jobs.of == []
    late.once()
    assert jobs.of == ["bot-0"]
    assert opened("bot-2").replicas.others()[0].executor == "bot-1"  # the dead one is struck off
    late.close()


def test_after_the_database_was_away_everybody_can_beat_before_anybody_is_taken_for_dead(
    opened: Opened,
) -> None:
    one, other, jobs = opened("bot-0"), opened("bot-1"), Taken()
    one.replicas.beat("w")
    watching = beats(other, jobs).begin()
    for _ in range(2 * LOOKS):
        time.sleep(SILENT_S)  # longer than a silence: nobody could beat
        watching.once()
        one.replicas.beat("w")
    assert jobs.of == []
    watching.close()


def test_a_clock_that_looks_often_takes_nobody_for_dead_before_its_silence(opened: Opened) -> None:
    opened("bot-0").replicas.beat("w")
    jobs = Taken()
    watching = Beats(opened("bot-1"), jobs, every_s=600.0, silent_s=600.0).begin()  # type: ignore[arg-type]
    for _ in range(3 * LOOKS):
        watching.once()
    assert jobs.of == []
    watching.close()


def test_what_an_earlier_process_of_a_name_held_is_free_for_all_when_the_name_comes_back(
    opened: Opened,
) -> None:
    dead, other = opened("bot-0"), opened("bot-1")
    dead.replicas.beat("w")
    dead.letters.add(Letter(key="say:1", kind="word", channel="C1", thread="1.0", parts=()))
    assert dead.letters.sending("say:1")
    other.sweeps.open(1, "2026-11-30", ["a"], daily=True)
    assert dead.sweeps.claim(1, 1) == ["a"]
    assert dead.places.take("jump gw", 1)
    again = opened("bot-0")
    assert (other.letters.due(), other.sweeps.claim(1, 1)) == ([], [])
    assert again.replicas.beat("w")
    assert [due.uncertain for due in other.letters.due()] == [True]
    assert other.sweeps.claim(1, 1) == ["a"]
    assert other.places.take("jump gw", 1)
    assert not again.replicas.beat("w")  # what it holds by now is its own
    assert again.sweeps.claim(1, 1) == []
