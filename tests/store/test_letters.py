"""The outbox loses nothing, doubles nothing, and keeps the order of a thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bot.letter import Attached, Letter
from bot.narrator.line import Line, Table
from bot.store import Store
from bot.store.letters import LEASE_S
from bot.store.schema import letters as rows


def letter(key: str, thread: str | None = "1.0", **more: Any) -> Letter:
    return Letter(key=key, kind="word", channel="C1", thread=thread, **more)


def keys(store: Store) -> list[str]:
    return [due.letter.key for due in store.letters.due()]


def test_a_letter_comes_out_as_it_went_in(store: Store) -> None:
    whole = letter(
        "run:1:verdict",
        only_for="U1",
        run=1,
        parts=(Line("verdict", "It is the link. \U0001f525", ("E2", "E3"), 0.3), Table(("", "now"), (("prefill", "1,430"),))),
        buttons=("check_again", "right"),
        attached=Attached(kind="chart", run=1, name="n.png", title="Loss", alt="bars", looks=("E1",)),
    )  # fmt: skip
    assert store.letters.add(whole)
    (due,) = store.letters.due()
    assert due.letter == whole == store.letters.get(whole.key)
    assert store.letters.get("another") is None
    assert (due.tries, due.uncertain, due.ts) == (0, False, None)


def test_a_key_is_known_for_ever(store: Store) -> None:
    assert store.letters.add(letter("a"))
    store.letters.sending("a")
    store.letters.sent("a", "12.5")
    assert not store.letters.add(letter("a"))
    assert keys(store) == []
    assert store.letters.ts_of("a") == "12.5"
    assert store.letters.ts_of("b") is None


def test_what_is_being_sent_is_not_handed_out_and_not_claimed_again(opened) -> None:
    one, two = opened("replica-0"), opened("replica-1")
    one.letters.add(letter("a"))
    assert one.letters.sending("a")
    assert keys(one) == []
    assert not one.letters.sending("a")
    one.letters.sent("a", "1")
    assert not two.letters.sending("a")


def test_who_knows_of_fewer_tries_than_there_were_must_look_first(opened, clock) -> None:
    one, two = opened("replica-0"), opened("replica-1")
    one.letters.add(letter("a"))
    (known,) = two.letters.due()
    assert one.letters.sending("a", 0)
    one.letters.later("a", clock.now, uncertain=True)
    assert not two.letters.sending("a", known.tries)
    (again,) = two.letters.due()
    assert again.uncertain
    assert two.letters.sending("a", again.tries)


def test_later_means_later(store: Store, clock) -> None:
    store.letters.add(letter("a"))
    store.letters.sending("a")
    store.letters.later("a", clock.now + 5)
    assert keys(store) == []
    clock.now += 5
    (due,) = store.letters.due()
    assert (due.tries, due.uncertain) == (1, False)


def test_a_try_that_may_have_arrived_stays_uncertain_until_it_is_sent(store: Store, clock) -> None:
    store.letters.add(letter("a"))
    store.letters.sending("a")
    store.letters.later("a", clock.now, uncertain=True)
    assert store.letters.due()[0].uncertain
    store.letters.sending("a")
    store.letters.later("a", clock.now)
    assert store.letters.due()[0].uncertain


def test_no_letter_overtakes_one_of_its_thread(store: Store, clock) -> None:
    for key, thread in (("a", "1.0"), ("b", "1.0"), ("c", "2.0"), ("d", None), ("e", None)):
        store.letters.add(letter(key, thread))
    assert keys(store) == ["a", "b", "c", "d", "e"]
    store.letters.sending("a")
    store.letters.later("a", clock.now + 5)
    store.letters.sending("d")
    store.letters.later("d", clock.now + 9)
    assert keys(store) == ["c"]
    store.letters.dead("d", "channel_not_found")
    assert keys(store) == ["c", "e"]
    clock.now += 5
    assert keys(store) == ["a", "b", "c", "e"]


def test_what_a_dead_process_was_sending_is_due_at_once_and_uncertain(opened) -> None:
    dead = opened("replica-0")
    dead.letters.add(letter("a"))
    dead.letters.add(letter("b"))
    dead.letters.sending("a")
    store = opened("replica-0")
    assert [(due.letter.key, due.uncertain) for due in store.letters.due()] == [
        ("a", True),
        ("b", False),
    ]
    assert store.letters.sending("a")
    store.letters.later("a", 0)
    assert store.letters.due()[0].uncertain


def test_what_another_replica_sends_is_left_to_it_until_its_lease_is_over(
    opened: Callable[..., Store], clock, url: str
) -> None:
    if url.startswith("sqlite"):
        return  # one bot alone uses a file
    other, store, nameless = opened("replica-1"), opened("replica-0"), opened()
    for key in ("a", "b"):
        other.letters.add(letter(key))
    other.letters.sending("a")
    for one in (store, nameless):
        assert keys(one) == []
        assert not one.letters.sending("a")
    clock.now += LEASE_S
    for one in (store, nameless):
        assert keys(one) == ["a", "b"]
    assert store.letters.due()[0].uncertain


def test_two_who_claim_one_letter_do_not_both_send_it(opened: Callable[..., Store]) -> None:
    one, two = opened("replica-0"), opened("replica-1")
    one.letters.add(letter("a"))
    assert keys(one) == keys(two) == ["a"]
    claims = [one.letters.sending("a"), one.letters.sending("a")]
    assert claims == [True, False]


def test_a_dead_letter_is_never_due_and_its_link_is_kept(store: Store, clock) -> None:
    store.letters.add(letter("a"))
    store.letters.link("a", "https://example.slack.com/archives/C1/p1")
    store.letters.dead("a", "not_in_channel")
    clock.now += 1e6
    assert keys(store) == []
    assert store.letters.status_of("a") == "dead"
    assert store.letters.link_of("a") == "https://example.slack.com/archives/C1/p1"
    assert store.letters.count_open() == 0


def test_a_letter_that_this_version_cannot_read_stops_nobody(store: Store, caplog) -> None:
    store.letters.add(letter("a"))
    store.letters.add(letter("b"))
    with store._database.writing() as connection:
        connection.execute(
            rows.update().where(rows.c.key == "a").values(body='{"key": "secret", "shape": "new"}')
        )
    assert keys(store) == ["b"]
    assert keys(store) == ["b"]
    assert store.letters.status_of("a") == "dead"
    assert "secret" not in caplog.text


def test_the_oldest_come_first_and_not_all_at_once(store: Store) -> None:
    for number in range(30):
        store.letters.add(letter(f"k{number}"))
    assert [due.letter.key for due in store.letters.due(limit=10)] == [f"k{n}" for n in range(10)]
    assert store.letters.count_open() == 30
