"""Whether a figure of a sentence is one of ours: the value, the unit, what it is said of, the sense."""

from __future__ import annotations

from collections.abc import Mapping

from bot.agent.checking.figures import Figure
from bot.agent.checking.ground import Ground
from bot.agent.checking.stems import stem

_RATES = frozenset({"tok/s", "%", "ms", "s"})


def same(said: Figure, ours: Figure, ground: Ground) -> bool:
    """Say whether a figure is the one of ours: value, unit, what it is said of, and in which sense."""
    if not said.says(ours) or said.role != ours.role or said.denied != ours.denied:
        return False
    if said.end != ours.end or not said.mated(ours):
        return False
    if (
        len(said.words) > 1
        and len(ours.words) > 1
        and 2 * len(said.words & ours.words) < len(said.words)
    ):
        return False
    if said.of and not said.of & (ours.of or ground.stems):
        return False
    return _unit(said, ours, ground) and same_subject(said, ours)


def _unit(said: Figure, ours: Figure, ground: Ground) -> bool:
    if said.unit:
        return said.unit == ours.unit
    if said.noun:
        counted = {stem(ours.noun.lstrip("#"))} if ours.noun else ground.stems
        return stem(said.noun.lstrip("#")) in counted and not ours.unit
    if ours.unit.startswith("#"):
        return False
    if not said.words:  # nothing but the figure: then it stands alone in our line as well
        return said.mate is not None or not ours.words
    return 2 * len(said.words & ground.stems) >= len(said.words)


def same_subject(said: Figure, ours: Figure) -> bool:
    """Say whether both are said of the same phase, state, part and card, and go the same way."""
    mine, other = dict(said.about), dict(ours.about)
    differs = (
        said.unit in _RATES and _lacks("phase", mine, other),
        bool(said.unit) and _lacks("state", mine, other),
        said.unit == "mhz" and _lacks("clock", mine, other),
        said.unit == "ms" and "part" in other and _lacks("part", mine, other),
        said.unit in ("%", "x") and said.way not in ("", ours.way),
        said.statistic not in ("", ours.statistic),
        said.unit != "#gpu" and not said.gpus <= ours.gpus,
    )
    return not any(differs)


def _lacks(group: str, mine: Mapping[str, str], other: Mapping[str, str]) -> bool:
    return group in mine and mine[group] != other.get(group)


def in_line(said: Figure, line: str, ground: Ground) -> bool:
    """Say whether a raw line holds a figure, with its unit or together with what is counted."""
    if said.denied or said.statistic or said.end or said.role != "is":
        return False
    for one in ground.figures:
        if said.says(one) and same_subject(said, one) and _measures(said, one, line, ground):
            return True
    return False


def _measures(said: Figure, one: Figure, line: str, ground: Ground) -> bool:
    if said.unit:
        rate = said.unit == "tok/s" and not one.unit and "token/s" in line
        of_it = rate or bool(said.words & ground.stems)
        return of_it and (rate or said.unit == one.unit)
    named = f"#{said.noun.lstrip('#').lower()}"[:5]  # "#running-req: 3" is the log's own count
    return bool(said.noun) and not one.unit and named in line.lower()
