"""A file too large to be read whole: a look that knows its kind filters it where it lies."""

from __future__ import annotations

import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tools.errors import HostError, ProbeError, Unreadable
from tools.host import Host, Output
from tools.hosts.files.text import as_text
from tools.probe import Probe

LARGE_BYTES = 32 << 20  # what the head and the tail of a file hold together, see bounded.py
END_BYTES = 400_000  # of either end, by which a look knows its kind; as in probes/server_log.py


def filtered(
    path: Path, questions: Iterable[Probe[Any]], here: Host
) -> tuple[Probe[Any], Output] | None:
    """Return the look that a large file answers, and what its filter let through.

    None where the file is not large, is no regular file, is compressed, answers no look that has a
    filter, or was not filtered; it is then read like any other.
    """
    text = _ends(path)
    if not text:
        return None
    for probe in questions:
        there = probe.lying_at(str(path.absolute()))
        if there is not None and probe.recognises(text):
            output = _asked(here, there)
            return (probe, output) if output and _reads(probe, output) else None
    return None


def _ends(path: Path) -> str:
    try:
        kind = path.stat()
        if not stat.S_ISREG(kind.st_mode) or kind.st_size <= LARGE_BYTES:
            return ""
        with path.open("rb") as file:
            head = file.read(END_BYTES)
            file.seek(-END_BYTES, 2)
            tail = file.read(END_BYTES)
        return as_text(head[: head.rfind(b"\n") + 1] + tail[tail.find(b"\n") + 1 :])
    except (OSError, ValueError, Unreadable):
        return ""  # reading it like any other says what is wrong with it


def _asked(here: Host, probe: Probe[Any]) -> Output | None:
    try:
        output = here.answer([probe])[0]
    except HostError:
        return None
    return None if output.lost or output.status else output


def _reads(probe: Probe[Any], output: Output) -> bool:
    try:
        probe.read(output.model_copy(update={"stdout": probe.clean(output.stdout)}))
    except ProbeError:
        return False
    return True
