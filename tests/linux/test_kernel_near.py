"""Lines of a kernel log near a moment of a serve log, in each way a kernel tells the time."""

from __future__ import annotations

from datetime import datetime

import pytest

from tools.linux.kernel import AerLine, KernelLog, XidLine
from tools.linux.kernel_near import lines_near, walls

LOW, HIGH = "2026-09-02 14:04:00", "2026-09-02 14:06:00"


@pytest.mark.parametrize(
    "at",
    [
        "Sep  2 14:05:01", "Sep  2 14:05:01.123456", "Wed Sep  2 14:05:01 2026", "2026-09-02T14:05:01+0200",
        "2026-09-02T14:05:01.123456+02:00", "2026-09-02T16:05:01+02:00", "2026-09-02T14:05:01Z", "2026-09-02 14:05:01",
    ],
)  # fmt: skip
def test_a_line_of_that_minute_is_named(at: str) -> None:
    log = KernelLog(xids=(XidLine(bdf="0000:9c:00.0", code=79, text="", at=at),))
    assert lines_near(log, LOW, HIGH, 120) == (f"Xid 79 on 0000:9c:00.0 at {at}",)


@pytest.mark.parametrize(
    "at",
    [
        "Sep  2 13:05:01",
        "Sep  3 14:05:01",
        "12345.678",
        None,
        "",
        "Sep 31 14:05:01",
        "9999999-99-99T99:99:99",
    ],
)
def test_a_line_of_another_hour_or_of_no_known_one_is_not(at: str | None) -> None:
    log = KernelLog(xids=(XidLine(bdf="0000:9c:00.0", code=79, text="", at=at),))
    assert lines_near(log, LOW, HIGH, 120) == ()


def test_a_moment_without_a_date_is_compared_to_nothing() -> None:
    log = KernelLog(aer=(AerLine(errors=("BadTLP",), at="Sep  2 14:05:01"),))
    assert lines_near(log, "14:04:00", "14:06:00", 120) == ()
    assert lines_near(log, None, None, 120) == ()
    assert lines_near(log, LOW, HIGH, 120) == ("PCIe error (BadTLP) at Sep  2 14:05:01",)


def test_a_zone_is_read_as_that_of_the_host_and_as_utc() -> None:
    assert walls("2026-09-02T16:05:01+02:00", 2026) == (
        datetime(2026, 9, 2, 16, 5, 1),
        datetime(2026, 9, 2, 14, 5, 1),
    )
