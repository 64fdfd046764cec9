"""What a machine holds while it follows source: the tree, the trail, the calls, the doubts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tools.provenance.journal import Journal
from tools.provenance.outside import Outside
from tools.provenance.raising import told
from tools.provenance.scope import Frame
from tools.provenance.trail import Trail
from tools.provenance.tree import Tree
from tools.provenance.values import Function, Instance, Place, Raised, Record, Value

if TYPE_CHECKING:
    from tools.provenance.imports import Imports
    from tools.provenance.types import Types


TURNS = 200_000  # of all loops of one following; 0.5.23 takes some 60 000


class Core:
    """The state of one following; the classes that extend it say what is done with it."""

    journal: Journal
    imports: Imports
    types: Types

    def __init__(self, tree: Tree, outside: Outside) -> None:
        self.tree = tree
        self.outside = outside
        self.trail = Trail()
        self.stack: list[Frame] = []
        self.doubt: list[tuple[str, ...]] = []
        self.calls = 0
        self.turns = 0
        self.forks = 0  # undecided branches that are open inside each other
        self.shown: dict[tuple[int, str], tuple[Instance, ...]] = {}  # fields() of records
        self.passed: set[str] = set()  # fields that the command line names
        self.troubles: list[tuple[Place, str]] = []
        self.outlived: frozenset[Place] = frozenset()  # raises that surely did not happen

    @property
    def events(self) -> list[Any]:
        """The writes that were seen, in order."""
        return self.journal.events

    def goes_on(self) -> bool:
        """Count one more turn of a loop; False when there have been too many of all loops together."""
        self.turns += 1
        return self.turns <= TURNS

    def call(self, function: Value, args: list[Value], keywords: Record) -> Value:
        """Return function(*args, **keywords)."""
        raise NotImplementedError

    def attribute(self, owner: Value, name: str) -> Value:
        """Return owner.name."""
        raise NotImplementedError

    def frame_of(self, function: Function, names: dict[str, Value]) -> Frame:
        """Return the scope of a call."""
        raise NotImplementedError

    def nothing(self) -> Record:
        """Return no keyword arguments."""
        return Record()

    def place(self, frame: Frame, line: int) -> Place:
        """Return a line of the function that a scope belongs to."""
        return Place(frame.module.path, line, frame.function.qualname if frame.function else "")

    def trouble(self, frame: Frame, error: Raised) -> None:
        """Remember an exception that ended something that was being followed."""
        self.troubles.append((self.place(frame, frame.line), told(error.value)))
