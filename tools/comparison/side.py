"""One of the two that are compared: what it is called, all that is known of it, and its verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from tools.engine import Arguments, ServerLog
from tools.evidence import Evidence
from tools.known import Known
from tools.physics.seen import Seen
from tools.rule import Shown
from tools.verdict import Verdict


@dataclass(frozen=True)
class Side:
    """A host, a case or a set of files, looked at and judged."""

    name: str
    evidence: tuple[Evidence, ...]
    verdict: Verdict

    @cached_property
    def known(self) -> Known:
        """Return the facts of all looks, merged by type."""
        return Known(self.evidence)

    @cached_property
    def seen(self) -> Seen:
        """Return what bears on a decode step."""
        return Seen.of(self.known.get)

    @property
    def arguments(self) -> Arguments:
        """Return the server's arguments, however they are told."""
        return self.seen.arguments

    @property
    def log(self) -> ServerLog | None:
        """Return the serve log, where one was read."""
        return self.known.get(ServerLog)

    @property
    def model(self) -> str:
        """Return the name of the model, empty where nothing tells it."""
        path = self.arguments.value("model_path")
        return path.rstrip("/").rsplit("/", 1)[-1] if isinstance(path, str) else ""

    def looks(self, shown: Sequence[Shown]) -> tuple[str, ...]:
        """Return the ids of the looks that show some facts."""
        return self.known.cited(shown)
