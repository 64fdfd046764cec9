"""The lines of a log that the verdict stands on, and those that stand out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bot.followup.shown import ids, ordered
from bot.investigate import Judged
from bot.narrator import Line
from tools.engine import ServerLog
from tools.known import Known
from tools.linux.kernel import KernelLog

FEW = 8  # lines that stand in a message; more go into a file
_MOST = 200


@dataclass(frozen=True)
class Behind:
    """One line, the look that holds it, and what it shows."""

    look: str
    text: str
    shows: str


def few(lines: Sequence[Behind]) -> bool:
    """Say whether the lines fit into a message."""
    return len(lines) <= FEW


def lines_behind(end: Judged) -> tuple[Behind, ...]:
    """Return the lines that findings quote, then what the logs say of note; each once."""
    found: list[Behind] = []
    logs = {*ids(end.evidence, ServerLog), *ids(end.evidence, KernelLog)}
    for one in (*end.verdict.findings, *end.verdict.asides):
        cited = [look for look in one.evidence if look in logs]
        for quote in one.finding.quotes if cited else ():
            if _is_a_line(quote):
                _add(found, Behind(cited[0], quote, one.rule.cause.id))
    for noted in _of_note(end):
        _add(found, noted)
    return tuple(found[:_MOST])


def _add(found: list[Behind], new: Behind) -> None:
    """Add a line, unless it stands there; of two that say the same the longer one tells when."""
    for at, old in enumerate(found):
        if old.text in new.text:
            found[at] = Behind(old.look, new.text, old.shows)
            return
        if new.text in old.text:
            return
    found.append(new)


def log_lines(end: Judged, lines: Sequence[Behind]) -> Iterator[Line]:
    """Tell the lines, or the first of them where there are many."""
    if not lines:
        logs = ordered((*ids(end.evidence, ServerLog), *ids(end.evidence, KernelLog)))
        why = "No line of the logs stands out." if logs else "No log was read in this case."
        yield Line("text", why, logs)
        return
    more = "" if few(lines) else f", {FEW} of {len(lines)}; the rest is in the file"
    yield Line("text", f"The lines that matter{more}:")
    for one in lines[:FEW]:
        yield Line("said", one.text, (one.look,))


def _of_note(end: Judged) -> Iterator[Behind]:
    known = Known(end.evidence)
    log, kernel = known.get(ServerLog), known.get(KernelLog)
    if log is not None:
        look = ids(end.evidence, ServerLog)[0]
        for notice in log.notices:
            if notice.kind not in ("benign", "shutdown", "health"):
                stamp = " ".join(part for part in (notice.at, notice.rank) if part)
                times = f" ({notice.times} times)" if notice.times > 1 else ""
                text = f"{f'[{stamp}] ' if stamp else ''}{notice.text}{times}"
                yield Behind(look, text, notice.kind)
    if kernel is not None:
        look = ids(end.evidence, KernelLog)[0]
        for xid in kernel.xids:
            yield Behind(look, f"{xid.bdf} Xid {xid.code}: {xid.text}", "xid")
        for report in kernel.aer:
            if report.text:
                yield Behind(look, report.text, "aer")


def _is_a_line(quote: str) -> bool:
    """Say whether a quotation is a line of a log, and not a flag or a figure."""
    return quote.startswith("[") or len(quote.split()) > 4
