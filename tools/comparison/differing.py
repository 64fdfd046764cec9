"""All in which two sides differ: what is set, built or seen, what the load holds, and what ails one alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tools.comparison.decode import Decode
from tools.comparison.difference import Difference
from tools.comparison.finding import Lone, alone
from tools.comparison.gain import Gain
from tools.comparison.hardware import hardware
from tools.comparison.launch import launch
from tools.comparison.load import accepted
from tools.comparison.machine import machine
from tools.comparison.modelled import SOURCE, Modelled
from tools.comparison.side import Side
from tools.comparison.trait import Term, Trait

_CONTEXT = 1.5  # times as many tokens of a request, from which on the prompts are others
# Terms that rules know better than the step model: one calibration point, 40 to 85 % seen.
_BY_THE_RULE: frozenset[Term] = frozenset({"graph"})


def traits_of(side: Side) -> dict[str, Trait]:
    """Return all that can be compared of one side, by name."""
    get = side.known.get
    found = (*hardware(get), *machine(get), *launch(get))
    return {one.name: one for one in found}


class Differing:
    """Works out what differs between two sides; each finding and each term of the model counts once."""

    def __init__(
        self, here: Side, there: Side, modelled: Modelled, pair: tuple[Decode, Decode] | None
    ) -> None:
        self._here, self._there = here, there
        self._modelled, self._pair = modelled, pair
        self._findings = [*alone(here, there, 0), *alone(there, here, 1)]
        self._terms: set[Term] = set()
        self.same: list[Trait] = []

    def found(self) -> tuple[Difference, ...]:
        """Return what differs, in no order that means anything; `same` holds what does not."""
        mine, theirs = traits_of(self._here), traits_of(self._there)
        names = sorted(
            {*mine, *theirs}, key=lambda name: (-(mine.get(name) or theirs[name]).weight, name)
        )
        apart: list[tuple[Trait, Trait | None, Trait | None]] = []
        for name in names:
            one, other = mine.get(name), theirs.get(name)
            if one and other:
                if one.alike(other):
                    self.same.append(one)
                else:
                    apart.append((max(one, other, key=lambda trait: trait.weight), one, other))
            elif (
                (lone := one or other)
                and lone.absent
                and self._was_read(lone, other=one is not None)
            ):
                apart.append((lone, one, other))
        told = [self._of(*three) for three in apart]
        return (*self._measured(), *told, *(one.difference() for one in self._findings))

    def _was_read(self, lone: Trait, *, other: bool) -> bool:
        """Say whether the side that lacks something was read where it would stand."""
        side = self._there if other else self._here
        kinds = {type(part) for part in lone.shown_by}
        if lone.words and lone.words[0].isupper():
            return any(type(look.facts) in kinds for look in side.evidence)
        return side.arguments.seen

    def _of(self, trait: Trait, one: Trait | None, other: Trait | None) -> Difference:
        plain = Difference(
            what=trait.name,
            here=one.shown if one else trait.absent,
            there=other.shown if other else trait.absent,
            group=trait.group,
            weight=trait.weight,
            looks=(
                self._here.looks(one.shown_by) if one else (),
                self._there.looks(other.shown_by) if other else (),
            ),
        )
        about = self._about(trait)
        if about is not None:
            plain = about.beside(plain)
        gain = self._gain(trait)
        by_rule = trait.term in _BY_THE_RULE and plain.gain is not None
        return plain if gain is None or by_rule else replace(plain, gain=gain, source=SOURCE)

    def _about(self, trait: Trait) -> Lone | None:
        found = next((one for one in self._findings if one.is_about(trait)), None)
        if found is not None:
            self._findings.remove(found)
        return found

    def _gain(self, trait: Trait) -> Gain | None:
        if trait.term is None or trait.term in self._terms:
            return None
        self._terms.add(trait.term)
        return self._modelled.gain(trait.term)

    def _measured(self) -> Iterator[Difference]:
        """Yield what the load itself has that differs: accept length, and tokens of a request."""
        if self._pair is None:
            return
        one, other = self._pair
        log = tuple(
            side.looks([side.log]) if side.log else () for side in (self._here, self._there)
        )
        if lengths := accepted(one, other):
            yield replace(lengths, looks=(log[0], log[1]))
        if one.context and other.context:
            larger = max(one.context, other.context) / min(one.context, other.context)
            if larger >= _CONTEXT:
                yield Difference(
                    "tokens of a request", f"{one.context:,.0f}", f"{other.context:,.0f}", "workload",
                    gain=self._modelled.gain("context"), source=SOURCE, weight=4, looks=(log[0], log[1]),
                )  # fmt: skip
