"""What happened: every call with its answer, every event with its tries and when it was acked."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Call:
    """A method that was called; `answer` is None while it runs and when the caller never got one."""

    method: str
    args: dict[str, Any]
    at: float = field(default_factory=time.monotonic)
    answer: dict[str, Any] | None = None
    status: int = 0
    took_ms: float = 0.0

    @property
    def ok(self) -> bool:
        """Did it do what was asked, and say so?"""
        return bool(self.answer and self.answer.get("ok"))

    @property
    def error(self) -> str:
        """Slack's word for why not."""
        return str((self.answer or {}).get("error", ""))


@dataclass
class Try:
    """One time that an event was sent: over which socket (0: HTTP), and how long the ack took."""

    attempt: int
    socket: int
    at: float = field(default_factory=time.monotonic)
    acked_after_ms: float | None = None
    failed: str = ""


@dataclass
class Delivery:
    """Something told to the app: an event, an interaction or a command, until it is acked or given up."""

    kind: str  # events_api, interactive, slash_commands
    payload: dict[str, Any]
    key: str
    at: float = field(default_factory=time.monotonic)
    tries: list[Try] = field(default_factory=list)
    done: bool = False
    acked: bool = False
    answer: dict[str, Any] | None = None

    @property
    def event(self) -> dict[str, Any]:
        """The inner event; empty for interactions and commands."""
        return dict(self.payload.get("event") or {})

    @property
    def ack_ms(self) -> float | None:
        """From when it was first sent to its ack; None while there is none."""
        acked = [t for t in self.tries if t.acked_after_ms is not None]
        if not acked:
            return None
        return (acked[0].at - self.tries[0].at) * 1000 + (acked[0].acked_after_ms or 0.0)


class Record:
    """All of it, oldest first."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.deliveries: list[Delivery] = []

    def of(self, method: str) -> list[Call]:
        """The calls of one method."""
        return [c for c in self.calls if c.method == method]

    def events(self, kind: str) -> list[Delivery]:
        """The events of one type, as app_mention."""
        return [d for d in self.deliveries if d.event.get("type") == kind]

    def ack_ms(self) -> list[float]:
        """How long each ack took, sorted."""
        return sorted(ms for d in self.deliveries if (ms := d.ack_ms) is not None)
