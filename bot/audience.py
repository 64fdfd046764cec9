"""Who watches work being done: told of each step at once, and never able to hold it up."""

from __future__ import annotations

from typing import Protocol

from bot.experiment.step import Step
from bot.investigate import Event
from bot.store.run import Run

Happening = Event | Step


class Audience(Protocol):
    """Told from worker threads; every call returns at once."""

    def began(self, run: Run, looks: int) -> None:
        """A run begins, or goes on after a restart with `looks`, or steps, already taken."""

    def tell(self, run: Run, event: Happening) -> None:
        """Something happened in it."""

    def ended(self, run: Run) -> None:
        """It is over; its letters are in the store."""

    def letters(self) -> None:
        """There are letters to deliver."""


class Nobody:
    """Nobody watches."""

    def began(self, run: Run, looks: int) -> None:
        """Do nothing."""

    def tell(self, run: Run, event: Happening) -> None:
        """Do nothing."""

    def ended(self, run: Run) -> None:
        """Do nothing."""

    def letters(self) -> None:
        """Do nothing."""
