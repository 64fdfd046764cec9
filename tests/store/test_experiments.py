"""The books of an experiment: one holder of a server, steps that stay, results that are found again."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from bot.experiment.books import Held, Overtaken, Said
from bot.experiment.record import Record
from bot.store import Store, StoreError
from bot.store.change_tables import experiments as rows
from tests.proposal.made import proposal


def run_of(store: Store, key: str) -> int:
    run = store.runs.add(
        key, "experiment", host="CT129", port=30000, channel="C1", thread="1.0", user="U1"
    )
    assert run is not None
    return run.id


def record(run: int, fence: int, **more: Any) -> Record:
    told = {"name": f"x{run}", "proposal": proposal(), "began_at": 1.0} | more
    return Record(run=run, fence=fence, **told)


def test_a_run_knows_what_was_approved_for_it(store: Store, clock) -> None:
    made = store.proposals.add(7, proposal(), user="U1", channel="C1", thread="1.0", lives_s=60)
    run = run_of(store, "x")
    assert store.experiments.approved(run) is None
    store.proposals.approve(made.id, made.digest, "U9")
    store.proposals.begun(made.id, run)
    found = store.experiments.approved(run)
    assert found is not None
    assert (found.proposal, found.digest, found.by, found.at) == (
        made.proposal,
        made.digest,
        "U9",
        clock.now,
    )


def test_a_server_has_one_holder_and_its_fence_only_grows(store: Store) -> None:
    first, second = run_of(store, "a"), run_of(store, "b")
    take, books = store.experiments.take, store.experiments
    assert (take("CT129", 30000, first), take("ct129", 30000, first)) == (1, 2)
    assert take("CT129", 30001, second) == take("CT130", 30000, second) == 1
    with pytest.raises(Held, match=f"CT129 is held by the experiment of run {first}, since 20"):
        take("CT129", 30000, second)
    books.give_back("CT129", 30000, second)
    assert books.holder("CT129", 30000) == first
    books.give_back("CT129", 30000, first)
    assert books.holder("CT129", 30000) is None
    assert take("CT129", 30000, second) == 3
    assert books.holder("CT129", 30000) == second


def test_a_run_that_has_ended_holds_nothing(store: Store) -> None:
    first, second = run_of(store, "a"), run_of(store, "b")
    store.experiments.take("CT129", 30000, first)
    store.runs.end(first, "failed")
    assert store.experiments.holder("CT129", 30000) is None
    assert store.experiments.take("CT129", 30000, second) == 2


def test_of_many_who_take_a_server_at_once_one_has_it(opened: Callable[..., Store]) -> None:
    stores = [opened(f"replica-{n}") for n in range(3)]
    ids = [run_of(stores[0], f"k{n}") for n in range(9)]
    won: list[tuple[int, int]] = []
    start = threading.Barrier(9)

    def take(store: Store, run: int) -> None:
        start.wait()
        try:
            won.append((run, store.experiments.take("CT129", 30000, run)))
        except Held:
            return

    threads = [threading.Thread(target=take, args=(stores[n % 3], ids[n])) for n in range(9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert won == [(stores[1].experiments.holder("CT129", 30000), 1)]


def test_a_record_comes_out_as_it_went_in_with_its_steps_in_order(store: Store) -> None:
    run = run_of(store, "a")
    fence = store.experiments.take("CT129", 30000, run)
    assert store.experiments.load(run) is None
    armed = record(run, fence, phase="arming")
    store.experiments.save(
        armed, [Said(1.0, "arming", "The keeper is sent."), Said(2.0, "arming", "b \0")]
    )
    before = record(run, fence, phase="before", reason="nul \0 and \u202e \U0001f525")
    store.experiments.save(before, [Said(3.0, "before", "Measured as it is.", 2.5, ill=True)])
    found = store.experiments.load(run)
    assert found is not None
    assert found == before
    first, second, third = store.experiments.said(run)
    assert (first, second.text) == (
        Said(1.0, "arming", "The keeper is sent."),
        "b \N{REPLACEMENT CHARACTER}",
    )
    assert third == Said(3.0, "before", "Measured as it is.", 2.5, ill=True)


def test_a_process_that_only_seemed_dead_writes_nothing_more(opened: Callable[..., Store]) -> None:
    late, store = opened("replica-0"), opened("replica-1")
    run = run_of(store, "a")
    old = late.experiments.take("CT129", 30000, run)
    late.experiments.save(record(run, old, phase="stopping"))
    new = store.experiments.take("CT129", 30000, run)
    with pytest.raises(Overtaken, match=f"experiment of run {run}"):
        late.experiments.save(record(run, old, phase="starting"), [Said(1.0, "starting", "late")])
    store.experiments.save(record(run, new, phase="restoring"))
    with pytest.raises(Overtaken):
        late.experiments.save(record(run, old, phase="starting"))
    found = store.experiments.load(run)
    assert found is not None
    assert found.phase == "restoring"
    assert store.experiments.said(run) == []


def test_a_record_of_another_version_is_told_and_left_out_of_results(store: Store) -> None:
    run, other = run_of(store, "a"), run_of(store, "b")
    for one in (run, other):
        fence = store.experiments.take("CT129", 30000, one)
        store.experiments.save(record(one, fence, phase="kept", ended_at=5.0))
        store.experiments.give_back("CT129", 30000, one)
    with store._database.writing() as connection:
        connection.execute(rows.update().where(rows.c.run == run).values(body='{"shape": "new"}'))
    with pytest.raises(StoreError, match=f"run {run} was written by another version"):
        store.experiments.load(run)
    assert [one.run for one in store.experiments.results("ct129", None, 9)] == [other]


def test_results_are_found_by_host_and_model_newest_first(store: Store) -> None:
    told = [("CT129", "A", 3.0), ("CT129", "B", 5.0), ("CT_29", "A", 4.0), ("CT129", "A", None)]
    for number, (host, model, ended_at) in enumerate(told, start=1):
        made = proposal(host, model=model)
        store.experiments.take(host, 30000, number)
        store.experiments.save(
            Record(run=number, name="x", fence=9, proposal=made, began_at=1.0, ended_at=ended_at)
        )
    found = store.experiments.results
    assert [one.run for one in found(None, None, 9)] == [2, 3, 1]
    assert [one.run for one in found(None, None, 1)] == [2]
    assert [one.run for one in found("ct129", None, 9)] == [2, 1]
    assert [one.run for one in found("CT_29", None, 9)] == [3]
    assert [one.run for one in found("CT129", "A", 9)] == [1]
