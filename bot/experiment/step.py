"""One step of an experiment as it is told while it happens, and again after a restart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bot.experiment.books import Said
from bot.experiment.record import OVER, Phase

TITLES: dict[Phase, str] = {
    "approved": "Taking the host",
    "arming": "Comparing the host with what was approved",
    "before": "Measuring the server as it is",
    "draining": "Waiting until no request runs",
    "stopping": "Stopping the server",
    "starting": "Starting it with the change",
    "verifying": "Looking whether the change took effect",
    "after": "Measuring with the change",
    "keeping": "Keeping the change",
    "restoring": "Taking it back: starting the old server",
    "withdrawing": "Leaving the host as it is",
    "kept": "Kept",
    "restored": "Taken back",
    "withdrawn": "Nothing was changed",
    "needs_person": "A person is needed",
}


@dataclass(frozen=True)
class Step:
    """`key` names the phase it belongs to; `said` is what came of it, once it is over."""

    key: str
    title: str
    status: Literal["in_progress", "complete", "error"]
    said: str = ""
    took_s: float | None = None


def begun(phase: Phase, more: str = "") -> Step:
    """Return a step that begins, or goes on: "Measuring the server as it is: run 2 of 5"."""
    return Step(phase, f"{TITLES[phase]}{f': {more}' if more else ''}", "in_progress")


def done(said: Said) -> Step:
    """Return a step that is over, as it was written down."""
    phase: Phase = said.phase  # type: ignore[assignment]  # written by `save` from a Phase
    ill = said.ill or phase == "needs_person"
    return Step(phase, TITLES.get(phase, said.phase), "error" if ill else "complete", said.text,
                said.took_s)  # fmt: skip


def is_end(phase: Phase) -> bool:
    """Say whether nothing follows."""
    return phase in OVER
