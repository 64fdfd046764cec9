"""So many go through one jump host at a time: over threads, replicas, and deaths in between."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from bot.gates import Gates
from bot.replica import Replica
from bot.settings import HostSettings, Limits, Service, Settings
from bot.store import Store, StoreError
from bot.store.lock import hold_any
from bot.store.places import LEASE_S
from bot.work.sweeps import Sweeps
from bot.work.turn import Turn
from bot.work.watching import Watching
from tools.errors import Unreachable

SETTINGS = Settings(
    hosts={name: HostSettings() for name in ("a", "b", "c", "alone")}, limits=Limits(per_jump=2)
)


class Clock:
    now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def opened(url: str, clock: Clock) -> Iterator[Callable[..., Store]]:
    stores: list[Store] = []

    def again(executor: str) -> Store:
        stores.append(Store.open(url, executor=executor, now=clock))
        return stores[-1]

    yield again
    for store in stores:
        store.close()


def jump(name: str, _settings: Settings) -> str:
    return "" if name == "alone" else "bastion"


def test_there_are_so_many_places_and_no_more(opened: Callable[..., Store]) -> None:
    places = opened("bot-0").places
    first, second = places.take("jump gw", 2), places.take("jump gw", 2)
    assert places.take("jump gw", 2) is None
    assert places.take("jump other", 1) is not None
    assert first is not None
    places.give_back(first)
    assert places.take("jump gw", 2) not in (None, first, second)


def test_who_lives_holds_on_and_who_died_gives_back(
    opened: Callable[..., Store], clock: Clock
) -> None:
    one = opened("bot-0")
    assert one.places.take("jump gw", 1)
    clock.now += LEASE_S - 1
    one.places.renew()
    clock.now += LEASE_S - 1
    assert one.places.take("jump gw", 1) is None
    assert opened("bot-0").places.take("jump gw", 1)  # the same replica, begun anew


def test_another_replica_waits_until_the_lease_has_run_out(
    opened: Callable[..., Store], clock: Clock
) -> None:
    one, other = opened("bot-0"), opened("bot-1")
    if not one.shared:
        return
    assert one.places.take("jump gw", 1)
    clock.now += LEASE_S - 1
    assert other.places.take("jump gw", 1) is None
    clock.now += 2
    assert other.places.take("jump gw", 1)


def test_many_threads_of_two_replicas_are_never_more_than_allowed(url: str) -> None:
    stores = [Store.open(url, executor=f"bot-{n}") for n in range(2)]
    stores = stores if stores[0].shared else stores[:1] * 2
    inside, most, guard = 0, 0, threading.Lock()

    def look(gates: Gates) -> None:
        nonlocal inside, most
        for host in ("a", "b", "c"):
            with gates.through(host):
                with guard:
                    inside, most = inside + 1, max(most, inside + 1)
                with gates.through(host):  # asks the host inside: no second place
                    threading.Event().wait(0.005)
                with guard:
                    inside -= 1

    gates = [Gates(store, SETTINGS, jump) for store in stores]
    threads = [threading.Thread(target=look, args=(gates[n % 2],)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 2
    assert stores[0].places.held("jump bastion") == 0
    for store in {*stores}:
        store.close()


def test_a_host_without_a_jump_host_waits_for_nobody(opened: Callable[..., Store]) -> None:
    store = opened("bot-0")
    gates = Gates(store, SETTINGS, jump, wait_s=0.05)
    with gates.through("a"):
        held = threading.Thread(target=lambda: store.places.take("jump bastion", 2))
        held.start()
        held.join()
        with gates.through("alone"):
            pass
        told: list[str] = []

        def third() -> None:
            try:
                with gates.through("b"):
                    told.append("through")
            except Unreachable as why:
                told.append(str(why))

        waits = threading.Thread(target=third)
        waits.start()
        waits.join()
    assert told == ["2 others are asked through bastion, and none of them came to an end"]


def test_the_jump_host_is_what_openssh_says(tmp_path: Any, opened: Callable[..., Store]) -> None:
    config = tmp_path / "config"
    config.write_text("Host far\n  HostName 127.0.0.9\n  ProxyJump bastion\n")
    known = Settings(hosts={"far": HostSettings(ssh_config=config), "me": HostSettings(local=True)})
    store = opened("bot-0")
    gates = Gates(store, known)
    with gates.through("far"):
        assert store.places.held("jump bastion") == 1
    with gates.through("me"):
        assert store.places.held("jump bastion") == 0


def test_a_sweep_holds_the_place_before_it_has_its_turn(opened: Callable[..., Store]) -> None:
    store, turn = opened("bot-0"), Turn()
    gates = Gates(store, SETTINGS, jump)
    nothing: Any = None
    sweeps = Sweeps(store, SETTINGS, nothing, nothing, turn, through=gates.through)
    watching = Watching(store, SETTINGS, nothing, nothing, turn, gates.through)

    def pass_through(gate: Callable[[str], Any]) -> None:
        with gate("a"):
            pass

    for one in (sweeps, watching):
        waits = threading.Thread(target=pass_through, args=(one._gate,))
        with turn.mine():  # somebody thinks for long
            waits.start()
            until = time.monotonic() + 60
            while not store.places.held("jump bastion") and time.monotonic() < until:
                time.sleep(0.01)
            assert store.places.held("jump bastion") == 1
        waits.join()
        assert store.places.held("jump bastion") == 0


class Asked:
    """A host that looks, while it is asked, how many places are held."""

    name = "a"

    def __init__(self, store: Store) -> None:
        self.store, self.held = store, list[int]()

    def answer(self, probes: Any, /) -> Any:
        self.held.append(self.store.places.held("jump bastion"))
        return ()

    def close(self) -> None:
        return


def test_a_host_is_asked_while_its_place_is_held(opened: Callable[..., Store]) -> None:
    store = opened("bot-0")
    replica = Replica(Service(), SETTINGS, store, None)
    replica.gates = Gates(store, SETTINGS, jump)
    host = Asked(store)
    gated = replica.gated(lambda _name, _known: host)("a", SETTINGS)
    assert (gated.name, gated.answer(())) == ("a", ())
    assert (host.held, store.places.held("jump bastion")) == ([1], 0)


def test_a_replica_without_a_name_takes_the_first_that_is_free(url: str) -> None:
    if url.startswith("sqlite"):
        with pytest.raises(StoreError, match="Another perfsleuth bot"):
            _two(url)
        return
    locks = [hold_any(url) for _ in range(3)]
    assert [name for _, name in locks] == ["perfsleuth-0", "perfsleuth-1", "perfsleuth-2"]
    locks[1][0].release()
    replica = Replica.open(Service(database_url=url, executor="auto"), Settings())
    assert replica.service.executor == "perfsleuth-1"
    replica.close()
    for number in (0, 2):
        locks[number][0].release()


def _two(url: str) -> None:
    lock, _ = hold_any(url)
    try:
        hold_any(url)
    finally:
        lock.release()
