"""Twins: hosts of the same GPUs, model and version; who falls behind them has something that they have not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bot.health.looked import Looked
from tools.vitals.figures import FIGURES, FigureName
from tools.vitals.normal import Normal

FEWEST = 2  # twins of one host: by a single other one nobody knows which of the two is odd
_MANY = 20  # from here on one among its twins hardly moves what is normal of them
_SPREADS = 3.0  # of the twins among themselves, by which one must lie apart
_OF_THE_MACHINE: tuple[FigureName, ...] = ("decode", "prefill", "clock", "link")  # not of its users
_Kind = tuple[str, ...]


@dataclass(frozen=True)
class Behind:
    """One figure of a host that is worse than its twins' by more than they differ. Percent of theirs."""

    figure: FigureName
    value: float
    theirs: float
    least: float  # from which on it would not be behind
    twins: int

    @property
    def pct(self) -> float:
        """Return by how much it is worse."""
        return abs(100 * (self.value / self.theirs - 1))

    @property
    def name(self) -> str:
        """Name it as what somebody may know of."""
        return f"behind its twins: {self.figure}"

    def told(self, host: str) -> str:
        """Say it in one sentence."""
        figure = FIGURES[self.figure]
        values = f"{figure.told(self.value)}, theirs {figure.told(self.theirs)}"
        if self.figure == "decode":
            return f"{host} decodes {self.pct:.0f} % slower than its {self.twins} twins: {values}."
        less = f"{self.pct:.0f} % below that of its {self.twins} twins"
        return f"On {host} the {figure.label} is {less}: {values}."


def behind(looks: Sequence[Looked]) -> dict[str, tuple[Behind, ...]]:
    """Return of each host that falls behind its twins in which figures, what costs most first."""
    kinds: dict[_Kind, list[Looked]] = defaultdict(list)
    for one in looks:
        if kind := _kind(one):
            kinds[kind].append(one)
    found: dict[str, list[Behind]] = defaultdict(list)
    for alike in kinds.values():
        for name in _OF_THE_MACHINE if len(alike) > FEWEST else ():
            for host, slow in _of(name, alike):
                found[host].append(slow)
    return {host: tuple(sorted(some, key=lambda one: -one.pct)) for host, some in found.items()}


def _kind(looked: Looked) -> _Kind:
    """Return what twins have in common; nothing where it is not known in full."""
    setting = looked.vitals.setting
    if not (setting.model and setting.version and setting.gpus):
        return ()
    return (setting.engine or "", setting.model, setting.version, *setting.gpus)


def _of(name: FigureName, alike: Sequence[Looked]) -> Iterator[tuple[str, Behind]]:
    """Yield who falls behind in one figure, among those that were read under the same load."""
    by_load: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for one in alike:
        if reading := one.vitals.figures.get(name):
            by_load[reading.load].append((one.host, reading.value))
    for readings in by_load.values():
        values = [value for _, value in readings]
        whole = Normal.of(values) if len(values) > _MANY else None
        for place, (host, value) in enumerate(readings):
            others = values[:place] + values[place + 1 :] if whole is None else values
            if len(others) < FEWEST or min(others) <= 0:
                continue
            theirs = whole or Normal.of(others)
            # less is worse for each of these figures
            apart = max(theirs.value * FIGURES[name].floor_pct / 100, _SPREADS * theirs.spread)
            if theirs.value - value > apart:
                least = theirs.value - apart
                yield host, Behind(name, value, theirs.value, least, len(values) - 1)
