"""What a dead replica was doing is carried out by another; one that was only slow ends nothing twice."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bot.letter import Letter
from bot.store import Store
from tests.growth.replicas import Replica, ask, soon
from tests.lab.postgres import Cluster


@pytest.fixture
def url(cluster: Cluster) -> str:
    return cluster.database()


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    store = Store.open(url)
    yield store
    store.close()


@pytest.fixture
def replica(url: str, tmp_path: Path) -> Iterator[Callable[..., Replica]]:
    started: list[Replica] = []

    def start(name: str, works: str = "runs-by-number-1", other_code: str = "") -> Replica:
        started.append(Replica(url, tmp_path / "log", name, works, other_code))
        started[-1].ready()
        return started[-1]

    yield start
    for one in started:
        one.signal(signal.SIGCONT)
        one.kill()


def test_a_replica_that_never_comes_back_leaves_its_work_to_another(
    store: Store, replica: Callable[..., Replica]
) -> None:
    for key, host, text in (("hung", "a", "hang"), ("behind", "A", "0")):
        ask(store, key, host, text)
    first = replica("bot-0")
    soon(lambda: "begin hung by bot-0" in first.lines())
    second = replica("bot-1")
    first.kill()
    soon(lambda: "end behind by bot-1" in second.lines())
    begun, *taken_over = second.lines()
    assert begun == "begin hung by bot-0"
    assert taken_over == [  # one after the other, in the order in which they were asked
        "begin hung by bot-1",
        "end hung by bot-1",
        "begin behind by bot-1",
        "end behind by bot-1",
    ]
    soon(lambda: not store.replicas.others() or len(store.replicas.others()) == 1)
    out, err = second.drain()
    assert out == "drained True"
    assert "Traceback" not in err


def test_a_replica_that_was_only_slow_is_taken_over_and_the_run_ends_once(
    store: Store, replica: Callable[..., Replica], tmp_path: Path
) -> None:
    run = ask(store, "slow", "a", "slow")
    slow = replica("bot-0")
    soon(lambda: "begin slow by bot-0" in slow.lines())
    other = replica("bot-1")
    slow.signal(signal.SIGSTOP)
    soon(lambda: "end slow by bot-1" in other.lines())
    (tmp_path / "log.go").touch()
    slow.signal(signal.SIGCONT)
    soon(lambda: "late slow by bot-0" in slow.lines())
    soon(lambda: len(store.replicas.others()) == 2)  # it beats again
    assert [line for line in other.lines() if line.startswith("end")] == ["end slow by bot-1"]
    ended = store.runs.get(run.id)
    assert ended is not None
    assert (ended.state, ended.restarts) == ("done", 1)
    ask(store, "next", "a")
    other.drain()
    third = replica("bot-2")  # puts it in; both carry out the same host's work in turn
    soon(lambda: any(line.startswith("end next") for line in third.lines()))


def test_replicas_of_two_versions_share_the_work_while_they_are_rolled_over(
    store: Store, replica: Callable[..., Replica]
) -> None:
    old, new = replica("bot-0"), replica("bot-1", other_code="yes")
    for number in range(20):
        ask(store, f"k{number}", "a", "0.2")
    old.put()  # both wait for the host's turn, so each takes some, whoever put them in
    soon(lambda: sum(line.startswith("end") for line in new.lines()) >= 5)
    out, err = old.drain()
    assert (out, "Traceback" in err) == ("drained True", False)
    soon(lambda: sum(line.startswith("end") for line in new.lines()) == 20)
    assert "of another version by bot-1" in new.lines()  # at least what the old one left
    begun = [line.split()[1] for line in new.lines() if line.startswith("begin")]
    assert len(begun) == len({*begun}) == 20


def test_work_of_an_application_version_that_nobody_runs_any_more_is_not_stranded(
    store: Store, replica: Callable[..., Replica]
) -> None:
    for key, text in (("hung", "hang"), ("waits", "0")):
        ask(store, key, "a", text)
    old = replica("bot-0", "runs-by-number-0")
    soon(lambda: "begin hung by bot-0" in old.lines())
    new = replica("bot-1")
    assert "begin waits by bot-1" not in new.lines()  # the old one lives, and it is its to do
    old.kill()
    soon(lambda: "end waits by bot-1" in new.lines())
    assert sum(line.startswith("begin waits") for line in new.lines()) == 1
    assert sum(line.startswith("end hung") for line in new.lines()) == 1


def test_a_letter_that_a_dead_replica_was_sending_is_due_at_once(url: str, store: Store) -> None:
    dead, other = Store.open(url, executor="bot-0"), Store.open(url, executor="bot-1")
    dead.replicas.beat("w")
    dead.letters.add(Letter(key="say:1", kind="word", channel="C1", thread="1.0", parts=()))
    assert dead.letters.sending("say:1")
    place = dead.places.take("jump gw", 1)
    (last,) = other.replicas.others()
    assert other.letters.due() == []
    assert other.places.take("jump gw", 1) is None
    assert other.replicas.let_go(last)
    (due,) = other.letters.due()
    assert due.uncertain  # it may have arrived: look before it is sent once more
    assert other.places.take("jump gw", 1) not in (None, place)
    dead.replicas.beat("w")
    assert not other.replicas.let_go(last)  # it lives
    other.replicas.forget(last)
    assert [one.executor for one in other.replicas.others()] == ["bot-0"]
    dead.close()
    other.close()
