"""The log of the bot: one line for each thing, and nothing that opens a door."""

from __future__ import annotations

import logging
import sys

from bot.log import LONGEST, OneLine


def _line(text: str, *args: object, fault: bool = False) -> str:
    record = logging.LogRecord(
        "perfsleuth.slack",
        logging.WARNING,
        __file__,
        1,
        text,
        args,
        sys.exc_info() if fault else None,
    )
    return OneLine().format(record)


def test_tokens_and_tickets_leave_a_line() -> None:
    told = _line(
        "url=%s token %s",
        "wss://x.slack.com/link/?ticket=abc123&app_id=A1",
        "xoxb-1234567890-abcdef",
    )
    assert "abc123" not in told
    assert "xoxb-" not in told
    assert "wss://x.slack.com/link/" in told


def test_an_exception_is_its_type_and_place_and_never_its_text() -> None:
    try:
        raise ValueError("hunter2\nsecond line")
    except ValueError:
        told = _line("it fell", fault=True)
    assert "ValueError in test_an_exception" in told
    assert "hunter2" not in told


def test_a_thing_is_one_line_and_not_an_endless_one() -> None:
    told = _line("a\nb\x1b[31mc" + "x" * 5000)
    assert "\n" not in told
    assert "\x1b" not in told
    assert len(told) <= LONGEST + 1
