"""What runs is stopped: the worker ends what it asks, what only waits is taken out of the queue."""

from __future__ import annotations

from collections.abc import Sequence

from bot.desk import words
from bot.desk.books import Books, Place
from bot.store import Run, Store
from bot.store.run import WAITS
from bot.work import told
from bot.work.pairs import awaited

_NOT_BEGUN = "Stopped before I had begun."
_NO_LONGER = "Stopped: I wait no longer, and tell no verdict here."


class Stopping:
    """Stops runs, inside the transaction of the desk."""

    def __init__(self, store: Store, books: Books) -> None:
        self._store, self._books = store, books

    def stop(self, runs: Sequence[Run], place: Place) -> Sequence[Run]:
        """Ask for the end of each; return those that waited for one of them and may begin now."""
        freed: list[Run] = []
        for run in runs:
            self._store.runs.ask_stop(run.id, place.user)
            if run.kind == "campaign":
                pass  # its turn comes when the change that is on was taken back, and it tells what was tried
            elif run.state == "joined":
                self._end(run, _NO_LONGER)
            elif run.state == "waiting":
                self._end(run, _NOT_BEGUN)
                freed += self._free(run)
            self._books.note(place, "stop", f"run {run.id}", run.state, run.host)
        return freed

    def _end(self, run: Run, text: str) -> None:
        if not self._store.runs.end(run.id, "stopped"):
            return
        letter = told.trouble_letter(run, text, again=False)
        self._store.letters.add(letter)
        if run.state == "waiting" and run.kind not in WAITS:
            self._store.letters.add(told.trail_end(run))

    def _free(self, run: Run) -> Sequence[Run]:
        """Let the first of those that joined take its place, and the others join that one."""
        joined = self._store.runs.joined_to(run.id)
        if not joined:
            return ()
        heir = next((one for one in joined if one.kind not in WAITS), None)
        for one in joined:
            keeps = heir is not None and one is not heir
            still = awaited(self._store, one) if heir is None else None
            waits_for = heir if heir and keeps else still
            self._store.runs.rejoin(one.id, waits_for.id if waits_for else None)
        freed = [heir] if heir else joined
        now = [self._store.runs.get(one.id) for one in freed]
        return [one for one in now if one and one.state == "waiting"]


def stop_by_button(
    stopping: Stopping, run: Run, place: Place, books: Books, name: str
) -> Sequence[Run]:
    """Stop one run; one that has ended is told to who pressed alone."""
    if run.ended:
        books.say(place, name, [words.line(words.ENDED)], alone=True)
        return ()
    return stopping.stop([run], place)
