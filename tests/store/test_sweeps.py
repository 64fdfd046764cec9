"""A sweep is shared host by host: nobody is looked at twice, and what a dead process held is taken over."""

from __future__ import annotations

import threading
from collections.abc import Callable

from bot.health.looked import Looked
from bot.store import Store
from bot.store.sweeps import LEASE_S

HOSTS = [f"gpu-{n}" for n in range(200)]


WEEK_S = 7 * 24 * 3600.0


def seen(host: str, state: str = "seen") -> Looked:
    return Looked.model_validate({"host": host, "at": 1.0, "state": state})


def test_each_host_is_looked_at_once_though_many_processes_claim(
    opened: Callable[..., Store],
) -> None:
    stores = [opened(f"replica-{n}") for n in range(3)]
    stores[0].sweeps.open(1, "2026-11-30", HOSTS, daily=True)
    taken: list[str] = []
    start = threading.Barrier(6)

    def work(store: Store) -> None:
        start.wait()
        while found := store.sweeps.claim(1, 4):
            taken.extend(found)
            for host in found:
                assert store.sweeps.done(1, seen(host))

    threads = [threading.Thread(target=work, args=(stores[n % 3],)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == sorted(HOSTS)
    assert set(stores[0].sweeps.takes(1).values()) == {1}
    assert stores[1].sweeps.left(1) == 0
    assert stores[2].sweeps.opened() == []
    date, looks = stores[2].sweeps.looks(1)
    assert (date, [one.host for one in looks]) == ("2026-11-30", HOSTS)


def test_a_second_beginning_changes_nothing(store: Store) -> None:
    store.sweeps.open(1, "2026-11-30", ["a"], daily=False)
    assert store.sweeps.claim(1, 5) == ["a"]
    assert store.sweeps.done(1, seen("a"))
    store.sweeps.open(1, "2026-12-01", ["a", "b"], daily=True)
    assert (store.sweeps.claim(1, 5), store.sweeps.looks(1)[0]) == ([], "2026-11-30")


def test_what_another_replica_holds_is_free_after_its_lease_and_what_we_held_at_once(
    opened: Callable[..., Store], clock
) -> None:
    dead, other = opened("replica-0"), opened("replica-1")
    dead.sweeps.open(1, "2026-11-30", ["a"], daily=False)
    assert dead.sweeps.claim(1, 5) == ["a"]
    assert other.sweeps.claim(1, 5) == []
    assert opened("replica-0").sweeps.claim(1, 5) == ["a"]  # the same replica, started again
    clock.now += LEASE_S - 1
    assert other.sweeps.claim(1, 5) == []
    clock.now += 1
    assert other.sweeps.claim(1, 5) == ["a"]
    assert other.sweeps.done(1, seen("a"))
    assert not dead.sweeps.done(1, seen("a", "unreachable"))  # it lived after all: the first stands
    assert [one.state for one in other.sweeps.looks(1)[1]] == ["seen"]


def test_a_sweep_of_no_host_is_done_at_once(store: Store) -> None:
    store.sweeps.open(1, "2026-11-30", [], daily=True)
    assert (store.sweeps.left(1), store.sweeps.opened()) == (0, [])


def test_the_days_of_a_host_are_those_of_daily_sweeps_and_are_kept_ninety_days(
    store: Store, clock
) -> None:
    for run, date in enumerate(("2026-11-28", "2026-11-29", "2026-11-30"), start=1):
        store.sweeps.open(run, date, ["CT129"], daily=run != 2)
        assert store.sweeps.claim(run, 1)
        assert store.sweeps.done(run, seen("CT129"))
    found = store.days.before(["ct129"], "2026-11-30", 42)
    assert [date for date, _ in found["ct129"]] == ["2026-11-28"]
    assert store.days.before(["CT129"], "2026-12-01", 1)["CT129"][0][0] == "2026-11-30"
    store.sweeps.left(1)
    clock.now += WEEK_S
    assert store.tidy(WEEK_S) == 3  # two days, and the host of the one sweep that was closed
    assert store.days.before(["CT129"], "2027-01-01", 42)["CT129"] == []
