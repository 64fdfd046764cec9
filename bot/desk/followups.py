"""A follow-up is accepted: at once, after what still runs in its thread, or after a look at another host."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.desk.books import Books
from bot.desk.intake import Asked, Intake
from bot.desk.thread import Thread
from bot.followup import Intent
from bot.question import Question
from bot.settings import Settings
from bot.store import Run, Store
from bot.work.pairs import key_of


class FollowupsIn:
    """Accepts follow-ups, inside the transaction of the desk."""

    def __init__(self, store: Store, settings: Settings, books: Books, intake: Intake) -> None:
        self._store, self._settings = store, settings
        self._books, self._intake = books, intake

    def accept(self, asked: Asked, meant: Intent, thread: Thread) -> Sequence[Run]:
        """Return what is to be enqueued."""
        named = Question.of(asked.text, self._settings.hosts).hosts
        of_named = thread.about_one_of(named) if meant.kind != "compare" else None
        about = of_named or thread.about
        if meant.between and (about := thread.about_one_of(meant.between) or about):
            other = next(one for one in meant.between if one.lower() != (about.host or "").lower())
            return self._compare(replace(asked, about=about.id), other, about)
        if meant.kind == "compare" and meant.host and about:
            return self._compare(replace(asked, about=about.id), meant.host, about)
        looking = thread.looking
        if about is None or (looking and (of_named is None or looking.host == of_named.host)):
            return self._intake.followup(asked, thread.host, looking)
        return self._intake.followup(replace(asked, about=about.id), about.host, None)

    def _compare(self, asked: Asked, other: str, about: Run) -> Sequence[Run]:
        """Look at the other host first, where it was never looked at."""
        names = {name.lower(): name for name in self._settings.hosts}
        name = names.get(other.lower(), other)
        if self._store.runs.last_of(name) is not None:
            return self._intake.followup(asked, about.host, None)
        first = replace(asked, key=key_of(asked.key, name), about=None)
        runs = self._intake.hosts(first, [name])
        waits_for = self._store.runs.open_on(name)
        return [*runs, *self._intake.followup(asked, about.host, waits_for, told=True)]
