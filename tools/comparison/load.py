"""What the load itself brings: the accept length of the prompts, which makes the rate as the step does."""

from __future__ import annotations

from tools.comparison.decode import Decode
from tools.comparison.difference import MEASURED, Difference
from tools.comparison.gain import NOTHING, Gain
from tools.comparison.rate import Rate
from tools.comparison.speed import ACCEPT_FLOOR
from tools.physics.interval import Interval

NO_DRAFTS = "no drafts"


def accepted(one: Decode, other: Decode) -> Difference | None:
    """Return the accept length: rate = requests x accept length / step, so its share is exact."""
    if one.accept_len is None and other.accept_len is None:
        return None
    plain = Rate(
        "accept length", "", one.accept_len or Interval.exactly(1.0),
        other.accept_len or Interval.exactly(1.0), ACCEPT_FLOOR,
    )  # fmt: skip
    gain = plain.gain
    if gain is None or not plain.apart:
        return None
    told = [f"{part.accept_len.mid:.2f}" if part.accept_len else NO_DRAFTS for part in (one, other)]
    return Difference(
        "accept length", told[0], told[1], "workload",
        gain=Gain(gain, NOTHING), source=MEASURED, weight=8,
    )  # fmt: skip
