"""One thing in which two sides differ, and what it gives to one of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tools.comparison.gain import Gain
from tools.comparison.trait import Group

MEASURED = "measured"  # the source of what needs no model
TRIFLE = 0.002  # of a rate: what is below it costs nothing


@dataclass(frozen=True)
class Difference:
    """One thing that differs. `gain` is what the second side has of it; None: no figure is known.

    `cause` and `statement` are of the finding about it that one of the two has, `ill` says which
    (0 the first, 1 the second), `decides` that the verdict on it names it. `source` says where the
    figure is from. `open_yet` says that the other side was not checked for it, so that it may ail both.
    """

    what: str
    here: str
    there: str
    group: Group
    gain: Gain | None = None
    source: str = ""
    cause: str = ""
    statement: str = ""
    ill: int | None = None
    decides: bool = False
    open_yet: bool = False
    slows: frozenset[str] = frozenset()
    weight: int = 1
    looks: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())

    @property
    def costs(self) -> bool:
        """Say whether it is known to cost one of the two anything."""
        return self.gain is not None and self.gain.most >= TRIFLE and not self.open_yet

    def turned(self) -> Difference:
        """Return it with the sides changed."""
        return replace(
            self,
            here=self.there,
            there=self.here,
            gain=self.gain.turned() if self.gain else None,
            ill=None if self.ill is None else 1 - self.ill,
            looks=(self.looks[1], self.looks[0]),
        )
