"""Hears what people say and decides: refuse, help, join, queue, answer. It never does the work itself."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from bot.access import Access, Asker, Groups
from bot.approvals import Approvals
from bot.audience import Audience
from bot.desk import words
from bot.desk.books import Books, Place
from bot.desk.deciding import Deciding
from bot.desk.followups import FollowupsIn
from bot.desk.intake import Asked, Intake, Names
from bot.desk.presses import Presses
from bot.desk.rounds import Rounds
from bot.desk.sayings import Sayings
from bot.desk.stopping import Stopping
from bot.desk.thread import WHICH, Thread
from bot.desk.trying import Found, Trying
from bot.desk.wish import Wish, wish
from bot.letter import Button
from bot.message import Message
from bot.proposal import Wanted
from bot.question import Question
from bot.settings import Settings
from bot.store import Run, Store
from bot.work.looks import hosts_of
from tools.errors import ToolsError

Enqueue = Callable[[Run], None]
_OF_HOSTS = ("look", "compare", "again", "try", "tune", "know", "changed", "watch")
_LOG = logging.getLogger("perfsleuth.desk")


class Desk:
    """Sync, and called from several threads. What one call decides is one transaction, made once.

    A call that was cut off may be made again: what it decided stands, and only what it could not
    hand on is handed on. Raises StoreError, and what `groups` raises where people are unknown.
    """

    def __init__(
        self,
        store: Store,
        settings: Settings,
        enqueue: Enqueue,
        groups: Groups,
        audience: Audience,
        *,
        names: Names = lambda _user: "",
        now: Callable[[], float] = time.time,
    ) -> None:
        self._store, self._settings = store, settings
        self._enqueue, self._audience = enqueue, audience
        self._access = Access(settings, groups)
        self._books = Books(store)
        self._intake = Intake(store, settings, self._books, names, now)
        self._stopping = Stopping(store, self._books)
        self._trying = Trying(store, settings, self._books, self._intake)
        self._presses = Presses(store, self._books, self._intake, self._stopping, self._trying)
        approvals = Approvals(store, names, now)
        self._deciding_on = Deciding(store, self._access, self._books, approvals, names)
        self._followups = FollowupsIn(store, settings, self._books, self._intake)
        self._rounds = Rounds(store, settings)
        self._sayings = Sayings(store, settings, self._access, now)

    def hear(self, message: Message, incoming_id: str) -> None:
        """Decide what becomes of a message. Nothing, where it is not meant for us."""
        thread = self._thread(message.channel, message.thread)
        meant = wish(message, thread, tuple(self._settings.hosts))
        if meant.act == "silent":
            return
        _LOG.debug("%s tells of %s: %s", incoming_id, message.key, meant.act)
        place = Place(message.user, message.channel, message.thread)
        refusal = self._refusal(place, meant, thread)
        if meant.act == "which" and not refusal:
            meant = replace(meant, hosts=self._sayings.open_to(place))
        said = [words.line(refusal)] if refusal else self._sayings.on(meant, place, thread)
        if meant.act == "try" and not said:
            tried = self._trying.meant(meant, thread)
            said = [] if isinstance(tried, Wanted) else tried
            meant = replace(meant, wanted=tried if isinstance(tried, Wanted) else None)
        saying = None if refusal else self._rounds.on(meant, thread)
        with self._deciding(message.key) as decided:
            if decided is None:
                return
            if said := said or (saying(place) if saying else []):
                self._books.say(place, message.key, said)
                outcome = "refused" if refusal else "answered"
                self._books.note(place, meant.act, message.text, outcome)
            else:
                decided += self._decide(message, meant, place, thread)

    def press(
        self,
        button: Button,
        run_id: int,
        user: str,
        channel: str,
        thread: str,
        incoming_id: str,
        *,
        right: bool | None = None,
        reason: str = "",
        shown: str = "",
        host: str = "",
    ) -> None:
        """Decide what becomes of a click; who clicks is authorised anew, and where they do.

        `shown` is the digest of what somebody approves or declines, `host` what somebody knows of.
        """
        place = Place(user, channel, thread)
        if button in ("approve", "decline"):
            self._decide_on(button, run_id, shown, place, incoming_id)
            return
        run = self._store.runs.get(run_id)
        if run is None:
            return
        refusal = self._refused(place, {host} if host else hosts_of(self._store, run))
        if run.channel != channel and not refusal:
            refusal = words.ELSEWHERE
        saying = self._rounds.known(run, host) if button == "know" and not refusal else None
        tried: Found = ()
        if button == "propose" and not refusal:
            tried = self._trying.of_verdict(run)
        with self._deciding(incoming_id) as decided:
            if decided is None:
                return
            if refusal:
                self._books.say(place, incoming_id, [words.line(refusal)], alone=True)
            elif saying:
                self._books.say(place, incoming_id, saying(place))
            else:
                decided += self._presses.press(
                    button, run, place, incoming_id, right=right, reason=reason, tried=tried
                )
            outcome = "refused" if refusal else "done"
            self._books.note(place, f"press {button}", f"run {run_id} {reason}", outcome, run.host)

    def _decide_on(
        self, button: Button, run_id: int, shown: str, place: Place, incoming_id: str
    ) -> None:
        """Decide on a proposal; a click that may not count is told to who made it, and audited."""
        offer = self._store.proposals.of_run(run_id)
        refusal = self._deciding_on.refusal(button, offer, place)
        with self._deciding(incoming_id) as decided:
            if decided is None:
                return
            outcome = f"refused: {refusal}"
            if refusal or offer is None:
                self._books.say(place, incoming_id, [words.line(refusal or words.GONE)], alone=True)
            else:
                begun, outcome = self._deciding_on.press(button, offer, shown, place, incoming_id)
                decided += begun
            what = f"proposal {offer.id if offer else '?'} of run {run_id}, digest {shown[:12]}"
            self._books.note(place, button, what, outcome, offer.host if offer else None)

    def stop(self, channel: str, thread: str, user: str, incoming_id: str) -> None:
        """Stop what runs in a thread, by the platform's own Stop."""
        place = Place(user, channel, thread)
        refusal = self._refused(place, self._thread(channel, thread).at_work)
        with self._deciding(incoming_id) as decided:
            if decided is None:
                return
            if refusal:
                self._books.say(place, incoming_id, [words.line(refusal)], alone=True)
                self._books.note(place, "stop", thread, "refused")
                return
            open_runs = self._thread(channel, thread).runs
            decided += self._stopping.stop([run for run in open_runs if not run.ended], place)

    def _refusal(self, place: Place, meant: Wish, thread: Thread) -> str | None:
        """Ask the inventory, before the transaction: the workspace may have to be asked as well."""
        hosts = set(meant.hosts if meant.act in _OF_HOSTS else ())
        if meant.act in ("followup", "files", "watch"):
            named = Question.of(meant.text, self._settings.hosts).hosts
            hosts |= thread.means | set(named)
            for run in (thread.about, thread.looking, thread.about_one_of(named)):
                hosts |= hosts_of(self._store, run) if run else set()
        if meant.act == "stop":
            hosts |= thread.at_work or thread.means
        if meant.intent and meant.intent.host:
            hosts.add(meant.intent.host)
        return self._refused(place, hosts)

    def _thread(self, channel: str, thread: str) -> Thread:
        return Thread.of(self._store.runs.in_thread(channel, thread))

    def _refused(self, place: Place, hosts: Collection[str]) -> str | None:
        asker = Asker(place.user, place.channel)
        refused = (self._access.refusal(asker, host) for host in sorted(hosts))
        return self._access.refusal(asker) or next(filter(None, refused), None)

    def _decide(self, message: Message, meant: Wish, place: Place, thread: Thread) -> Sequence[Run]:
        asked = Asked(place, message.key, meant.text, message.model_dump_json(), meant.port)
        match meant.act:
            case "look" | "compare":
                strange = replace(asked, strange=meant.strange)
                return self._intake.hosts(strange, meant.hosts, compared=meant.act == "compare")
            case "again" | "try" | "tune":
                return self._of_host(asked, meant, thread)
            case "followup" if meant.intent:
                return self._followups.accept(asked, meant.intent, thread)
            case "files":
                about = thread.about.id if thread.about else None
                count = len(message.files) + len(message.pasted)
                return self._intake.files(replace(asked, about=about), count)
            case "stop":
                return self._stopping.stop([run for run in thread.runs if not run.ended], place)
            case _:
                self._intake.which(asked, WHICH, meant.hosts)
        return ()

    def _of_host(self, asked: Asked, meant: Wish, thread: Thread) -> Sequence[Run]:
        if meant.wanted is not None:
            return self._trying.propose(asked, meant.hosts[0], meant.wanted)
        if meant.tuning is not None:
            return self._intake.plan(asked, meant.hosts[0], meant.tuning)
        return self._presses.again(asked, thread, meant.hosts[0])

    @contextmanager
    def _deciding(self, name: str) -> Iterator[list[Run] | None]:
        """Give a list to put accepted runs into, or None where it was decided before."""
        decided: list[Run] = []
        with self._store.together():
            first = self._books.first(name)
            yield decided if first else None
        self._audience.letters()  # what is said goes before what is done
        for run in decided if first else self._left_over(name):
            try:
                self._enqueue(run)
            except ToolsError as why:
                _LOG.warning("run %d is accepted and not enqueued yet: %s", run.id, why)

    def _left_over(self, name: str) -> list[Run]:
        """Return what was accepted for this before and may never have been handed on."""
        runs = self._store.runs.open()
        return [run for run in runs if run.state == "waiting" and run.key.split("#")[0] == name]
