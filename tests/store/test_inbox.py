"""What comes in counts once, whoever brings it and however often."""

from __future__ import annotations

import threading
from collections.abc import Callable

from bot.store import Store


def test_the_same_event_is_new_once(store: Store) -> None:
    assert store.inbox.receive("Ev1", "message", {"text": "why is CT129 slow?"})
    assert not store.inbox.receive("Ev1", "message", {"text": "another body"})
    assert [each.body for each in store.inbox.unhandled()] == [{"text": "why is CT129 slow?"}]


def test_of_many_who_bring_it_at_once_one_is_first(opened: Callable[..., Store]) -> None:
    stores = [opened() for _ in range(3)]
    news: list[str] = []
    start = threading.Barrier(12)

    def bring(store: Store) -> None:
        start.wait()
        news.extend(f"Ev{n}" for n in range(10) if store.inbox.receive(f"Ev{n}", "message", {}))

    threads = [threading.Thread(target=bring, args=(stores[n % 3],)) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(news) == sorted(f"Ev{n}" for n in range(10))


def test_what_is_handled_is_not_handed_out_again(store: Store, clock: Callable[[], float]) -> None:
    for name in ("Ev1", "Ev2", "Ev3"):
        store.inbox.receive(name, "message", {})
    store.inbox.handled("Ev2")
    assert [(each.id, each.kind, each.at) for each in store.inbox.unhandled()] == [
        ("Ev1", "message", clock()),
        ("Ev3", "message", clock()),
    ]


def test_what_came_a_moment_ago_may_still_be_in_somebody_s_hands(store: Store, clock) -> None:
    store.inbox.receive("Ev1", "message", {})
    clock.now += 30
    store.inbox.receive("Ev2", "message", {})
    assert [each.id for each in store.inbox.unhandled(older_than_s=30)] == ["Ev1"]


def test_text_that_no_database_holds_is_held(store: Store) -> None:
    body = {"text": "nul \0, half a surrogate \ud83d, whole ones \U0001f525, ‮right to left"}
    store.inbox.receive("Ev1", "message", body)
    assert store.inbox.unhandled()[0].body == body


def test_what_was_handled_long_ago_is_forgotten_and_the_rest_is_not(store: Store, clock) -> None:
    for name in ("Ev1", "Ev2"):
        store.inbox.receive(name, "message", {})
    store.inbox.handled("Ev1")
    clock.now += 100
    store.inbox.receive("Ev3", "message", {})
    store.inbox.handled("Ev3")
    assert store.inbox.forget(50) == 1
    assert not store.inbox.receive("Ev2", "message", {})
    assert not store.inbox.receive("Ev3", "message", {})
    assert store.inbox.receive("Ev1", "message", {})


def test_a_thread_is_owed_an_answer_until_what_was_said_in_it_is_handled(store: Store) -> None:
    inbox = store.inbox
    body = {"channel": "C1", "thread": "1.5", "text": 'he said "thread": "9.9"'}
    inbox.receive("a", "message", body)
    inbox.receive("b", "message", body)
    inbox.receive("c", "press", {"channel": "C1", "thread": "2.5"})
    assert inbox.owes("C1", "1.5")
    assert inbox.owes("C1", "1.5", before="b")
    assert not inbox.owes("C1", "1.5", before="a"), "the first waits for none"
    assert not any(
        inbox.owes(*other) for other in (("C2", "1.5"), ("C1", "9.9"), ("C1", "2.5"), ("C1", "1_5"))
    )
    inbox.handled("a")
    assert not inbox.owes("C1", "1.5", before="b")
    inbox.handled("b")
    assert not inbox.owes("C1", "1.5")
