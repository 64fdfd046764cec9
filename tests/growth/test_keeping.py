"""What the bot keeps can be written into files and removed; what it needs stays."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.cli import app
from bot.demo import shipped
from bot.settings import Service, SettingsError
from bot.store import Store
from tools.case import Case

DAY_S = 24 * 3600.0


class Clock:
    now = 1_800_000_000.0  # 2027-01-15 08:00 UTC

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    url = f"sqlite:///{tmp_path}/bot.sqlite"
    monkeypatch.setenv("PERFSLEUTH_DATABASE_URL", url)
    store = Store.open(url, now=clock)
    for key in ("old", "new"):
        run = store.runs.add(key, "host", host="CT/129", channel="C", thread=key, user="U")
        assert run is not None
        store.cases.save(run.id, shipped())
        store.runs.end(run.id, "done")
        clock.now += 30 * DAY_S
    yield store
    store.close()


def perfsleuth(*arguments: str) -> tuple[int, str]:
    from bot import ending

    runner = CliRunner()
    result = runner.invoke(app, list(arguments))
    if result.exception and not isinstance(result.exception, SystemExit):
        assert ending  # what a ToolsError becomes is told by tests/bot/test_ending.py
        return 2, str(result.exception)
    return result.exit_code, result.output


def test_a_case_is_written_as_it_was_kept_and_can_be_judged_again(
    store: Store, tmp_path: Path
) -> None:
    to = tmp_path / "out"
    assert perfsleuth("export", "1", "--to", str(to))[1].startswith(f"Wrote 1 case into {to}.")
    (path,) = to.iterdir()
    assert path.name.startswith("run-1-")
    assert "/" not in path.name
    assert path.stat().st_mode & 0o777 == 0o600
    kept = store.cases.load(1)
    assert kept is not None
    assert path.read_text() == kept.dump()
    assert Case.load(path.read_text(), name="it").asked


def test_all_since_a_date_are_written(store: Store, tmp_path: Path) -> None:
    to = tmp_path / "out"
    perfsleuth("export", "--since", "2027-02-01", "--to", str(to))
    assert [path.name.split("-")[1] for path in to.iterdir()] == ["2"]
    perfsleuth("export", "--since", "2027-01-15", "--to", str(to))
    assert len(list(to.iterdir())) == 2


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("9", "--to", "x"), "No case of run 9 is kept"),
        (("--since", "2030-01-01", "--to", "x"), "No case was kept since 2030-01-01."),
        (("--since", "yesterday", "--to", "x"), "--since takes a date, as 2026-11-30"),
        (("--to", "x"), "name runs, or --since DATE"),
        (("1", "--to", "/proc/nowhere"), "cannot be written"),
    ],
)
def test_what_cannot_be_written_is_told(
    store: Store, arguments: tuple[str, ...], sentence: str
) -> None:
    status, said = perfsleuth("export", *arguments)
    assert status == 2
    assert sentence in said


def test_tidy_says_first_and_removes_then(
    store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.time", clock)
    monkeypatch.setattr(Store.open.__func__, "__kwdefaults__", {"executor": None, "now": clock})
    assert perfsleuth("tidy", "--older-than", "45d", "--dry-run") == (
        0,
        "1 row would be removed.\n",
    )
    assert store.cases.load(1) is not None
    assert perfsleuth("tidy", "--older-than", "45d") == (0, "Removed 1 row.\n")
    assert store.cases.load(1) is None
    assert store.cases.load(2) is not None
    assert store.runs.get(1) is not None
    status, said = perfsleuth("tidy", "--older-than", "3d")
    assert (status, "at least 7d" in said) == (2, True)


def test_where_nothing_was_kept_no_database_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PERFSLEUTH_DATABASE_URL", f"sqlite:///{tmp_path}/none.sqlite")
    status, said = perfsleuth("tidy")
    assert status == 2
    assert "has kept nothing" in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("PERFSLEUTH_KEEP_DAYS", "3", "from 7 to 3650"),
        ("PERFSLEUTH_METRICS", "9464", "HOST:PORT"),
        ("PERFSLEUTH_LOG", "yaml", "json or text"),
    ],
)
def test_a_setting_that_cannot_be_meant_is_told(name: str, value: str, sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence):
        Service.load({name: value})


def test_the_settings_of_growth_are_read() -> None:
    one = Service.load(
        {
            "PERFSLEUTH_KEEP_DAYS": "30",
            "PERFSLEUTH_METRICS": "[::1]:9464",
            "PERFSLEUTH_LOG": "json",
            "PERFSLEUTH_EXECUTOR": "auto",
        }
    )
    assert (one.keep_days, one.metrics, one.json_log) == (30, ("::1", 9464), True)
    assert Service.load({}).metrics is None
