"""`perfsleuth export` and `perfsleuth tidy`: the bot's database by hand, while the bot runs or not."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, date, datetime
from pathlib import Path

from bot.settings.service import LEAST_DAYS, Service
from bot.store import Store
from bot.store.database import read_url
from tools.case import Case
from tools.errors import ToolsError

_DAY_S = 24 * 3600.0
_DAYS = re.compile(r"(\d{1,4})d?")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def export(runs: Sequence[int], since: str | None, folder: Path) -> None:
    """Write the cases of these runs, or of all since a date; raise ToolsError where there is none."""
    with _store() as store:
        wanted = list(runs) if since is None else store.cases.since(_began(since))
        if not wanted:
            raise ToolsError(f"No case was kept since {since}.")
        found = {run: store.cases.load(run) for run in dict.fromkeys(wanted)}
        if none := [str(run) for run, case in found.items() if case is None]:
            raise ToolsError(
                f"No case of run {', '.join(none)} is kept: it looked at nothing, or was tidied away."
            )
        written = sum(_written(folder, run, case) for run, case in found.items() if case)
    sys.stdout.write(
        f"Wrote {written} case{'' if written == 1 else 's'} into {folder}. Secrets were dropped when "
        "they were kept; look through them before you send them.\n"
    )


def tidy(older_than: str, *, dry_run: bool) -> None:
    """Remove what was over so long ago, or say how much that is; raise ToolsError."""
    matched = _DAYS.fullmatch(older_than.strip())
    if matched is None or int(matched[1]) < LEAST_DAYS:
        raise ToolsError(
            f"--older-than takes days, as 90d, and at least {LEAST_DAYS}d: "
            "an event that Slack brings once more must still be known."
        )
    keep_s = int(matched[1]) * _DAY_S
    with _store() as store:
        removed = 0
        with suppress(_TakenBack), store.together():
            removed = store.tidy(keep_s)
            if dry_run:
                raise _TakenBack
    rows = f"{removed} row{'' if removed == 1 else 's'}"
    sys.stdout.write(f"{f'{rows} would be removed' if dry_run else f'Removed {rows}'}.\n")


class _TakenBack(Exception):
    """What was removed was only counted."""


@contextmanager
def _store() -> Iterator[Store]:
    url = Service.load().database_url
    place = read_url(url)
    if place.get_backend_name() == "sqlite" and not Path(place.database or "").exists():
        raise ToolsError(
            f"There is no {place.database}: the bot has kept nothing, or PERFSLEUTH_DATABASE_URL names another."
        )
    store = Store.open(url)
    try:
        yield store
    finally:
        store.close()


def _began(day: str) -> float:
    try:
        one = date.fromisoformat(day)
    except ValueError:
        raise ToolsError(f"--since takes a date, as 2026-11-30, and not {day}.") from None
    return datetime(one.year, one.month, one.day, tzinfo=UTC).timestamp()


def _written(folder: Path, run: int, case: Case) -> int:
    host = _UNSAFE.sub("_", case.host or "files").strip(".") or "files"
    path = folder / f"run-{run}-{host[:60]}.case.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(case.dump().encode("utf-8", "replace"))
        path.chmod(0o600)
    except OSError as why:
        raise ToolsError(f"{path} cannot be written: {why.strerror or why}.") from None
    return 1
