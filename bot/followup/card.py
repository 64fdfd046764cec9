"""The figures of one GPU that are worth a row: at rest, at work, and when two cards differ in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from tools.nvidia.gpus import GpuSample

Value = float | str
Samples = Sequence[GpuSample]


@dataclass(frozen=True)
class Row:
    """One figure. `apart` is from which difference on two cards differ: a share, or units if `absolute`."""

    name: str
    read: Callable[[GpuSample], Value | None]
    at_work: bool | None = None  # of samples at work, at rest, or all
    unit: str = ""
    apart: float = 0.0
    absolute: bool = False
    latest: bool = False  # a state or a counter: the last that is told

    def value(self, samples: Samples) -> Value | None:
        """Return the figure of one card: the usual one, or the last."""
        told = [value for one in self._of(samples) if (value := self.read(one)) is not None]
        if not told:
            return None
        if self.latest:
            return told[-1]
        numbers = [value for value in told if isinstance(value, int | float)]
        return median(numbers) if len(numbers) == len(told) else Counter(told).most_common(1)[0][0]

    def cell(self, groups: Sequence[Samples]) -> str:
        """Write the figure of one card, or from where to where it goes over several."""
        values = [value for group in groups if (value := self.value(group)) is not None]
        if not values:
            return ""
        numbers = [value for value in values if isinstance(value, int | float)]
        if len(numbers) < len(values):
            return ", ".join(dict.fromkeys(str(value) for value in values))
        low, high = min(numbers), max(numbers)
        span = (
            _figure(low) if _figure(low) == _figure(high) else f"{_figure(low)} to {_figure(high)}"
        )
        return f"{span} {self.unit}".strip()

    def differs(self, one: Value, other: Value) -> bool:
        """Say whether two cards are apart in it by more than chance makes them."""
        if isinstance(one, str) or isinstance(other, str):
            return one != other
        allowed = self.apart if self.absolute else self.apart * max(abs(one), abs(other))
        return abs(one - other) > allowed

    def _of(self, samples: Samples) -> Samples:
        if self.at_work is None:
            return samples
        return [one for one in samples if bool(one.busy) == self.at_work]


def _figure(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 10 else f"{value:g}"


def _link(one: GpuSample) -> str | None:
    if not one.link_gen or not one.link_width:
        return None
    of = (
        f" of Gen{one.gen_possible}" if one.gen_possible and one.gen_possible > one.link_gen else ""
    )
    return f"Gen{one.link_gen} x{one.link_width}{of}"


def _reasons(one: GpuSample) -> str | None:
    return None if one.reasons is None else ", ".join(sorted(one.reasons)) or "none"


def _ecc(one: GpuSample) -> str | None:
    told = (one.ecc_corrected, one.ecc_uncorrected)
    return None if told == (None, None) else f"{told[0] or 0} corrected, {told[1] or 0} not"


ROWS: tuple[Row, ...] = (
    Row("link under load", _link, at_work=True),
    Row("link at rest", _link, at_work=False),
    Row("utilisation at work", lambda one: one.util_pct, at_work=True, unit="%", apart=10, absolute=True),
    Row("SM clock at work", lambda one: one.sm_mhz, at_work=True, unit="MHz", apart=0.05),
    Row("memory clock at work", lambda one: one.mem_mhz, at_work=True, unit="MHz", apart=0.02),
    Row("power at work", lambda one: one.power_w, at_work=True, unit="W", apart=0.12),
    Row("power limit", lambda one: one.power_limit_w, unit="W", latest=True, apart=0.01),
    Row("temperature at work", lambda one: one.temp_c, at_work=True, unit="C", apart=8, absolute=True),
    Row("held back by", _reasons, at_work=True),
    Row("memory used", lambda one: one.mem_used_mib, unit="MiB", latest=True, apart=0.1),
    Row("memory in all", lambda one: one.mem_total_mib, unit="MiB", latest=True, apart=0.01),
    Row("ECC errors", _ecc, latest=True),
    Row("PCIe replays", lambda one: one.replays, latest=True, apart=10, absolute=True),
)  # fmt: skip
