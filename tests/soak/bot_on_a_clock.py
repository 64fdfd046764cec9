"""`perfsleuth bot` whose mornings follow a clock that is a file; all else is the bot as it is."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from bot.slack import office
from bot.work.due import Summaries
from tools.errors import ToolsError

CLOCK = Path(os.environ["SOAK_CLOCK"])
LOOK_S = 0.5  # the hours of this clock are seconds, and the bot's own looks are 10 s apart


def on_the_clock(*of: Any, **named: Any) -> Summaries:
    now: Callable[[], float] = lambda: float(CLOCK.read_text())  # noqa: E731
    summaries = Summaries(*of, **named, now=now)

    def look() -> None:
        while True:
            time.sleep(LOOK_S)
            with suppress(ToolsError):
                summaries.accept()

    threading.Thread(target=look, daemon=True).start()
    return summaries


if __name__ == "__main__":
    office.Summaries = on_the_clock  # type: ignore[misc, assignment]
    from bot.cli import main

    main()
