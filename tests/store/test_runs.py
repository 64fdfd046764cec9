"""A run goes from the question to its end, and each step of it is taken once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from bot.store import Run, Store
from tools.case import Case


def ask(store: Store, key: str, host: str | None = "CT129", **more: Any) -> Run:
    place = {"channel": "C1", "thread": "1.0", "user": "U1", "kind": "host"} | more
    run = store.runs.add(key, host=host, **place)
    assert run is not None
    return run


def test_a_message_becomes_one_run(store: Store, clock) -> None:
    run = ask(store, "C1/1.0", text="why is CT129 slow?", message="{}", port=30000)
    assert run == Run(
        run.id, "C1/1.0", "host", "waiting", "CT129", 30000, "C1", "1.0", "U1", "why is CT129 slow?", "{}", clock.now
    )  # fmt: skip
    assert store.runs.add("C1/1.0", "host", channel="C1", thread="1.0", user="U1") is None
    assert store.runs.get(run.id) == store.runs.by_key("C1/1.0") == run
    assert store.runs.get(run.id + 1) is store.runs.by_key("C1/2.0") is None


def test_it_begins_once_and_a_restart_is_counted(store: Store, clock) -> None:
    run = ask(store, "a")
    begun = store.runs.begin(run.id)
    assert begun is not None
    assert (begun.state, begun.began_at, begun.restarts) == ("running", clock.now, 0)
    clock.now += 9
    again = store.runs.begin(run.id)
    assert again is not None
    assert (again.began_at, again.restarts) == (begun.began_at, 1)
    assert store.runs.end(run.id, "done", category="hardware", headline="The link runs at Gen1.")
    assert store.runs.begin(run.id) is None
    ended = store.runs.get(run.id)
    assert ended is not None
    assert ended.ended
    assert (ended.ended_at, ended.category, ended.headline) == (
        clock.now,
        "hardware",
        "The link runs at Gen1.",
    )


def test_it_ends_once_though_many_would_end_it(opened: Callable[..., Store]) -> None:
    stores = [opened() for _ in range(2)]
    run = ask(stores[0], "a")
    won: list[str] = []
    start = threading.Barrier(8)

    def end(store: Store, state: Any) -> None:
        start.wait()
        if store.runs.end(run.id, state):
            won.append(state)

    threads = [
        threading.Thread(target=end, args=(stores[n % 2], ("done", "stopped")[n // 4]))
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ended = stores[0].runs.get(run.id)
    assert ended is not None
    assert [ended.state] == won


def test_the_open_run_of_a_host_is_found_whatever_the_case_of_its_name(store: Store) -> None:
    ask(store, "file", kind="files", host=None)
    first = ask(store, "a")
    ask(store, "b", host="ct129", state="joined", joins=first.id)
    for _ in ("waiting", "running"):
        found = store.runs.open_on("Ct129")
        assert found is not None
        assert found.id == first.id
        store.runs.begin(first.id)
    store.runs.end(first.id, "done")
    assert store.runs.open_on("CT129") is None


def test_of_two_who_ask_of_one_host_at_once_the_second_joins(opened: Callable[..., Store]) -> None:
    stores = [opened() for _ in range(4)]
    start = threading.Barrier(4)

    def decide(number: int) -> None:
        store = stores[number]
        start.wait()
        with store.together():
            before = store.runs.open_on("CT129")
            state = "waiting" if before is None else "joined"
            ask(store, f"k{number}", state=state, joins=before.id if before else None)

    threads = [threading.Thread(target=decide, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    runs = stores[0].runs.open()
    assert [run.state for run in runs] == ["waiting", "joined", "joined", "joined"]
    assert stores[0].runs.joined_to(runs[0].id) == runs[1:]


def test_who_joins_may_get_a_turn_of_its_own(store: Store) -> None:
    first = ask(store, "a")
    joined = ask(store, "b", state="joined", joins=first.id)
    assert store.runs.begin(joined.id) is None
    assert store.runs.rejoin(joined.id, None)
    assert not store.runs.rejoin(joined.id, first.id)
    turn = store.runs.get(joined.id)
    assert turn is not None
    assert (turn.state, turn.joins) == ("waiting", None)


def test_the_first_who_asks_for_a_stop_is_remembered(store: Store) -> None:
    run, other = ask(store, "a"), ask(store, "b", host="CT130")
    assert store.runs.ask_stop(run.id, "U7")
    assert not store.runs.ask_stop(run.id, "U8")
    assert store.runs.stop_asked([run.id, other.id]) == {run.id: "U7"}
    assert store.runs.stop_asked([]) == {}
    store.runs.end(other.id, "done")
    assert not store.runs.ask_stop(other.id, "U7")


def test_a_thread_knows_what_was_asked_in_it(store: Store) -> None:
    one, two = ask(store, "a"), ask(store, "b", kind="followup", host=None)
    ask(store, "c", thread="2.0")
    ask(store, "d", channel="C2")
    assert store.runs.in_thread("C1", "1.0") == [one, two]


def test_the_last_run_of_a_host_is_the_newest_that_left_a_case(store: Store) -> None:
    for key, state, learned in (
        ("old", "done", True),
        ("new", "done", True),
        ("bare", "failed", False),
    ):
        run = ask(store, key)
        if learned:
            store.cases.save(run.id, Case(host="CT129"))
        store.runs.end(run.id, state)
    running = ask(store, "now")
    store.cases.save(running.id, Case(host="CT129"))
    last = store.runs.last_of("ct129")
    assert last is not None
    assert last.key == "new"
    assert store.runs.last_of("CT130") is None


def test_limits_can_be_counted(store: Store, clock) -> None:
    first = ask(store, "a")
    ask(store, "b", host="CT130", user="U2")
    ask(store, "c", host="CT131", channel="C2")
    ask(store, "d", state="joined", joins=first.id)
    ask(store, "e", kind="files", host=None)
    count = store.runs.count_open
    assert (count(), count(user="U1"), count(channel="C1"), count("U1", "C2")) == (3, 2, 2, 1)
    store.runs.end(first.id, "done")
    assert count() == 2
    clock.now += 3600
    ask(store, "f", host="CT132")
    assert store.runs.count_since("U1", clock.now) == 1
    assert store.runs.count_since("U1", clock.now - 3600) == 5


def test_threads_to_look_at_after_a_gap_have_recent_or_open_work(store: Store, clock) -> None:
    ask(store, "a")
    ended = ask(store, "b", host="CT130", thread="2.0")
    store.runs.end(ended.id, "done")
    clock.now += 100
    ask(store, "c", host="CT131", thread="3.0")
    assert store.runs.recent_threads(clock.now - 50) == [("C1", "1.0"), ("C1", "3.0")]


def test_a_number_is_never_given_twice(store: Store, clock) -> None:
    run = ask(store, "a", text="a nul \0 and half a surrogate \ud83d")
    assert run.text == "a nul \N{REPLACEMENT CHARACTER} and half a surrogate ?"
    assert ask(store, "b", host="CT130").id > run.id
