"""The end of an experiment in words: what was measured, what was kept or taken back, and why; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.charts.before_after import Beside, before_after_alt, before_after_png
from bot.experiment.by_hand import by_hand
from bot.experiment.effects import told
from bot.experiment.judging import gains, goal_of
from bot.experiment.record import Measured, Record
from bot.narrator import Line, Part, Table, gained
from bot.narrator.proposed import written as typed
from tools.change import Change
from tools.harmless import harmless
from tools.measure.difference import Difference, differences

_HEAD = ("", "before", "with the change", "change", "true change within", "would have shown")
_LINES = 6  # of a log


def result(record: Record) -> Iterator[Part]:
    """Tell how it ended: the headline, the figures, the proofs, and what a person has to do."""
    yield Line("verdict", headline(record))
    if record.reason and record.reason not in headline(record):
        yield Line("text", record.reason)
    elif record.judged and record.judged.why not in headline(record):
        yield Line("text", record.judged.why)
    if record.trouble and record.trouble.line:
        yield Line("said", harmless(record.trouble.line))
    elif record.log:
        yield from (Line("said", harmless(line)) for line in record.log[-_LINES:])
    yield from _figures(record)
    yield from _proofs(record)
    yield Line("text", f"Changed: {changed(record.proposal.change)}.")
    if record.phase == "kept":
        yield Line("text", "To go back, start the old command line again (keys are not shown):")
        yield Line("test", harmless(" ".join(record.proposal.old)))
    if record.phase == "needs_person":
        yield Line("heading", "What a person has to do")
        yield from by_hand(record)


def headline(record: Record) -> str:
    """Say in one sentence how it ended."""
    where = f"{record.proposal.host} port {record.proposal.port}"
    if record.phase == "kept":
        return f"Kept on {where}: {_gain(record)}"
    if record.phase == "restored":
        return f"Taken back on {where}: the server runs as before."
    if record.phase == "withdrawn":
        return f"Nothing was changed on {where}."
    return f"{where} needs a person."


def changed(change: Change) -> str:
    """Write the change as people type it: "--chunked-prefill-size 4096"."""
    return harmless(typed(change))


def picture(record: Record) -> tuple[str, str] | None:
    """Return title and description of the chart; None where nothing was measured in both."""
    beside = _beside(record)
    return (_title(record), before_after_alt(_title(record), beside)) if beside else None


def drawn(record: Record) -> bytes | None:
    """Draw it; None where there is nothing to draw, or nothing to draw with."""
    return before_after_png(_title(record), _beside(record))


def _title(record: Record) -> str:
    found = _gain(record).partition(" (")[0].rstrip(".")
    return f"{record.proposal.host}, {changed(record.proposal.change)}: {found}"


def _gain(record: Record) -> str:
    return record.judged.why if record.judged else "not measured with the change."


def _differences(record: Record) -> Sequence[Difference]:
    before, after = record.before or Measured(), record.after or Measured()
    found = differences(before.figures, after.figures)
    first = goal_of(record.proposal.keep, found)
    return [*first, *(one for one in found if one not in first)]


def _figures(record: Record) -> Iterator[Part]:
    found = _differences(record)
    if not found:
        return
    yield Table(_HEAD, tuple(_row(one) for one in found))
    runs = found[0].runs
    said = f"{runs[0]} runs before, {runs[1]} with the change, after one of each that warmed it up"
    yield Line("text", f"{said}; the runs before came first, so a drift would count as a change.")


def _row(one: Difference) -> tuple[str, ...]:
    unit = one.name.partition(", ")[2]
    return (
        one.name,
        f"{one.a:,.1f}",
        f"{one.b:,.1f}",
        f"{gained.changed(one.change_pct, unit)}{'' if one.differs else ' (chance)'}",
        gained.within(one.low_pct, one.change_pct, one.high_pct, unit),
        f"{one.smallest_pct:.1f} %",
    )


def _beside(record: Record) -> list[Beside]:
    before, after = record.before or Measured(), record.after or Measured()
    return [
        Beside(one.name, before.figures[one.name], after.figures[one.name], _better(one))
        for one in _differences(record)
    ]


def _better(one: Difference) -> str:
    if not one.differs:
        return "no difference"
    by = gained.changed(one.change_pct, one.name.partition(", ")[2])
    word = "better" if gains(one)[1] > 0 else "worse"
    return f"{by}, {word}" if by.endswith("%") else by


def _proofs(record: Record) -> Iterator[Line]:
    if record.after is None and record.phase != "restored":
        return
    for one in record.proofs:
        if one.effective and one.asked != "":
            yield Line("text", f"In effect: {harmless(told(one))}.")
        elif one.effective is None and record.after is not None:
            yield Line(
                "text", f"Not proven: nothing on the host tells whether {one.flag} took effect."
            )
