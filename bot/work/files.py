"""Files and pasted texts are read and judged, exactly as `perfsleuth diagnose` does."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from bot.audience import Audience
from bot.investigate import Judged, Learned, conclude
from bot.message import Message
from bot.narrator import Line, Part
from bot.narrator.forms import KNOWN_FORMS
from bot.settings import Settings
from bot.store import Run, Store
from bot.work import told
from bot.work.ends import End, Ends
from bot.work.fetched import Fetch
from bot.work.looks import learned_by, question_of, seen
from tools.case import Case
from tools.errors import ToolsError
from tools.evidence import Evidence, read_back
from tools.hosts.files import Found, read_texts
from tools.hosts.local import LocalHost
from tools.probes import PROBES


class Files:
    """Carries out runs of kind files.

    Reading may hold some 30 MB of each file, so one run reads at a time: who has the turn to think,
    which only `fetch` gives away.
    """

    def __init__(
        self, store: Store, settings: Settings, audience: Audience, ends: Ends, fetch: Fetch
    ) -> None:
        self._store, self._settings = store, settings
        self._audience, self._ends = audience, ends
        self._fetch = fetch

    def carry_out(self, run: Run) -> None:
        """Fetch, read, judge and tell."""
        self._audience.began(run, 0)
        message = Message.model_validate_json(run.message)
        looks, troubles = self._looks(run, message)
        question = question_of(run, self._settings)
        end = conclude(question, looks)
        self._audience.tell(run, end)
        host = self._host(run)
        self._store.cases.save(run.id, Case.of(host, question.text, "captured", looks))
        self._ends.end(run, lambda one: self._end(one, end, troubles))

    def _looks(self, run: Run, message: Message) -> tuple[list[Evidence], list[str]]:
        """Read what came, after the looks that its thread has already."""
        earlier = self._store.runs.get(run.about) if run.about else None
        learned = learned_by(self._store, earlier) if earlier else None
        looks = list(seen(learned.looks)) if learned else []
        troubles: list[str] = []
        for found in self._found(message, troubles):
            look = read_back(len(looks) + 1, found.probe, found.source, found.output, found.trouble)
            looks.append(look)
            self._audience.tell(run, Learned(look))
        return looks, troubles

    def _found(self, message: Message, troubles: list[str]) -> Iterator[Found]:
        fetched = self._fetch(message)
        troubles += fetched.troubles
        try:
            for path, name in zip(fetched.paths, _names(fetched.paths), strict=True):
                yield from _read(path, name, troubles)
        finally:
            if fetched.folder:
                shutil.rmtree(fetched.folder, ignore_errors=True)
        for name, text in _pasted(message):
            yield from read_texts([(name, text.encode())], PROBES)

    def _host(self, run: Run) -> str | None:
        earlier = self._store.runs.get(run.about) if run.about else None
        return earlier.host if earlier else None

    def _end(self, run: Run, end: Judged, troubles: Sequence[str]) -> End:
        question = question_of(run, self._settings)
        looks = seen(end.evidence)
        if not looks:
            words = " ".join(troubles) or "There was nothing in it to read."
            return End(run, "failed", [told.trouble_letter(run, words, KNOWN_FORMS)])
        before: list[Part] = [Line("trouble", text) for text in troubles]
        if not any(look.facts for look in looks):
            before.append(Line("said", KNOWN_FORMS))
        own = end if run.joins is None else conclude(question, looks)
        letters = told.verdict_letters(run, question, own, before=before)
        return End(run, "done", letters, own.verdict.category, own.verdict.headline)


def _read(path: Path, name: str, troubles: list[str]) -> Iterator[Found]:
    try:
        for found in read_texts([path], PROBES, LocalHost()):
            yield replace(found, source=found.source.replace(str(path), name, 1))
    except ToolsError as why:
        troubles.append(f"{str(why).replace(str(path), name).rstrip('.')}.")


def _names(paths: Sequence[Path]) -> Iterator[str]:
    """Name each file as its owner did; a name that comes twice gets a number."""
    taken: dict[str, int] = {}
    for path in paths:
        count = taken[path.name] = taken.get(path.name, 0) + 1
        yield path.name if count == 1 else f"{path.name} ({count})"


def _pasted(message: Message) -> Iterator[tuple[str, str]]:
    many = len(message.pasted) > 1
    for number, text in enumerate(message.pasted, start=1):
        yield (f"pasted text {number}" if many else "pasted text"), text
