"""Accepted work is carried out: once where all goes well, again where a process died, never lost."""

from __future__ import annotations

import logging
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from dbos import DBOS

from bot import jobs as module
from bot import queue
from bot.jobs import Jobs, JobsError
from bot.settings import Limits, Service
from bot.store import Run, Store, StoreError, lock
from tests.lab.postgres import Cluster

ROOT = Path(__file__).parents[2]
SOON_S = 60  # what must happen happens long before; what must not is told by events, not by time

# A bot in a process of its own. A run's text says how many seconds it takes; one that says "hang"
# hangs until the process is killed, and takes no time after a restart.
CHILD = """
import sys, time
from bot.jobs import Jobs
from bot.settings import Limits, Service
from bot.store import Store, StoreError
url, log, executor = sys.argv[1:]
store = Store.open(url)
def note(text):
    with open(log, "a") as file: file.write(text + "\\n")
def carry_out(number):
    run = store.runs.begin(number)
    if run is None: return
    note(f"begin {run.key}")
    time.sleep((60 if not run.restarts else 0) if run.text == "hang" else float(run.text))
    note(f"end {run.key}")
    store.runs.end(number, "done")
jobs = Jobs(Service(database_url=url, executor=executor), Limits(), carry_out)
try:
    jobs.launch()
except StoreError as why:
    sys.exit(str(why))
print("ready", jobs.reconcile(store.runs.open()), flush=True)
sys.stdin.readline()
print("drained", jobs.drain(10), flush=True)
jobs.close()
"""


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    store = Store.open(url)
    yield store
    store.close()


@pytest.fixture
def start(url: str) -> Iterator[Callable[..., Jobs]]:
    started: list[Jobs] = []

    def start(carry_out: Callable[[int], None], at_once: int = 20) -> Jobs:
        jobs = Jobs(Service(database_url=url), Limits(at_once=at_once), carry_out)
        started.append(jobs)
        jobs.launch()
        return jobs

    yield start
    for jobs in started:
        jobs.close()


class Child:
    def __init__(self, url: str, log: Path, executor: str = "perfsleuth-0") -> None:
        self.log = log
        self.process = subprocess.Popen(
            [sys.executable, "-c", CHILD, url, str(log), executor],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def ready(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()

    def drain(self) -> tuple[str, str]:
        out, err = self.process.communicate("drain\n", timeout=60)
        return out.strip(), err

    def lines(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []


def ask(store: Store, key: str, host: str | None = None, text: str = "0") -> Run:
    run = store.runs.add(
        key, "host", host=host or key, channel="C1", thread="1.0", user="U1", text=text
    )
    assert run is not None
    return run


def state_of(store: Store, run: Run) -> str | None:
    found = store.runs.get(run.id)
    return found.state if found else None


def soon(what: Callable[[], object]) -> None:
    until = time.monotonic() + SOON_S
    while not what():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.02)


def test_killed_in_the_middle_it_is_carried_out_again_and_the_others_are_not(
    url: str, store: Store, tmp_path: Path
) -> None:
    quick, *_ = (
        ask(store, key, host, text)
        for key, host, text in (("quick", "a", "0"), ("hung", "b", "hang"), ("behind", "B", "0"))
    )
    first = Child(url, tmp_path / "log")
    assert first.ready() == "ready 3"
    soon(lambda: "begin hung" in first.lines())
    soon(lambda: state_of(store, quick) == "done")
    first.kill()
    second = Child(url, tmp_path / "log")
    assert second.ready() == "ready 0"  # the queue knows them: nothing is put in twice
    soon(lambda: "end behind" in second.lines())
    assert second.drain() == ("drained True", "")
    lines = second.lines()
    assert sorted(lines[:3]) == ["begin hung", "begin quick", "end quick"]
    assert lines[3:] == ["begin hung", "end hung", "begin behind", "end behind"]
    assert [run.state for run in store.runs.in_thread("C1", "1.0")] == ["done"] * 3


def test_a_drained_bot_finishes_what_runs_and_leaves_the_rest_to_the_next(
    url: str, store: Store, tmp_path: Path
) -> None:
    ask(store, "running", "a", "5")
    ask(store, "waiting", "a", "0")
    first = Child(url, tmp_path / "log")
    first.ready()
    soon(lambda: "begin running" in first.lines())
    assert first.drain() == ("drained True", "")
    assert first.process.returncode == 0
    assert first.lines() == ["begin running", "end running"]
    second = Child(url, tmp_path / "log")
    assert second.ready() == "ready 0"
    soon(lambda: "end waiting" in second.lines())
    assert second.drain() == ("drained True", "")


def test_a_second_live_process_is_refused_and_a_dead_one_is_no_hindrance(
    url: str, tmp_path: Path
) -> None:
    first = Child(url, tmp_path / "log")
    first.ready()
    second = Child(url, tmp_path / "log")
    out, err = second.process.communicate(timeout=60)
    assert (out, second.process.returncode) == ("", 1)
    assert len(err.splitlines()) == 1
    if url.startswith("sqlite"):
        assert err.startswith(f"Another perfsleuth bot (process {first.process.pid}) uses ")
    else:
        assert "Another live bot goes by the name perfsleuth-0: give each replica" in err
        assert "hunter2" not in err
        replica = Child(url, tmp_path / "log", "perfsleuth-1")
        assert replica.ready() == "ready 0"
        replica.drain()
    first.kill()
    third = Child(url, tmp_path / "log")
    assert third.ready() == "ready 0"
    third.drain()


def test_enqueued_twice_it_is_carried_out_once(store: Store, start: Callable[..., Jobs]) -> None:
    done: list[int] = []
    jobs = start(done.append)
    runs = [ask(store, f"k{n}") for n in range(5)]
    for run in [*runs, *runs]:
        jobs.enqueue(run)
    soon(lambda: len(done) == 5)
    jobs.enqueue(runs[0])
    last = ask(store, "last", "k0")
    jobs.enqueue(last)
    soon(lambda: last.id in done)
    assert sorted(done) == [*[run.id for run in runs], last.id]


def test_the_runs_of_one_host_go_one_after_another_in_their_order(
    store: Store, start: Callable[..., Jobs]
) -> None:
    told: list[tuple[str, int]] = []

    def carry_out(number: int) -> None:
        told.append(("begin", number))
        time.sleep(0.05)
        told.append(("end", number))

    jobs = start(carry_out)
    runs = [ask(store, f"k{n}", "CT129" if n % 2 else "ct129") for n in range(5)]
    for run in runs:
        jobs.enqueue(run)
    soon(lambda: len(told) == 10)
    assert told == [(what, run.id) for run in runs for what in ("begin", "end")]


def test_as_many_as_allowed_run_at_once_and_no_more(
    store: Store, start: Callable[..., Jobs]
) -> None:
    all_there = threading.Barrier(21)  # 20 runs, and this test
    begun: list[int] = []
    release = threading.Event()

    def carry_out(number: int) -> None:
        begun.append(number)
        if len(begun) <= 20:
            all_there.wait(SOON_S)
        release.wait(SOON_S)

    jobs = start(carry_out, at_once=20)
    for number in range(23):
        jobs.enqueue(ask(store, f"k{number}"))
    all_there.wait(SOON_S)
    time.sleep(module.POLL_S * 5)
    assert (len(begun), jobs.running) == (20, 20)
    release.set()
    soon(lambda: len(begun) == 23 and jobs.running == 0)


def test_what_cannot_be_carried_out_is_tried_again_and_its_text_is_not_logged(
    store: Store,
    start: Callable[..., Jobs],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(module, "_PAUSES_S", (0.01, 0.01))
    tried: list[int] = []

    def carry_out(number: int) -> None:
        tried.append(number)
        if len(tried) <= 4:
            raise ValueError("xoxb-secret")

    jobs = start(carry_out)
    run = ask(store, "k")
    with caplog.at_level(logging.DEBUG):
        jobs.enqueue(run)
        soon(lambda: len(tried) == 3 and jobs.running == 0)
        # All its attempts failed; it is still open in the store, so the next look puts it in again.
        soon(lambda: jobs.reconcile(store.runs.open()) == 1)
        soon(lambda: len(tried) == 5 and jobs.running == 0)
    assert f"run {run.id} was not carried out: ValueError" in caplog.text
    assert "xoxb-secret" not in caplog.text
    assert logging.getLogger("dbos").propagate is False


def test_what_was_accepted_and_never_enqueued_is_found(
    store: Store, start: Callable[..., Jobs]
) -> None:
    done: list[int] = []
    hold = threading.Event()

    def carry_out(number: int) -> None:
        hold.wait(SOON_S)
        store.runs.begin(number)
        store.runs.end(number, "done")
        done.append(number)

    jobs = start(carry_out)
    known, lost = ask(store, "known"), ask(store, "lost")
    store.runs.add(
        "joined", "host", host="known", channel="C1", thread="2", user="U1", state="joined", joins=known.id
    )  # fmt: skip
    jobs.enqueue(known)
    assert jobs.reconcile(store.runs.open()) == 1
    assert jobs.reconcile(store.runs.open()) == 0
    hold.set()
    soon(lambda: sorted(done) == [known.id, lost.id])
    assert jobs.reconcile(store.runs.open()) == 0


def test_a_store_begun_anew_beside_an_old_queue_loses_nothing(
    store: Store, start: Callable[..., Jobs]
) -> None:
    done: list[int] = []
    jobs = start(done.append)
    old = ask(store, "old")
    jobs.enqueue(old)
    soon(lambda: done == [old.id])
    with store._database.writing() as connection:
        connection.exec_driver_sql("UPDATE runs SET key = 'new'")
    anew = store.runs.by_key("new")
    assert anew is not None
    assert anew.id == old.id
    jobs.enqueue(anew)
    soon(lambda: done == [old.id, old.id])


def test_a_run_may_enqueue_others_and_be_tried_again(
    store: Store, start: Callable[..., Jobs], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PAUSES_S", (0.01,))
    done: list[int] = []
    first, then, last = ask(store, "first"), ask(store, "then"), ask(store, "last")
    reconciled = threading.Event()

    def carry_out(number: int) -> None:
        done.append(number)
        if number == first.id and done.count(number) == 1:
            jobs.enqueue(then)
            raise ValueError
        if number == first.id:
            jobs.reconcile([last, then])
            reconciled.set()
        elif number == then.id:
            reconciled.wait(60)  # what is over would be put in anew

    jobs = start(carry_out)
    jobs.enqueue(first)
    soon(lambda: {then.id, last.id} <= set(done) and jobs.running == 0)
    assert sorted(done) == [first.id, first.id, then.id, last.id]
    # DBOS would demand the same steps in the same order when a crash makes it begin anew.
    assert DBOS.list_workflow_steps(queue.name_of(first)) == []


def test_nothing_listens_and_what_is_over_can_be_forgotten(
    store: Store, start: Callable[..., Jobs]
) -> None:
    done: list[int] = []
    jobs = start(done.append)
    jobs.enqueue(ask(store, "k"))
    soon(lambda: done and jobs.running == 0)
    files = Path("/proc/self/fd").iterdir()
    mine = {str(file.readlink()) for file in files if file.is_symlink()}
    listening = [
        line.split()
        for kind in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{kind}").read_text().splitlines()[1:]
    ]
    assert not [row for row in listening if row[3] == "0A" and f"socket:[{row[9]}]" in mine]
    assert jobs.tidy(3600) == 0
    soon(lambda: jobs.tidy(0) == 1)


def test_a_queue_that_cannot_be_used_is_told_in_a_sentence(
    store: Store, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = Jobs(Service(database_url=url), Limits(), lambda _: None)
    with pytest.raises(JobsError, match=r"The queue of work does not answer"):
        jobs.enqueue(ask(store, "k"))
    broken = "postgresql://sleuth:hunter2@127.0.0.1:1/gone"
    monkeypatch.setattr(module, "jobs_url", lambda _: broken)
    with pytest.raises(JobsError, match="The queue of work cannot be set up") as told:
        jobs.launch()
    assert "hunter2" not in str(told.value)
    again = module.hold(url, "perfsleuth-0")  # it has given the lock back
    with pytest.raises(StoreError):
        module.hold(url, "perfsleuth-0")
    again.release()


def test_after_postgres_was_gone_work_goes_on_and_the_name_is_still_taken(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "_LOOK_S", 0.1)
    url = cluster.database()
    store, done = Store.open(url), list[int]()
    jobs = Jobs(Service(database_url=url), Limits(), done.append)
    jobs.launch()
    try:
        cluster.stop()
        time.sleep(0.3)
        cluster.start()
        jobs.enqueue(ask(store, "k"))
        soon(lambda: done)

        def taken() -> bool:
            try:
                lock.hold(url, "perfsleuth-0").release()
            except StoreError as why:
                return "goes by the name" in str(why)
            return False

        soon(taken)
    finally:
        jobs.close()
        store.close()
