"""The comparison of two sides: what was measured, what differs by its cost, what that explains, what to measure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from tools.comparison.decode import Decode, decodes
from tools.comparison.difference import Difference
from tools.comparison.differing import Differing
from tools.comparison.gap import Gap, gap
from tools.comparison.modelled import Modelled
from tools.comparison.rate import Rate
from tools.comparison.side import Side
from tools.comparison.speed import DECODE_FLOOR, common, speeds
from tools.comparison.unseen import load_test, unlike_loads, unseen
from tools.judgement import Confirmed
from tools.rule import Aspect

_BESIDE = 1e-3  # what costs something else than was asked comes after all that costs that
_LEFT = 0.03  # of a rate: what is left without a reason and is more than that deserves a test
_OF_DECODE: frozenset[Aspect] = frozenset({"decode", "throughput", "tail"})
_OF_PREFILL: frozenset[Aspect] = frozenset({"prefill", "ttft"})


@dataclass(frozen=True)
class Comparison:
    """Two sides, `here` the first that was named.

    `differences` are ranked by what they cost, those without a figure last. `decode` and `prefill`
    are None where they were not measured on both sides at the same load; `why` says so of decode.
    `unseen` are what each side lacks that the other has. `next_test` is a command, or empty.
    """

    here: Side
    there: Side
    rates: tuple[Rate, ...]
    differences: tuple[Difference, ...]
    decode: Gap | None
    prefill: Gap | None
    same: tuple[str, ...]
    shared: tuple[Confirmed, ...]
    unseen: tuple[tuple[str, ...], tuple[str, ...]]
    why: str = ""
    next_test: str = ""

    @property
    def costly(self) -> tuple[Difference, ...]:
        """Return what costs one of the two alone: by a figure, or by what a rule says of it."""
        return tuple(
            one for one in self.differences if not one.open_yet and (one.costs or one.statement)
        )


def compare(here: Side, there: Side, aspects: Collection[Aspect] = ()) -> Comparison:
    """Set two sides side by side. `aspects` are what was asked about: they come first in the order."""
    measured = decodes(here.log), decodes(there.log)
    pairs = common(*measured)
    pair = pairs[0] if pairs else None
    modelled = Modelled(here, there, pair)
    work = Differing(here, there, modelled, pair)
    found = sorted(work.found(), key=lambda one: _rank(one, aspects))
    rates = tuple(speeds(here, there, pairs))
    decode, prefill = _of_decode(pair, found), _of_prefill(rates, found)
    wanted = decode is None or _unexplained(decode)
    return Comparison(
        here=here,
        there=there,
        rates=rates,
        differences=tuple(found),
        decode=decode,
        prefill=prefill,
        same=tuple(one.name for one in work.same),
        shared=_shared(here, there),
        unseen=unseen(here, there),
        why="" if pair else unlike_loads(here, there, *measured),
        next_test=load_test(here, there, *measured) if wanted else "",
    )


def _rank(one: Difference, aspects: Collection[Aspect]) -> tuple[float, bool, int, str]:
    return (-_cost(one, aspects), not one.decides, -one.weight, one.what)


def _cost(one: Difference, aspects: Collection[Aspect]) -> float:
    """Return what a difference costs of what was asked about; of everything where nothing was."""
    if one.gain is None or not one.costs:
        return 0.0
    asked = [
        gain
        for gain, of in ((one.gain.decode, _OF_DECODE), (one.gain.prefill, _OF_PREFILL))
        if gain and of & set(aspects)
    ]
    if aspects and asked:
        return max(abs(gain.mid) for gain in asked)
    return one.gain.most if not aspects else one.gain.most * _BESIDE


def _of_decode(pair: tuple[Decode, Decode] | None, found: list[Difference]) -> Gap | None:
    if pair is None:
        return None
    one, other = pair
    rate = Rate("", "", one.tok_s, other.tok_s, DECODE_FLOOR)
    step = Rate("", "", one.step_ms, other.step_ms, DECODE_FLOOR, time=True)
    if rate.gain is None:
        return None
    return gap("decode", rate.gain, found, apart=rate.apart, running=one.running, step=step.gain)


def _of_prefill(rates: tuple[Rate, ...], found: list[Difference]) -> Gap | None:
    rate = next((one for one in rates if one.name == "prefill, cold prompts"), None)
    if rate is None or rate.gain is None:
        return None
    return gap("prefill", rate.gain, found, apart=rate.apart)


def _unexplained(decode: Gap) -> bool:
    """Say whether a gap that is real has a rest that is, and that is worth a test."""
    left = decode.left
    return decode.apart and left.lo * left.hi > 0 and abs(left.mid) >= _LEFT


def _shared(here: Side, there: Side) -> tuple[Confirmed, ...]:
    """Return what ails both, as it is on the first side."""
    theirs = {one.rule.cause.id for one in there.verdict.findings}
    return tuple(
        one
        for one in here.verdict.findings
        if one.rule.cause.id in theirs and not one.benign and one.category != "at_ceiling"
    )
