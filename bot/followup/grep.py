"""What the log holds of a text: the lines that grep found, or those that were read closely."""

from __future__ import annotations

from collections.abc import Iterator

from bot.followup.intent import Intent
from bot.followup.shown import ids, short
from bot.investigate import Judged
from bot.narrator import Line
from tools.engine import LogMatches, ServerLog
from tools.evidence import Evidence
from tools.probes import PROBES

_SHOWN = 8


def grep(intent: Intent, end: Judged) -> Iterator[Line]:
    """Tell the lines of the log that hold a text."""
    needle = intent.text
    look = _looked(needle, end)
    if look is not None and isinstance(look.facts, LogMatches):
        yield from _matches(look.facts, look.id, needle)
        return
    if look is not None and look.trouble:
        yield Line("text", f"The log could not be searched: {look.trouble}.", (look.id,))
    yield from _of_what_was_read(needle, end)


def _looked(needle: str, end: Judged) -> Evidence | None:
    kind = PROBES["GrepServerLog"]
    asked = [one for one in end.evidence if isinstance(one.probe, kind)]
    return next((one for one in reversed(asked) if getattr(one.probe, "text", "") == needle), None)


def _matches(found: LogMatches, look: str, needle: str) -> Iterator[Line]:
    count = found.count if found.count is not None else len(found.lines)
    if not count:
        yield Line("text", f"No line of the serve log holds {short(needle)!r}.", (look,))
        return
    newest = f", the newest {min(_SHOWN, len(found.lines))}" if count > _SHOWN else ""
    lines = "line holds" if count == 1 else "lines hold"
    yield Line("text", f"{count} {lines} {short(needle)!r}{newest}:", (look,))
    for line in found.lines[-_SHOWN:]:
        yield Line("said", line)


def _of_what_was_read(needle: str, end: Judged) -> Iterator[Line]:
    """Search what was kept of the log closely read; the whole log was not searched."""
    kept = [
        (one.id, line)
        for one in end.evidence
        if isinstance(one.facts, ServerLog) and one.output
        for line in one.output.stdout.splitlines()
        if needle.lower() in line.lower()
    ]
    cited = ids(end.evidence, ServerLog)
    if not kept:
        where = "what was read of the log" if cited else "this case, which has no log"
        yield Line("text", f"Nothing in {where} holds {short(needle)!r}.", cited)
        return
    yield Line("text", f"{len(kept)} of the lines that were read hold {short(needle)!r}:", cited)
    for _, line in kept[-_SHOWN:]:
        yield Line("said", line[:600])
