"""Work is accepted: within the limits, joining what runs already, with its place in the queue told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from bot.desk import words
from bot.desk.books import Books, Place
from bot.narrator.proposed import WORDS
from bot.question import Question
from bot.settings import Settings
from bot.store import Run, Store
from bot.store.run import RunKind, RunState
from bot.tuning.tuning import Tuning
from bot.work.pairs import key_of

HOUR_S = 3600.0
Names = Callable[[str], str]
MOST_HOSTS = 3  # of one question: each is a trail in its thread


@dataclass(frozen=True)
class Asked:
    """What was asked: `key` is unique, `text` the question, `message` the JSON of what was written.

    `strange` are names that it holds beside those of hosts that we know.
    """

    place: Place
    key: str
    text: str
    message: str
    port: int | None = None
    about: int | None = None
    strange: tuple[str, ...] = ()


class Intake:
    """Accepts runs, inside the transaction of the desk. Each call returns what is to be enqueued.

    `names` tells what a user is called, as far as that is known; it waits for nobody.
    """

    def __init__(
        self,
        store: Store,
        settings: Settings,
        books: Books,
        names: Names,
        now: Callable[[], float],
    ) -> None:
        self._store, self._settings = store, settings
        self._books, self._names, self._now = books, names, now

    def hosts(self, asked: Asked, hosts: Sequence[str], *, compared: bool = False) -> list[Run]:
        """Accept a question about hosts: one run for each, and what compares the two where that is asked."""
        if len(hosts) > MOST_HOSTS:
            self._books.say(asked.place, asked.key, words.too_many(hosts, MOST_HOSTS))
            return []
        fresh = [host for host in hosts if self._open(host, asked) is None]
        if self._beyond(asked, len(fresh)):
            return []
        several = len(hosts) > 1
        keyed = [
            (replace(asked, key=key_of(asked.key, host)) if several else asked, host)
            for host in hosts
        ]
        runs = [run for one, host in keyed if (run := self._host(one, host))]
        if compared and (first := self._store.runs.by_key(keyed[0][0].key)):
            self._compare(asked, first)
        return runs

    def _compare(self, asked: Asked, first: Run) -> None:
        """Accept what tells how two hosts differ, once both were looked at."""
        waits_for = self._store.runs.get(first.joins) if first.joins else first
        run = self._add(replace(asked, about=first.id), "followup", first.host, joins=waits_for)
        self._note(asked, "compare", run)

    def files(self, asked: Asked, count: int) -> list[Run]:
        """Accept files and pasted texts."""
        if self._beyond(asked, 0):
            return []
        run = self._add(asked, "files", None)
        if run is None:
            return []
        what = f"{count} {'text' if count == 1 else 'texts'}"
        question = Question.of(asked.text, self._settings.hosts)
        self._books.open_trail(run, words.looking(question, what))
        self._note(asked, "files", run)
        return [run]

    def followup(
        self, asked: Asked, host: str | None, waits_for: Run | None, *, told: bool = False
    ) -> list[Run]:
        """Accept a follow-up: at once, or when the work that it waits for is done.

        `told` says that the thread shows already what is waited for.
        """
        if self._beyond(asked, 0):
            return []
        if host:
            self._store.runs.open_on(host)  # holds back its end until this is written
        waits_for = self._store.runs.get(waits_for.id) if waits_for else None
        if waits_for and waits_for.joins and not waits_for.ended:
            waits_for = self._store.runs.get(waits_for.joins)
        if waits_for:
            asked = replace(asked, about=asked.about or waits_for.id)
        if waits_for is None or waits_for.ended:
            run = self._add(asked, "followup", host)
            self._note(asked, "followup", run)
            return [run] if run else []
        run = self._add(asked, "followup", host, joins=waits_for)
        if run and not told:
            self._books.say(asked.place, asked.key, [words.line(words.STILL_LOOKING)])
        self._note(asked, "followup", run)
        return []

    def proposal(self, asked: Asked, host: str, wanted: str, said: str) -> list[Run]:
        """Accept that a change is proposed; `wanted` is its JSON, `said` how people write it."""
        if self._beyond(asked, 0):
            return []
        run = self._add(replace(asked, message=wanted), "proposal", host)
        if run is None:
            return []
        self._books.open_trail(run, words.preparing(host, said))
        self._note(asked, "propose", run)
        return [run]

    def plan(self, asked: Asked, host: str, tuning: Tuning) -> list[Run]:
        """Accept that a plan is made of what could help."""
        if self._beyond(asked, 0):
            return []
        run = self._add(replace(asked, message=tuning.model_dump_json()), "plan", host)
        if run is None:
            return []
        said = words.planning(host, WORDS[tuning.goal], tuning.budget_s / 60)
        self._books.open_trail(run, said)
        self._note(asked, "plan", run)
        return [run]

    def which(self, asked: Asked, headline: str, hosts: Sequence[str]) -> None:
        """Keep a question that names no host, until its answer names one of these."""
        run = self._add(asked, "host", None, state="failed", headline=headline)
        self._books.say(asked.place, asked.key, words.which(hosts))
        self._note(asked, "ask", run)

    def _host(self, asked: Asked, host: str) -> Run | None:
        open_run = self._open(host, asked)
        if open_run:
            self._join(asked, host, open_run)
            return None
        run = self._add(asked, "host", host)
        if run is None:
            return None
        question = Question.of(asked.text, self._settings.hosts)
        self._books.open_trail(run, words.looking(question, host, self._number(), asked.strange))
        self._note(asked, "ask", run)
        return run

    def _open(self, host: str, asked: Asked) -> Run | None:
        """Return what looks at this host now; another server on it is another question."""
        found = self._store.runs.open_on(host)
        return found if found and asked.port in (None, found.port) else None

    def _join(self, asked: Asked, host: str, other: Run) -> None:
        run = self._add(asked, "host", host, joins=other)
        if run is None:
            return
        here = (other.channel, other.thread) == (run.channel, run.thread)
        name = "" if here else self._names(other.user)
        since_s = self._now() - other.asked_at
        waits = other.state == "waiting"
        self._books.tell_joined(run, words.joined(host, since_s, name, here=here, waits=waits))
        self._note(asked, "ask", run, f"joined run {other.id}")

    def _number(self) -> int:
        """Return the place in the queue of what was accepted last; 0 where it begins at once."""
        place = self._store.runs.count_open() - 1
        return max(0, place - self._settings.limits.at_once + 1)

    def _beyond(self, asked: Asked, more: int) -> bool:
        """Refuse what is beyond a limit; `more` investigations would be open."""
        runs, limits, user = self._store.runs, self._settings.limits, asked.place.user
        found: tuple[str, int] | None = None
        if runs.count_since(user, self._now() - HOUR_S) >= limits.per_hour:
            found = ("hour", limits.per_hour)
        elif more and runs.count_open(user=user) + more > limits.open_per_user:
            found = ("user", limits.open_per_user)
        elif more and runs.count_open(channel=asked.place.channel) + more > limits.open_per_channel:
            found = ("channel", limits.open_per_channel)
        if found is None:
            return False
        self._books.say(asked.place, asked.key, words.too_much(*found))
        self._books.note(asked.place, "ask", asked.text, f"refused: limit ({found[0]})")
        return True

    def _add(
        self,
        asked: Asked,
        kind: RunKind,
        host: str | None,
        *,
        joins: Run | None = None,
        state: RunState = "waiting",
        headline: str | None = None,
    ) -> Run | None:
        return self._store.runs.add(
            asked.key,
            kind,
            host=host,
            port=asked.port,
            channel=asked.place.channel,
            thread=asked.place.thread,
            user=asked.place.user,
            text=asked.text,
            message=asked.message,
            joins=joins.id if joins else None,
            about=asked.about,
            state="joined" if joins else state,
            headline=headline,
        )

    def _note(self, asked: Asked, act: str, run: Run | None, outcome: str = "accepted") -> None:
        if run:
            self._books.note(asked.place, act, asked.text, f"{outcome} (run {run.id})", run.host)
