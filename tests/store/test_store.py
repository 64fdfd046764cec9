"""The store as a whole: one transaction over all nouns, what it keeps, and how it says what is wrong."""

from __future__ import annotations

import contextvars
import os
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from bot.letter import Letter
from bot.store import Opinion, Store, StoreError, database
from bot.store.forms import VERSION
from bot.store.schema import schema_version
from tests.lab.postgres import Cluster
from tools.case import Asked, Case, KeptOutput
from tools.errors import CaseError

LETTER = Letter(key="say:1", kind="word", channel="C1", thread="1.0")


def accept(store: Store, key: str = "k") -> None:
    run = store.runs.add(key, "host", host="CT129", channel="C1", thread="1.0", user="U1")
    assert run is not None
    store.letters.add(LETTER)
    store.audit.note("U1", "C1", "ask", "why?", "done", "CT129")


def test_together_is_all_or_nothing(store: Store) -> None:
    with pytest.raises(ZeroDivisionError), store.together():  # noqa: PT012
        accept(store)
        assert store.runs.by_key("k") is not None
        raise ZeroDivisionError
    assert store.runs.open() == store.letters.due() == store.audit.newest() == []
    with store.together():
        with store.together():
            accept(store)
        assert store.letters.due()
    assert len(store.runs.open()) == len(store.letters.due()) == len(store.audit.newest()) == 1


def test_others_see_nothing_of_it_before_its_end(opened: Callable[..., Store]) -> None:
    one, two = opened(), opened()
    with one.together():
        accept(one)
        assert two.runs.open() == []
        seen: list[object] = []
        # As asyncio.to_thread does it: another thread, with a copy of this one's context.
        context = contextvars.copy_context()
        thread = threading.Thread(target=lambda: seen.append(context.run(one.runs.open)))
        thread.start()
        thread.join()
        assert seen == [[]]
    assert len(two.runs.open()) == 1


def test_writers_wait_for_each_other_over_threads_and_openings(
    opened: Callable[..., Store],
) -> None:
    stores = [opened() for _ in range(3)]
    failed: list[BaseException] = []

    def write(store: Store, name: int) -> None:
        try:
            for number in range(10):
                with store.together():
                    assert store.runs.by_key(f"{name}-{number}") is None
                    accept(store, f"{name}-{number}")
        except BaseException as why:
            failed.append(why)
            raise

    threads = [threading.Thread(target=write, args=(stores[n % 3], n)) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert len(stores[0].runs.open()) == 120


def test_a_case_comes_back_as_it_was_and_the_newest_counts(store: Store) -> None:
    output = KeptOutput(stdout=["a", "", "‮b \U0001f525"], took_s=0.25)
    case = Case(
        host="CT129", question="?", asked=[Asked(id="E1", probe=None, source="x", output=output)]
    )
    store.cases.save(1, Case())
    store.cases.save(1, case)
    assert store.cases.load(1) == case
    assert store.cases.load(2) is None


def test_a_case_of_another_version_is_told_in_a_sentence(store: Store) -> None:
    store.cases.save(1, Case.model_construct(schema_=9, asked=[]))
    with pytest.raises(CaseError, match="the case of run 1 is no case file"):
        store.cases.load(1)


def test_a_person_has_one_opinion_of_a_run(store: Store, clock) -> None:
    store.opinions.add(1, "U1", True)
    store.opinions.add(1, "U1", False, "it was the riser \0")
    store.opinions.add(1, "U2", True)
    assert sorted(store.opinions.of(1), key=lambda each: each.user) == [
        Opinion(1, "U1", False, "it was the riser \N{REPLACEMENT CHARACTER}", clock.now),
        Opinion(1, "U2", True, "", clock.now),
    ]


def test_what_was_heard_last_never_goes_back(store: Store) -> None:
    store.heard.note("C1", "1700000002.000100")
    store.heard.note("C1", "1700000001.000100")
    store.heard.note("C2", "1700000001.000100")
    assert store.heard.all() == {"C1": "1700000002.000100", "C2": "1700000001.000100"}


def test_the_audit_is_newest_first_and_capped(store: Store) -> None:
    store.audit.note("U1", "C1", "ask", "x" * 5000, "refused")
    store.audit.note("U2", "C1", "stop", "run 1", "done", "CT129")
    newest, first = store.audit.newest()
    assert (newest.user, newest.host, first.outcome, len(first.what)) == (
        "U2",
        "CT129",
        "refused",
        2000,
    )


def test_tidying_keeps_what_is_open_and_what_is_young(store: Store, clock) -> None:
    old = store.runs.add("old", "host", host="A", channel="C1", thread="1", user="U1")
    still = store.runs.add("open", "host", host="B", channel="C1", thread="2", user="U1")
    assert old is not None
    assert still is not None
    for run in (old, still):
        store.cases.save(run.id, Case(host=run.host))
        for kind in ("trail", "verdict"):
            store.letters.add(LETTER.model_copy(update={"key": f"{run.key}:{kind}", "run": run.id}))
    store.runs.end(old.id, "done")
    for key in ("old:trail", "open:trail", "open:verdict"):
        store.letters.sent(key, "1.5")
    store.inbox.receive("Ev1", "m", {})
    store.inbox.receive("Ev2", "m", {})
    store.inbox.handled("Ev1")
    assert store.tidy(60) == 0
    clock.now += 60
    assert store.tidy(60) == 3  # one event, one case, one letter
    assert store.cases.load(old.id) is None
    assert store.cases.load(still.id) is not None
    assert store.letters.ts_of("old:trail") is None
    assert store.letters.ts_of("open:trail") == "1.5"
    assert [due.letter.key for due in store.letters.due()] == ["old:verdict"]
    assert [each.id for each in store.inbox.unhandled()] == ["Ev2"]
    assert store.runs.get(old.id) is not None


def test_many_may_open_an_empty_database_at_once(opened: Callable[..., Store]) -> None:
    failed: list[BaseException] = []
    start = threading.Barrier(12)

    def open_it() -> None:
        start.wait()
        try:
            opened()
        except StoreError as why:
            failed.append(why)

    threads = [threading.Thread(target=open_it) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


def test_a_file_that_others_open_as_well_is_waited_for() -> None:
    said: list[str] = []

    class Busy:
        """SQLite does not wait by itself while two switch the journal of a fresh file."""

        def execute(self, statement: str) -> Busy:
            said.append(statement)
            if "=" in statement and said.count(statement) < 3:
                raise sqlite3.OperationalError("database is locked")
            return self

        def fetchone(self) -> tuple[str]:
            return ("wal" if said.count("PRAGMA journal_mode = WAL") == 3 else "delete",)

    database._use_wal(Busy())
    assert said[-2:] == ["PRAGMA journal_mode = WAL", "PRAGMA journal_mode"]


def test_a_database_of_a_newer_version_is_refused(opened: Callable[..., Store]) -> None:
    store = opened()
    with store._database.writing() as connection:
        connection.execute(schema_version.update().values(version=VERSION + 1))
    with pytest.raises(StoreError, match="written by a newer perfsleuth"):
        opened()


def test_nobody_else_can_read_the_file_or_its_folder(tmp_path: Path) -> None:
    Store.open(f"sqlite:///{tmp_path}/deep/state/perfsleuth.sqlite").close()
    store = Store.open(f"sqlite:///{tmp_path}/deep/state/perfsleuth.sqlite")
    accept(store)
    folder = tmp_path / "deep" / "state"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    store.close()


def test_a_committed_row_is_there_after_a_kill(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/s.sqlite"
    script = (
        "import os, sys; from bot.store import Store; s = Store.open(sys.argv[1])\n"
        "s.inbox.receive('Ev1', 'm', {})\n"
        "with s.together():\n s.inbox.receive('Ev2', 'm', {}); os.kill(os.getpid(), 9)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script, url], cwd=Path(__file__).parents[2], check=False
    )
    assert ended.returncode == -9
    store = Store.open(url)
    assert [each.id for each in store.inbox.unhandled()] == ["Ev1"]
    store.close()


@pytest.mark.parametrize(
    "url",
    ["", "nonsense", "sqlite://", "sqlite:///:memory:", "mysql://root:hunter2@db/x"],
)  # fmt: skip
def test_an_address_of_no_use_is_not_repeated(url: str) -> None:
    with pytest.raises(StoreError, match=r"PERFSLEUTH_DATABASE_URL must be sqlite:////") as told:
        Store.open(url)
    assert "hunter2" not in str(told.value)


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database, and long enough to look like one " * 40)
    with pytest.raises(StoreError, match=r"notes\.txt is no SQLite database: name another file"):
        Store.open(f"sqlite:///{path}")
    assert path.read_text().startswith("not a database")


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"file/s\.sqlite cannot be opened \("):
        Store.open(f"sqlite:///{tmp_path}/file/s.sqlite")


def test_a_damaged_file_is_told_in_a_sentence(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/s.sqlite"
    Store.open(url).close()
    path = tmp_path / "s.sqlite"
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + os.urandom(len(whole) - 4096))
    with pytest.raises(StoreError, match=r"s\.sqlite (is damaged|cannot be used)"):
        Store.open(url).runs.open()


def test_a_full_disk_is_told_in_a_sentence(tmp_path: Path) -> None:
    store = Store.open(f"sqlite:///{tmp_path}/s.sqlite")
    with store._database.writing() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
    # SQLite's own limit stands for the disk's: the error is the same one.
    with store._database.engine.connect() as connection:
        raw = connection.connection.dbapi_connection
        assert isinstance(raw, sqlite3.Connection)
        raw.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreError, match=r"disk that holds .*s\.sqlite is full: make room there\."):
        all(store.inbox.receive(f"Ev{number}", "m", {"text": "x" * 9000}) for number in range(50))
    store.close()


def test_a_postgres_that_is_gone_is_told_without_its_password_and_found_again(
    cluster: Cluster,
) -> None:
    store = Store.open(cluster.database())
    accept(store)
    cluster.stop()
    try:
        with pytest.raises(StoreError, match="does not answer: start it") as told:
            store.runs.open()
        with pytest.raises(StoreError) as again:
            Store.open(cluster.address("sleuth1"))
    finally:
        cluster.start()
    for why in (told.value, again.value):
        assert "127.0.0.1" in str(why)
        assert "hunter2" not in f"{why!r} {why.__cause__!r}"
    assert len(store.runs.open()) == 1
    store.close()


def test_a_postgres_where_nothing_may_be_made_says_so(cluster: Cluster) -> None:
    url = cluster.database()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE ROLE reader LOGIN")
        connection.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
    with pytest.raises(StoreError, match=r"refused a statement \(InsufficientPrivilege\)"):
        Store.open(url.replace("sleuth:hunter2", "reader:hunter2"))
