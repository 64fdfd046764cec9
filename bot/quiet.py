"""What a library logs, said in our words: its own may hold statements, rows and addresses."""

from __future__ import annotations

import logging
import time

_QUIET_S = 60  # between two lines of log about trouble
_LOG = logging.getLogger("perfsleuth.jobs")


class Quiet(logging.Handler):
    """Says that the queue has trouble, and of what type, at most once a minute."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._said_at: float | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Say it without the record's text."""
        now = time.monotonic()
        if self._said_at is None or now - self._said_at > _QUIET_S:
            self._said_at = now
            kind = record.exc_info[0] if record.exc_info else None
            what = f" ({kind.__name__})" if kind is not None else ""
            _LOG.warning("the queue of work reports trouble in %s%s", record.module, what)


def quieten(name: str) -> None:
    """Let a library's logger speak through us alone."""
    logger = logging.getLogger(name)
    for handler in list(logger.handlers):
        logger.removeHandler(handler)
    logger.propagate = False
    logger.addHandler(Quiet())
