"""Lines of a kernel log near a moment of another log, where both clocks can be compared."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from tools.linux.kernel import KernelLog, XidLine

_ISO = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,]\d+)?(Z|[+-]\d\d:?\d\d)?$")
_SHORT = ("%b %d %H:%M:%S", "%a %b %d %H:%M:%S %Y")  # syslog and journalctl; dmesg -T
_NAMED = 3  # lines that are named
_ONE_EVENT = timedelta(hours=1)  # one crash prints its lines within it


def walls(at: str | None, year: int) -> tuple[datetime, ...]:
    """Return what a clock on the wall can have shown at a kernel's printed time.

    A time with its zone is given in that zone and in UTC, which containers keep. Nothing is
    returned for a time since boot.
    """
    told = " ".join((at or "").split())
    if (found := _ISO.match(told)) is not None:
        try:
            when = datetime.fromisoformat(f"{found[1]} {found[2]}{found[3] or ''}")
        except ValueError:
            return ()
        local = when.replace(tzinfo=None)
        utc = when.astimezone(UTC).replace(tzinfo=None) if when.tzinfo else local
        return (local,) if utc == local else (local, utc)
    for form in _SHORT:
        text, pattern = (told, form) if "%Y" in form else (f"{year} {told}", f"%Y {form}")
        try:
            return (datetime.strptime(text.split(".")[0], pattern),)
        except ValueError:
            continue
    return ()


def lines_near(
    kernel: KernelLog, low: str | None, high: str | None, slack_s: int
) -> tuple[str, ...]:
    """Name Xids and PCIe errors from `slack_s` before `low` until `high`, "2026-09-02 14:05:00"."""
    try:
        begin = datetime.fromisoformat(low or "") - timedelta(seconds=slack_s)
        end = datetime.fromisoformat(high or "") + timedelta(seconds=slack_s)
    except (ValueError, OverflowError):
        return ()
    told = [(f"Xid {xid.code} on {xid.bdf}", xid.at) for xid in kernel.xids]
    told += [
        (f"PCIe error ({', '.join(aer.errors) or aer.severity})", aer.at) for aer in kernel.aer
    ]
    named = [
        f"{what} at {at}"
        for what, at in told
        if any(begin <= wall <= end for wall in walls(at, begin.year))
    ]
    return tuple(named[:_NAMED])


def days_since_the_only(
    xids: Sequence[XidLine], began: str | None, ended: str | None
) -> int | None:
    """Return the whole days from one event until `ended`, for a run that began after it.

    `began` and `ended` are the first and last moment of the run, "2026-09-02 14:05:00". None where
    clocks cannot be compared, where there was more than one event, or where the run is older.
    """
    try:
        begin, end = datetime.fromisoformat(began or ""), datetime.fromisoformat(ended or "")
    except ValueError:
        return None
    told = [walls(xid.at, end.year) for xid in xids]
    if not told or not all(told):
        return None
    first, last = min(map(min, told)), max(map(max, told))
    return (end - last).days if last - first <= _ONE_EVENT and last <= begin else None
