"""What a killed replica was at, as the database shows it, and how long that lay until somebody went on with it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable
from typing import Literal, LiteralString, NamedTuple, get_args

import psycopg

Kind = Literal["run", "letter", "host", "event", "unqueued"]
# What no table says is anybody's, and a death may have left: an event that was acknowledged, and a
# run that was accepted and is in no queue. Once it is in one, it waits for its turn like others.
_NOBODYS = """
SELECT 'event', id, '' FROM inbox WHERE handled_at IS NULL
UNION ALL SELECT 'unqueued', r.id::text, '' FROM runs r
WHERE r.state IN ('waiting', 'running') AND NOT EXISTS (
  SELECT FROM dbos.workflow_status w WHERE w.workflow_uuid LIKE 'run-' || r.id || '-%'
  AND w.status IN ('ENQUEUED', 'DELAYED', 'PENDING'))
"""
# A mark changes when somebody takes the piece up: a run that is begun (again), another try of a letter,
# another look at a host. That a dead replica's claim was cancelled alone changes none.
_LIES = f"""
SELECT 'run', id::text, state || restarts FROM runs WHERE state IN ('waiting', 'running')
UNION ALL SELECT 'letter', key, tries::text FROM letters WHERE status = 'sending'
UNION ALL SELECT 'host', run || ' ' || host, takes::text FROM sweep_hosts WHERE state = 'looking'
UNION ALL {_NOBODYS}
"""
_HELD = """
SELECT w.executor_id, 'run', r.id::text, r.state || r.restarts FROM runs r JOIN dbos.workflow_status w
ON w.workflow_uuid LIKE 'run-' || r.id || '-%' AND w.status = 'PENDING'
WHERE r.state IN ('waiting', 'running')
UNION ALL SELECT executor, 'letter', key, tries::text FROM letters WHERE status = 'sending'
UNION ALL SELECT executor, 'host', run || ' ' || host, takes::text FROM sweep_hosts WHERE state = 'looking'
"""


class Piece(NamedTuple):
    kind: Kind
    name: str
    mark: str


class Taken(NamedTuple):
    """A piece that somebody went on with, so long after the last death of who was at it.

    `by_another`: surely, for who died was no process yet again.
    """

    piece: Piece
    after_s: float
    by_another: bool


class LeftBehind:
    """Asks the database at `url`; times are of the monotonic clock."""

    def __init__(self, url: str) -> None:
        self._database = psycopg.connect(url, autocommit=True)
        self.lying: dict[Piece, tuple[str, float]] = {}  # whose it was, and since when
        self.taken: list[Taken] = []

    def held(self) -> dict[str, set[Piece]]:
        """Return at what each replica is, or was when it died."""
        found: dict[str, set[Piece]] = defaultdict(set)
        for name, *piece in self._database.execute(_HELD):
            found[name].add(Piece(*piece))
        return found

    def died(self, name: str, now: float) -> set[Piece]:
        """Note all that a replica left that was killed just now; return what of it was its own."""
        left = self.held()[name]
        for piece in left | self._asked(_NOBODYS):
            self.lying[piece] = (name, now)
        return left

    def look(self, now: float, dead: Container[str]) -> None:
        """Note what was taken up since the last look; `dead` are no processes now."""
        if not self.lying:
            return
        for piece in self.lying.keys() - self._asked(_LIES):
            whose, since = self.lying.pop(piece)
            self.taken.append(Taken(piece, now - since, whose in dead))

    def longest(self) -> Taken:
        """Return what lay longest."""
        return max(self.taken, key=lambda one: one.after_s)

    def told(self) -> str:
        """Say of each kind how many there were, and how long they lay."""
        said = []
        for kind in get_args(Kind):
            if of_it := [one for one in self.taken if one.piece.kind == kind]:
                others = sum(one.by_another for one in of_it)
                longest_s = max(one.after_s for one in of_it)
                said.append(
                    f"{len(of_it)} of a {kind} ({others} by another), within {longest_s:.1f} s"
                )
        return ", ".join(said)

    def close(self) -> None:
        self._database.close()

    def _asked(self, query: LiteralString) -> set[Piece]:
        return {Piece(*row) for row in self._database.execute(query)}


def kinds_of(pieces: Iterable[Piece]) -> set[str]:
    return {piece.kind for piece in pieces}
