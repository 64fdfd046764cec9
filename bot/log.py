"""The log of a process that runs for long: one line for each thing, without secrets."""

from __future__ import annotations

import json
import logging
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from types import TracebackType

from tools.harmless import harmless
from tools.secrets import scrub

LONGEST = 1000  # characters of a line
_TICKET = re.compile(r"(wss?://[^\s?]+)\?\S+")  # of Socket Mode: whoever has it may listen
_run: ContextVar[int | None] = ContextVar("run", default=None)


@contextmanager
def of_run(number: int) -> Iterator[None]:
    """Let what is logged inside, by this thread, tell the number of the run that it is about."""
    token = _run.set(number)
    try:
        yield
    finally:
        _run.reset(token)


class OneLine(logging.Formatter):
    """Scrubs whatever is logged, and tells an exception by type and place: its text may hold anything."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        """Return one line."""
        return _clean(self.formatMessage(_told(record, self.formatTime(record))) + _end(record))


class OneObject(logging.Formatter):
    """The same as one JSON object: at, level, logger, message, and run where it is about one."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one line."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        told: dict[str, str | int] = {
            "at": at,
            "level": record.levelname,
            "logger": record.name,
            "message": _clean(record.getMessage() + _end(record)),
        }
        if (run := _run.get()) is not None:
            told["run"] = run
        return json.dumps(told, ensure_ascii=False)


def begin(*, level: int = logging.INFO, as_json: bool = False) -> None:
    """Log to standard error: what is ours from INFO on, libraries from WARNING on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(OneObject() if as_json else OneLine())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("perfsleuth").setLevel(level)


def _clean(line: str) -> str:
    line = _TICKET.sub(r"\1?<dropped>", harmless(scrub(line)))
    return f"{line[:LONGEST]}{'…' if len(line) > LONGEST else ''}"


def _end(record: logging.LogRecord) -> str:
    if record.exc_info and isinstance(record.exc_info, tuple) and record.exc_info[0]:
        return _fault(record.exc_info[0], record.exc_info[2])
    return ""


def _told(record: logging.LogRecord, at: str) -> logging.LogRecord:
    record.message, record.asctime = record.getMessage(), at
    return record


def _fault(kind: type[BaseException], trace: TracebackType | None) -> str:
    frames = traceback.extract_tb(trace)[-3:]
    places = " < ".join(f"{frame.name} ({frame.filename}:{frame.lineno})" for frame in frames[::-1])
    return f" [{kind.__name__} in {places}]"
