"""Schedules, what is known, and what is watched: each kept once, whoever says it how often."""

from __future__ import annotations

import threading
from collections.abc import Callable

from bot.settings.schedule import Schedule
from bot.store import Store
from bot.store.known import KNOWN_S
from bot.store.watches import EVERY_S, WATCHED_S


def test_a_channel_has_one_schedule_for_the_same_hosts(store: Store) -> None:
    store.schedules.put(Schedule(channel="C111", groups=("A6000",)), "U1")
    store.schedules.put(Schedule(channel="C111", groups=("a6000",), at="09:00"), "U2")
    store.schedules.put(Schedule(channel="C111"), "U1")
    store.schedules.put(Schedule(channel="C222"), "U1")
    kept = store.schedules.all("C111")
    assert [(one.schedule.at, one.user) for one in kept] == [("09:00", "U2"), ("08:30", "U1")]
    assert len(store.schedules.all()) == 3
    assert not store.schedules.remove(kept[0].id, "C222")  # another channel's is not ours to take
    assert store.schedules.remove(kept[0].id, "C111")
    assert not store.schedules.remove(kept[0].id, "C111")


def test_what_somebody_knows_of_is_known_for_thirty_days(store: Store, clock) -> None:
    until = store.acknowledged.add("CT129", {"pcie_gen_low_under_load", "decode"}, "U1")
    assert until == clock.now + KNOWN_S
    assert store.acknowledged.of("ct129") == {"pcie_gen_low_under_load", "decode"}
    assert store.acknowledged.of("CT130") == frozenset()
    clock.now = until
    assert store.acknowledged.of("CT129") == frozenset()
    store.acknowledged.add("CT129", {"decode"}, "U2")
    assert store.acknowledged.of("CT129") == {"decode"}


def test_a_watch_is_due_every_quarter_of_an_hour_and_ends_once(store: Store, clock) -> None:
    assert store.watches.add("CT129", "xid", "C1", "1.0", "U1")
    assert not store.watches.add("ct129", "xid", "C1", "1.0", "U2")
    assert store.watches.add("CT129", "xid", "C1", "2.0", "U2")
    assert store.watches.claim(9) == []
    clock.now += EVERY_S
    first, second = store.watches.claim(9)
    assert (first.host, first.cause, first.gone) == ("CT129", "xid", False)
    store.watches.looked(first.id, gone=True)
    assert store.watches.claim(9) == []  # one is looked at now, the other one was
    clock.now += EVERY_S
    assert {one.id: one.gone for one in store.watches.claim(9)} == {
        first.id: True,
        second.id: False,
    }
    assert store.watches.end(first.id, "it happened")
    assert not store.watches.end(first.id, "it happened")
    assert store.watches.of_thread("C1", "1.0") == []
    assert second.until == clock.now + WATCHED_S - 2 * EVERY_S


def test_a_watch_is_claimed_by_one_process(opened: Callable[..., Store], clock) -> None:
    stores = [opened() for _ in range(3)]
    for n in range(30):
        stores[0].watches.add(f"gpu-{n}", "xid", "C1", "1.0", "U1")
    clock.now += EVERY_S
    taken: list[int] = []
    start = threading.Barrier(3)

    def work(store: Store) -> None:
        start.wait()
        while found := store.watches.claim(4):
            taken.extend(one.id for one in found)

    threads = [threading.Thread(target=work, args=(store,)) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == len(set(taken)) == 30
