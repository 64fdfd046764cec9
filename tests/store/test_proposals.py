"""A proposal is approved once, as it was shown, in its time, or not at all."""

from __future__ import annotations

import threading
from collections.abc import Callable

from bot.store import Offer, Store
from bot.store.change_tables import proposals as rows
from tests.proposal.made import proposal
from tools.change import KeepRule

HOUR_S = 3600.0


def offer(store: Store, run: int = 1, **more: object) -> Offer:
    made = proposal(**more)
    return store.proposals.add(run, made, user="U1", channel="C1", thread="1.0", lives_s=HOUR_S)


def state(store: Store, id: int) -> str:
    found = store.proposals.get(id)
    assert found is not None
    return found.state


def test_a_proposal_comes_out_as_it_was_shown(store: Store, clock) -> None:
    made = offer(store)
    assert made == store.proposals.get(made.id) == store.proposals.of_run(1)
    assert made == store.proposals.newest_in("C1", "1.0")
    assert made == store.proposals.pending_on("ct129", 30000)
    assert made.proposal == proposal()
    assert (made.state, made.digest, made.expires_at) == (
        "pending",
        proposal().digest,
        clock.now + HOUR_S,
    )
    assert store.proposals.of_run(2) is store.proposals.newest_in("C1", "2.0") is None


def test_a_run_that_is_carried_out_again_proposes_nothing_new(store: Store) -> None:
    first = offer(store)
    assert offer(store, keep=KeepRule(better_pct=50)) == first


def test_it_is_approved_by_what_was_shown_and_by_nothing_else(store: Store, clock) -> None:
    made = offer(store)
    assert not store.proposals.approve(made.id, "f" * 64, "U9")
    assert not store.proposals.approve(made.id + 1, made.digest, "U9")
    assert state(store, made.id) == "pending"
    assert store.proposals.approve(made.id, made.digest, "U9")
    assert not store.proposals.approve(made.id, made.digest, "U9")
    assert not store.proposals.decline(made.id, "U9")
    found = store.proposals.get(made.id)
    assert found is not None
    assert (found.state, found.decided_by, found.decided_at) == ("approved", "U9", clock.now)


def test_after_its_time_it_cannot_be_approved(store: Store, clock) -> None:
    made = offer(store)
    clock.now += HOUR_S
    assert not store.proposals.approve(made.id, made.digest, "U9")
    assert store.proposals.pending_on("CT129", 30000) is None
    (late,) = store.proposals.expire()
    assert (late.id, late.state, late.decided_by) == (made.id, "expired", None)
    assert store.proposals.expire() == []


def test_a_newer_one_for_the_same_server_replaces_it(store: Store) -> None:
    first = offer(store)
    elsewhere = offer(store, 2, host="CT130")
    other_port = offer(store, 3, port=30001)
    second = offer(store, 4, host="ct129", keep=KeepRule(better_pct=5))
    assert [state(store, one.id) for one in (first, elsewhere, other_port, second)] == [
        "replaced",
        "pending",
        "pending",
        "pending",
    ]
    assert not store.proposals.approve(first.id, first.digest, "U9")
    assert store.proposals.pending_on("CT129", 30000) == second


def test_of_many_who_approve_at_once_one_does(opened: Callable[..., Store]) -> None:
    stores = [opened(f"replica-{n}") for n in range(3)]
    made = offer(stores[0])
    won: list[str] = []
    start = threading.Barrier(9)

    def approve(store: Store, user: str) -> None:
        start.wait()
        if store.proposals.approve(made.id, made.digest, user):
            won.append(user)

    threads = [threading.Thread(target=approve, args=(stores[n % 3], f"U{n}")) for n in range(9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = stores[1].proposals.get(made.id)
    assert found is not None
    assert [found.decided_by] == won


def test_of_many_who_propose_for_one_server_at_once_the_last_is_pending(
    opened: Callable[..., Store],
) -> None:
    stores = [opened(f"replica-{n}") for n in range(3)]
    start = threading.Barrier(6)

    def propose(number: int) -> None:
        start.wait()
        offer(stores[number % 3], number, keep=KeepRule(better_pct=number))

    threads = [threading.Thread(target=propose, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    made = [found for n in range(6) if (found := stores[0].proposals.of_run(n))]
    assert sorted(one.state for one in made) == ["pending", *["replaced"] * 5]
    newest = max(made, key=lambda one: one.id)
    assert newest.state == "pending"


def test_a_body_of_another_version_is_not_there_and_stops_nobody(store: Store, caplog) -> None:
    made, other = offer(store), offer(store, 2, host="CT130")
    with store._database.writing() as connection:
        statement = rows.update().where(rows.c.id == made.id)
        connection.execute(statement.values(body='{"shape": "a secret"}'))
    assert store.proposals.get(made.id) is None
    assert store.proposals.get(other.id) == other
    assert "a secret" not in caplog.text


def test_what_nobody_decided_is_counted_for_who_asked(store: Store, clock) -> None:
    offer(store)
    second = offer(store, 2, host="CT130")
    assert store.proposals.count_pending("U1") == 2
    assert store.proposals.count_pending("U2") == 0
    assert store.proposals.decline(second.id, "U1")
    assert store.proposals.count_pending("U1") == 1
    clock.now += HOUR_S
    assert store.proposals.count_pending("U1") == 0
