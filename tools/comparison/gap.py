"""How much of a measured gap the differences explain, and what is left without a reason."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from tools.comparison.difference import MEASURED, Difference
from tools.comparison.gain import NOTHING, added, minus, turned
from tools.comparison.modelled import SOURCE
from tools.physics.interval import Interval

Of = Literal["decode", "prefill"]
# What these cost falls on prompts that were read before, and the rate is of cold ones.
_OF_WARM_PROMPTS = frozenset({"prefix_cache_off", "hybrid_prefix_checkpoint"})

# What these cost falls on other loads than steady decode at a size that both measured.
_OF_ANOTHER_LOAD = frozenset(
    {"cuda_graph_bs_exceeded", "cuda_graph_dp_global_limit", "chunked_prefill_stalls"}
)
# What these cost is in the accept length already, which is measured.
_OF_ACCEPTANCE = frozenset({"acceptance_drop", "draft_head_broken", "sampling_lowers_acceptance"})


@dataclass(frozen=True)
class Gap:
    """What was measured, as gains of the second side over the first: `whole` = `parts` + `left`.

    `apart` says that the two differ by more than their own spread. `running` are the requests at
    which decode was measured.
    """

    of: Of
    whole: Interval
    parts: tuple[tuple[Difference, Interval], ...]
    left: Interval
    apart: bool
    running: int | None = None

    @property
    def second_is_faster(self) -> bool:
        """Say whether the second side is the faster one."""
        return self.whole.mid > 0

    def points(self, gain: Interval) -> Interval:
        """Return a gain as percent points of the gap, seen from the faster side.

        Gains add up and percents do not: the points of all parts make the percents of the whole.
        """
        ahead = gain if self.second_is_faster else turned(gain)
        whole = abs(self.whole.mid)
        scale = math.expm1(whole) / whole if whole > 1e-9 else 1.0
        return Interval(*(part * scale * 100 for part in ahead))

    def turned(self) -> Gap:
        """Return it with the sides changed."""
        return replace(
            self,
            whole=turned(self.whole),
            parts=tuple((one.turned(), turned(gain)) for one, gain in self.parts),
            left=turned(self.left),
        )


def gap(
    of: Of,
    whole: Interval,
    found: Sequence[Difference],
    *,
    apart: bool,
    running: int | None = None,
    step: Interval | None = None,
) -> Gap:
    """Split a gap into what the differences explain; the largest part first.

    `step` is the gain by the steps alone, which are known better than rates: accept lengths come
    and go with the prompts.
    """
    parts = [(one, gain) for one in found if (gain := _part(one, of)) is not None and any(gain)]
    parts.sort(key=lambda part: (-abs(part[1].mid), part[0].what))
    exact = [gain for one, gain in parts if one.source == MEASURED]
    guessed = [gain for one, gain in parts if one.source != MEASURED]
    rest = step if exact and step is not None else minus(whole, added(exact) if exact else NOTHING)
    return Gap(of, whole, tuple(parts), minus(rest, added(guessed)), apart, running)


def _part(one: Difference, of: Of) -> Interval | None:
    """Return what a difference adds to a gap; None where it says nothing of it."""
    if one.open_yet:
        return None
    gain = one.gain and (one.gain.decode if of == "decode" else one.gain.prefill)
    if not gain:
        return None
    if one.source in (SOURCE, MEASURED):
        return gain
    if of == "prefill":
        return None if one.cause in _OF_WARM_PROMPTS else gain
    if one.cause in _OF_ACCEPTANCE | _OF_ANOTHER_LOAD or (one.slows and "decode" not in one.slows):
        return None
    return gain
