"""What is in a file that goes into a thread: raw evidence, lines of logs, or a chart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from bot.charts.mornings import kept_png
from bot.experiment.result import drawn
from bot.followup.log_lines import lines_behind
from bot.investigate import conclude
from bot.letter import Attached
from bot.narrator import title
from bot.question import Question
from bot.settings import Settings
from bot.store import Store
from bot.work.chart import chart_of
from bot.work.looks import Learned, learned_by, question_of
from tools.engine.source_tree import SourceTexts
from tools.evidence import Evidence
from tools.harmless import harmless

MOST_BYTES = (
    1 << 20
)  # of a file; Slack shows a text of that size as a snippet, and people read less
_CUT = "\n[cut here: {left} kB more were seen; the case on the bot's machine has all]\n"


class Content:
    """Makes files when they are sent; sync, for a thread of its own."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store, self._settings = store, settings

    def of(self, attached: Attached) -> bytes | None:
        """Return a file's bytes; None where what it would hold is gone, or cannot be drawn."""
        run = self._store.runs.get(attached.run)
        if run is not None and run.kind == "experiment":
            record = self._store.experiments.load(run.id)
            return drawn(record) if record else None
        if run is not None and run.kind == "sweep":
            return _of_morning(attached)
        learned = learned_by(self._store, run) if run else None
        if run is None or learned is None:
            return None
        if attached.kind == "chart":
            question = question_of(run, self._settings)
            chart = chart_of(conclude(question, learned.looks))
            return chart.draw() if chart else None
        looks = [one for one in learned.looks if not attached.looks or one.id in attached.looks]
        if attached.kind == "log_lines":
            return _bounded(self._log_lines(learned, looks, attached.text))
        return _bounded(_evidence(learned, looks))

    def _log_lines(self, learned: Learned, looks: Sequence[Evidence], needle: str) -> Iterator[str]:
        """Yield the lines that hold a word, or those that matter where none is given."""
        if needle:
            yield from _lines(looks, needle)
            return
        question = Question.of(learned.case.question, self._settings.hosts)
        for line in lines_behind(conclude(question, learned.looks)):
            yield f"{line.look}  {harmless(line.text)}\n"


def _of_morning(attached: Attached) -> bytes | None:
    """What a summary told is kept in its letters: the days to draw, or the text of all hosts."""
    if attached.kind == "chart":
        return kept_png(attached.title, attached.text)
    return _bounded(iter([attached.text]))


def _evidence(learned: Learned, looks: Sequence[Evidence]) -> Iterator[str]:
    at = datetime.fromtimestamp(learned.run.began_at or learned.run.asked_at, UTC)
    yield f"What was seen of {learned.case.host or 'the files'}, {at:%Y-%m-%d %H:%M} UTC.\n"
    yield "Secrets were dropped when it was read. Facts are drawn from exactly these texts.\n"
    commands = {f"E{number}": one.command for number, one in enumerate(learned.case.asked, start=1)}
    for look in looks:
        yield from _look(look, commands.get(look.id, ""))


def _look(look: Evidence, command: str) -> Iterator[str]:
    output = look.output
    yield f"\n{'=' * 78}\n{look.id}  {title(look.probe)} ({look.title})\n"
    if command:
        yield f"asked    {harmless(command)}\n"
    yield f"source   {harmless(look.source)}\n"
    if output is None:
        return
    status = "none" if output.status is None else output.status
    yield f"status   {status}, after {output.took_s:.1f} s{', cut' if output.cut else ''}\n"
    for name, text in (("lost", output.lost), ("trouble", look.trouble), ("note", look.note)):
        if text:
            yield f"{name:8} {harmless(text)}\n"
    if isinstance(look.facts, SourceTexts):  # packed: who wants it has it in the case
        files = "\n".join(path for path, text in look.facts.contents.items() if text)
        yield f"{'-' * 78}\n{files}\n"
        return
    yield f"{'-' * 78}\n{_plain(output.stdout)}\n"
    if output.stderr.strip():
        yield f"{'-' * 30} standard error\n{_plain(output.stderr)}\n"


def _lines(looks: Sequence[Evidence], needle: str) -> Iterator[str]:
    for look in looks:
        lines = look.output.stdout.splitlines() if look.output else []
        found = [line for line in lines if needle.lower() in line.lower()]
        if found:
            yield f"{look.id}  {harmless(look.source)}: {len(found)} lines\n"
            yield from (f"{harmless(line)}\n" for line in found)


def _plain(text: str) -> str:
    """Keep the lines, and of each what is printed."""
    return "\n".join(harmless(line) for line in text.splitlines())


def _bounded(texts: Iterator[str]) -> bytes | None:
    kept, size, left = bytearray(), 0, 0
    for text in texts:
        data = text.encode("utf-8", "replace")
        room = max(0, MOST_BYTES - len(kept))
        kept += data[:room]
        size += len(data)
        left += len(data[room:])
    if not size:
        return None
    note = _CUT.format(left=left // 1024 + 1) if left else ""
    return bytes(kept).decode("utf-8", "ignore").encode() + note.encode()
