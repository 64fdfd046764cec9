"""The log of a process that runs for long: one line for each thing, without secrets."""

from __future__ import annotations

import logging
import re
import sys
import traceback
from types import TracebackType

from tools.harmless import harmless
from tools.secrets import scrub

LONGEST = 1000  # characters of a line
_TICKET = re.compile(r"(wss?://[^\s?]+)\?\S+")  # of Socket Mode: whoever has it may listen


class OneLine(logging.Formatter):
    """Scrubs whatever is logged, and tells an exception by type and place: its text may hold anything."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        """Return one line."""
        line = self.formatMessage(_told(record, self.formatTime(record)))
        if record.exc_info and isinstance(record.exc_info, tuple) and record.exc_info[0]:
            line += _fault(record.exc_info[0], record.exc_info[2])
        line = _TICKET.sub(r"\1?<dropped>", harmless(scrub(line)))
        return f"{line[:LONGEST]}{'…' if len(line) > LONGEST else ''}"


def begin(*, level: int = logging.INFO) -> None:
    """Log to standard error: what is ours from INFO on, libraries from WARNING on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(OneLine())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("perfsleuth").setLevel(level)


def _told(record: logging.LogRecord, at: str) -> logging.LogRecord:
    record.message, record.asctime = record.getMessage(), at
    return record


def _fault(kind: type[BaseException], trace: TracebackType | None) -> str:
    frames = traceback.extract_tb(trace)[-3:]
    places = " < ".join(f"{frame.name} ({frame.filename}:{frame.lineno})" for frame in frames[::-1])
    return f" [{kind.__name__} in {places}]"
