"""What the desk writes down: runs, letters and the audit of who wanted what; each thing once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.letter import Button, Letter
from bot.narrator import Part
from bot.store import Run, Store


@dataclass(frozen=True)
class Place:
    """Who wants something, and where it is answered."""

    user: str
    channel: str
    thread: str


class Books:
    """Writes inside the transaction of the desk."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def first(self, name: str) -> bool:
        """Say whether this is handled for the first time; a second time changes nothing."""
        key = f"heard:{name}"
        if not self._store.inbox.receive(key, "heard", {}):
            return False
        self._store.inbox.handled(key)
        return True

    def say(
        self,
        place: Place,
        name: str,
        parts: Sequence[Part],
        *,
        alone: bool = False,
        run: int | None = None,
    ) -> None:
        """Answer with a word; `alone` shows it to the one who asked and to nobody else."""
        letter = Letter(
            key=f"say:{name}"[:200],
            kind="word",
            channel=place.channel,
            thread=place.thread,
            only_for=place.user if alone else None,
            run=run,
            parts=tuple(parts),
        )
        self._store.letters.add(letter)

    def open_trail(self, run: Run, parts: Sequence[Part]) -> None:
        """Add the first visible reply of a run, which then grows while it is carried out."""
        self._store.letters.add(self._first(run, "trail", parts, ("stop",), run.id))

    def tell_joined(self, run: Run, parts: Sequence[Part]) -> None:
        """Say what a run waits for; its looks are told in the trail of the other one."""
        self._store.letters.add(self._first(run, "word", parts, (), run.joins))

    def note(
        self, place: Place, act: str, what: str, outcome: str, host: str | None = None
    ) -> None:
        """Add to the audit."""
        self._store.audit.note(place.user, place.channel, act, what, outcome, host)

    @staticmethod
    def _first(
        run: Run, kind: str, parts: Sequence[Part], buttons: tuple[Button, ...], of: int | None
    ) -> Letter:
        return Letter(
            key=f"run:{run.id}:trail",
            kind="trail" if kind == "trail" else "word",
            channel=run.channel,
            thread=run.thread,
            run=of,
            parts=tuple(parts),
            buttons=buttons,
        )
