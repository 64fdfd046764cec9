"""What each button does; who presses has been authorised, and each press counts once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.desk import words
from bot.desk.books import Books, Place
from bot.desk.intake import Asked, Intake
from bot.desk.stopping import Stopping, stop_by_button
from bot.desk.thread import Thread
from bot.desk.trying import Found, Trying
from bot.letter import Button
from bot.proposal import Wanted
from bot.store import Run, Store
from bot.work import told
from bot.work.looks import case_of

_WHY = "why?"


class Presses:
    """Carries presses out, inside the transaction of the desk; returns what is to be enqueued."""

    def __init__(
        self, store: Store, books: Books, intake: Intake, stopping: Stopping, trying: Trying
    ) -> None:
        self._store = store
        self._books, self._intake, self._stopping = books, intake, stopping
        self._trying = trying

    def press(
        self,
        button: Button,
        run: Run,
        place: Place,
        name: str,
        *,
        right: bool | None,
        reason: str,
        tried: Found = (),
    ) -> Sequence[Run]:
        """Do what the button says. `name` is unique for the press; `tried` is what would be proposed."""
        match button:
            case "stop":
                return stop_by_button(self._stopping, run, place, self._books, name)
            case "check_again":
                asked = Asked(place, name, run.text, run.message, run.port)
                return self._again(asked, run, run.host)
            case "ask_why":
                asked = Asked(place, f"run:{run.id}:why", _WHY, "", run.port, run.id)
                return self._intake.followup(asked, run.host, None)
            case "show_evidence":
                self._evidence(run, place, name)
            case "propose":
                return self._propose(run, place, name, tried)
            case "right":
                if right is not None:
                    self._store.opinions.add(run.id, place.user, right, reason)
                    self._books.say(place, name, [words.line(words.KEPT)], alone=True)
        return ()

    def again(self, asked: Asked, thread: Thread, host: str) -> Sequence[Run]:
        """Look at the host of a thread again, for the question that was asked of it."""
        earlier = thread.asked_of(host)
        if earlier:
            asked = replace(asked, text=earlier.text, port=asked.port or earlier.port)
        return self._again(asked, earlier, host)

    def _again(self, asked: Asked, earlier: Run | None, host: str | None) -> Sequence[Run]:
        if host is None:
            self._books.say(asked.place, asked.key, [words.line(words.OF_FILES)])
            return ()
        going = self._store.runs.open_on(host)
        if going and (going.channel, going.thread) == (asked.place.channel, asked.place.thread):
            self._books.say(asked.place, asked.key, [words.line(words.RUNNING)], alone=True)
            return ()
        return self._intake.hosts(replace(asked, about=earlier.id if earlier else None), [host])

    def _propose(self, run: Run, place: Place, name: str, tried: Found) -> Sequence[Run]:
        """Have a change proposed; where no restart mends it, say what does, once."""
        if isinstance(tried, Wanted):
            asked = Asked(place, name, run.text, "", run.port, run.id)
            return self._trying.of_button(asked, run, tried)
        self._books.say(place, f"run:{run.id}:propose", tried, run=run.id)
        return ()

    def _evidence(self, run: Run, place: Place, name: str) -> None:
        """Put the raw answers into the thread, once; who asks again is told so."""
        if case_of(self._store, run) is None:
            self._books.say(place, name, [words.line(words.NO_EVIDENCE)], alone=True)
            return
        letter = told.file_letter(run, told.evidence_of(run), f"run:{run.id}:evidence")
        letter = letter.model_copy(update={"channel": place.channel, "thread": place.thread})
        if not self._store.letters.add(letter):
            self._books.say(place, name, [words.line(words.THERE_ALREADY)], alone=True)
