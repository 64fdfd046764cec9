"""A database of an older version is brought forward, with all that it holds."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import create_engine, inspect, text

from bot.store import Store, StoreError
from bot.store.database import read_url
from bot.store.forms import VERSION
from bot.store.schema import TABLES

FORMS = Path(__file__).parent / "forms"
RUN = (
    "INSERT INTO runs (key, kind, state, host, host_key, channel, thread, \"user\", text, message, asked_at, restarts)"
    " VALUES ('C1/1.0', 'host', 'done', 'CT129', 'ct129', 'C1', '1.0', 'U1', 'why is it slow?', '{}', 1.5, 0)"
)  # fmt: skip


def of_version_1(url: str) -> None:
    """Make what version 1 made: its statements, kept as they were."""
    kind = "sqlite" if url.startswith("sqlite") else "postgres"
    if kind == "sqlite":
        Path(url.removeprefix("sqlite:///")).parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(read_url(url))
    with engine.begin() as connection:
        for statement in (FORMS / f"version_1_{kind}.sql").read_text().split(";"):
            if statement.strip():
                connection.exec_driver_sql(statement)
        connection.execute(text("INSERT INTO schema_version (version) VALUES (1)"))
        connection.execute(text(RUN))
    engine.dispose()


def test_what_version_1_kept_is_there_and_changes_can_be_kept(
    url: str, opened: Callable[..., Store]
) -> None:
    of_version_1(url)
    store = opened()
    (run,) = store.runs.in_thread("C1", "1.0")
    assert (run.host, run.text, run.asked_at) == ("CT129", "why is it slow?", 1.5)
    assert store.proposals.of_run(run.id) is None
    assert store.experiments.take("CT129", 30000, run.id) == 1
    assert opened().experiments.take("CT129", 30000, run.id) == 2


def test_a_database_brought_forward_has_the_form_of_a_new_one(
    url: str, opened: Callable[..., Store]
) -> None:
    of_version_1(url)
    found = inspect(opened()._database.engine)
    for table in TABLES.sorted_tables:
        assert {one["name"] for one in found.get_columns(table.name)} == set(table.c.keys())
        assert {one["name"] for one in found.get_indexes(table.name)} >= {
            str(one.name) for one in table.indexes
        }


def test_many_may_bring_it_forward_at_once(url: str, opened: Callable[..., Store]) -> None:
    of_version_1(url)
    failed: list[BaseException] = []
    start = threading.Barrier(6)

    def open_it() -> None:
        start.wait()
        try:
            opened()
        except StoreError as why:
            failed.append(why)

    threads = [threading.Thread(target=open_it) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    with opened()._database.reading() as connection:
        assert connection.exec_driver_sql("SELECT version FROM schema_version").all() == [
            (VERSION,)
        ]


def test_a_form_that_could_not_be_brought_forward_stays_as_it_was(
    url: str, opened: Callable[..., Store]
) -> None:
    of_version_1(url)
    engine = create_engine(read_url(url))
    with engine.begin() as connection:  # somebody's own table of that name stands in the way
        connection.exec_driver_sql("CREATE TABLE leases_of_others (host_key TEXT)")
        connection.exec_driver_sql("CREATE INDEX experiments_ended ON leases_of_others (host_key)")
    with pytest.raises(StoreError):
        opened()
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT version FROM schema_version").all() == [(1,)]
        assert not inspect(connection).has_table("proposals")
    engine.dispose()
