"""How the command ends: its exit status, and one line on standard error where there is something to say."""

from __future__ import annotations

import io
import os
import sys
import traceback
from collections.abc import Callable

from tools.errors import HostError, ToolsError
from tools.harmless import harmless
from tools.secrets import scrub

WRONG, UNREACHED, FAULT, STOPPED = 2, 3, 1, 130
LONGEST = 2000  # characters of the one line


def of(command: Callable[[], object]) -> int:
    """Run a command of typer and return its exit status; nothing is raised."""
    _ready()
    try:
        status = _status(command)
        sys.stdout.flush()
    except BrokenPipeError:
        return _give_up(0)
    except ToolsError as why:
        return _say(str(why), UNREACHED if isinstance(why, HostError) else WRONG)
    except KeyboardInterrupt:
        return _say("stopped.", STOPPED)
    except OSError as why:
        return _give_up(_say(f"it cannot be done: {why.strerror or why}.", WRONG))
    except Exception as why:  # noqa: BLE001 - the last door: no text of a host passes it as it is
        return _fault(why)
    return status


def _status(command: Callable[[], object]) -> int:
    """Typer ends by SystemExit, also where nobody reads any more or Ctrl-C was pressed."""
    try:
        command()
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):
            raise BrokenPipeError from None
        if end.code == STOPPED:
            raise KeyboardInterrupt from None
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def _ready() -> None:
    """Let no character fail to be written, whatever the locale is and whatever was closed."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _give_up(status: int) -> int:
    """Forget what could not be written, so that the flush at the very end does not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return status


def _say(text: str, status: int) -> int:
    line = harmless(scrub(text))
    sys.stderr.write(f"perfsleuth: {line[:LONGEST]}{'…' if len(line) > LONGEST else ''}\n")
    return status


def _fault(why: Exception) -> int:
    """Tell where perfsleuth itself fell, without what it held in its hands."""
    frames = traceback.extract_tb(why.__traceback__)[-4:]
    places = " < ".join(f"{frame.name} ({frame.filename}:{frame.lineno})" for frame in frames[::-1])
    return _say(f"a fault of its own, please report it: {type(why).__name__} in {places}", FAULT)
