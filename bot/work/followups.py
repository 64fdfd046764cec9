"""A follow-up is answered from the looks of its thread; what they lack is asked of the host, once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from bot.followup import Answer, Intent, answer, intent, wanted
from bot.investigate import Judged, conclude
from bot.letter import Attached, Letter
from bot.narrator import Line, Part
from bot.narrator.changed import ago
from bot.narrator.explained import explained
from bot.question import Question
from bot.settings import Settings
from bot.source.look import SourceLook
from bot.store import Run, Store
from bot.work import told
from bot.work.agents import Agents, nobody
from bot.work.comparisons import comparison
from bot.work.ends import End, Ends
from bot.work.hosts import Names, Reach
from bot.work.looks import Learned, judged_by, learned_by
from bot.work.pairs import looks_for
from bot.work.stops import Stops
from tools.case import Case
from tools.errors import ToolsError
from tools.evidence import Evidence, ask
from tools.host import STOPPED, Host

_GONE = (
    "I no longer have what I saw in this thread. Ask me to check again, or put the question with the "
    "host's name."
)
_OF_THE_SOURCE = ("who_set", "flags")  # questions that the engine's source answers
_OLD_S = 15 * 60  # from then on an answer says how old its looks are


@dataclass(frozen=True)
class _Told:
    """What is answered, and the looks that were taken for it. `by` is who stopped them."""

    answer: Answer
    end: Judged
    new: Sequence[Evidence] = ()
    by: str | None = None
    exchanges: Sequence[dict[str, Any]] = ()


class Followups:
    """Carries out runs of kind followup."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        ends: Ends,
        stops: Stops,
        host_of: Reach,
        names: Names,
        agents: Agents = nobody,
        meanwhile: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._store, self._settings = store, settings
        self._ends, self._stops = ends, stops
        self._host_of, self._names = host_of, names
        self._agents, self._meanwhile = agents, meanwhile

    def carry_out(self, run: Run) -> None:
        """Answer it; a thread whose looks are gone is told so."""
        both = looks_for(self._store, run)
        if len(both) > 1:
            parts = tuple(comparison(self._store, self._settings, run, both))
            self._ends.end(run, lambda one: End(one, "done", [told.answer_letter(one, parts)]))
            return
        learned = learned_by(self._store, run)
        if learned is None:
            lines = [Line("lead", _GONE)]
            self._ends.end(run, lambda one: End(one, "failed", [told.answer_letter(one, lines)]))
            return
        read = intent(run.text, self._settings.hosts, addressed=True)
        given = self._answered(run, read or Intent.rejudging(run.text), learned)
        if (read is None or read.plain) and not given.by:
            given = self._phrased(run, learned, given)
        if given.new or given.exchanges:
            host, looks = learned.case.host, [*learned.looks, *given.new]
            case = Case.of(host, learned.case.question, "captured", looks, given.exchanges)
            self._store.cases.save(run.id, case)
        self._ends.end(run, lambda one: self._end(one, learned, given))

    def _answered(self, run: Run, meant: Intent, learned: Learned) -> _Told:
        new, by = self._asked(run, meant, learned)
        asked = Question.of(learned.case.question, self._settings.hosts)
        end = conclude(asked, [*learned.looks, *new])
        this = learned.case.host or "these files"
        against = _against(meant, this)
        other = self._other(meant, against, learned.run)
        before = judged_by(self._store, other, self._settings) if other else None
        names = (this, against or f"{this}, earlier")
        at = datetime.fromtimestamp(learned.run.began_at or learned.run.asked_at, UTC)
        given = answer(
            meant, asked, end, run.text, before, looked_at=f"{at:%H:%M} UTC", names=names
        )
        if before and other and against and (age := _age_of(run, other)):
            given = replace(given, parts=(*given.parts, Line("said", age)))
        return _Told(given, end, new, by)

    def _phrased(self, run: Run, learned: Learned, given: _Told) -> _Told:
        """Let a model answer what no form of ours reads; where nothing of it stands, ours stands."""
        with self._meanwhile():
            agent = self._agents(learned.case.host or "", learned.run.port)
        if agent is None:
            return given
        asked = Question.of(learned.case.question, self._settings.hosts)
        with self._stops.watching(run.id, None) as watch:
            told_by = agent.follow_up(
                asked, given.end, run.text, stopped=watch.asked, meanwhile=self._meanwhile
            )
        words = tuple(explained(told_by))
        parts = words if told_by.lines else (*given.answer.parts, *words)
        return replace(
            given,
            answer=replace(given.answer, parts=parts),
            exchanges=told_by.exchanges_kept(),
            by=watch.by,
        )

    def _asked(
        self, run: Run, meant: Intent, learned: Learned
    ) -> tuple[list[Evidence], str | None]:
        """Ask the host what the looks lack; nothing where they came from files."""
        name = learned.case.host or ""
        if name.lower() not in {known.lower() for known in self._settings.hosts}:
            return [], None
        scope = dict(self._settings.host(name).scope())
        if learned.run.port:
            scope["port"] = learned.run.port
        more = wanted(meant, learned.looks, scope)
        source = SourceLook(scope)
        followed = meant.kind in _OF_THE_SOURCE and source.due(learned.looks, over=True)
        if not more and not followed:
            return [], None
        host = self._host_of(name, self._settings)
        try:
            with self._stops.watching(run.id, host) as watch:
                looks = [] if watch.asked() else ask(host, more, after=len(learned.looks))
                if followed and not watch.asked():
                    looks += _followed(source, host, [*learned.looks, *looks])
        finally:
            host.close()
        kept = [look for look in looks if not look.output or look.output.lost != STOPPED]
        first = len(learned.looks) + 1
        return [replace(one, id=f"E{n}") for n, one in enumerate(kept, start=first)], watch.by

    def _other(self, meant: Intent, against: str | None, run: Run) -> Run | None:
        """Return the run of the other host, or the earlier one of the same."""
        if meant.kind != "compare":
            return None
        if against:
            return self._store.runs.last_of(against)
        return self._store.runs.get(run.about) if run.about else None

    def _end(self, run: Run, learned: Learned, given: _Told) -> End:
        parts: list[Part] = []
        if given.by:
            who = self._names(given.by)
            parts.append(Line("lead", f"Stopped{f' by {who}' if who else ''}. Without a new look:"))
        parts += given.answer.parts
        age_s = run.asked_at - (learned.run.ended_at or run.asked_at)
        if parts and age_s > _OLD_S and not given.new:
            parts.append(
                Line("said", f"From the looks of {ago(age_s)}; “check again” takes new ones.")
            )
        letters = [told.answer_letter(run, parts)] if parts else []
        if given.answer.attached:
            letters.append(_file(run, given.answer))
        verdict = given.end.verdict if given.new else None
        return End(
            run,
            "stopped" if given.by else "done",
            letters,
            verdict.category if verdict else None,
            verdict.headline if verdict else None,
        )


def _followed(source: SourceLook, host: Host, looks: Sequence[Evidence]) -> list[Evidence]:
    """Take the engine's source; where it cannot be had, the answer says that it was not given."""
    try:
        return [source.take(host, looks, conclude(Question.of(""), looks).verdict)]
    except ToolsError:
        return []


def _against(meant: Intent, this: str) -> str | None:
    """Return the host to compare with: where two are named, the one that the thread is not about."""
    if meant.between is None:
        return meant.host
    return next((one for one in meant.between if one.lower() != this.lower()), meant.host)


def _age_of(run: Run, other: Run) -> str:
    """Say how old what is known of the other host is, where that matters."""
    age_s = run.asked_at - (other.ended_at or run.asked_at)
    if age_s <= _OLD_S:
        return ""
    return (
        f"What I know of {other.host} is from {ago(age_s)}: “check {other.host}” takes new looks."
    )


def _file(run: Run, given: Answer) -> Letter:
    attached = told.evidence_of(run, tuple(given.looks))
    if given.attached == "log_lines":
        what = run.host or "files"
        attached = Attached(
            kind="log_lines",
            run=run.id,
            name=f"{what}-run{run.id}-lines.txt",
            title=f"Lines of the log of {what}",
            looks=tuple(given.looks),
            text=given.text,
        )
    return told.file_letter(run, attached, f"run:{run.id}:file")
