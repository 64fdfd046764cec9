"""What changed between two looks at one host: the verdict, the rate, the links."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median_low
from typing import Protocol

from bot.narrator.line import Line
from bot.narrator.verdict import CATEGORIES
from bot.narrator.wording import lowered, spaced
from tools.evidence import Evidence
from tools.known import Known
from tools.nvidia.gpus import Gpus
from tools.nvidia.link_reading import link_readings
from tools.verdict import OPEN, Verdict

_SAME_PCT = 3.0  # rates nearer to each other than this are one rate, measured twice


class Judged(Protocol):
    """A verdict, and the looks that it stands on."""

    @property
    def verdict(self) -> Verdict:
        """Return the verdict."""

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """Return the looks."""


def changed(before: Judged, now: Judged, age_s: float) -> Iterator[Line]:
    """Say what is other than at the look before, `age_s` seconds ago; what is not, in one line."""
    yield Line("lead", f"Compared with the look {ago(age_s)}:")
    yield from _verdicts(before.verdict, now.verdict)
    told = [*_rates(before.verdict, now.verdict), *_links(before.evidence, now.evidence)]
    yield from (Line("item", text) for text in told)
    if not told and before.verdict.cause == now.verdict.cause:
        yield Line("item", "Nothing that I measured moved.")


def concluded(category: str | None, headline: str | None) -> str:
    """Say in one line how a look ended, for a list: "Hardware: the PCIe link runs at Gen1"."""
    if not headline:
        return "ended without a verdict"
    said = spaced(headline.removeprefix(OPEN).rstrip("."))
    name = CATEGORIES.get(category or "")
    return f"{name}: {said}" if name else said


def ago(age_s: float) -> str:
    """Say how long ago something was: "5 min ago"."""
    if age_s < 90:
        return f"{max(1, round(age_s))} s ago"
    if age_s < 90 * 60:
        return f"{age_s / 60:.0f} min ago"
    if age_s < 36 * 3600:
        return f"{age_s / 3600:.0f} h ago"
    return f"{age_s / 86400:.0f} days ago"


def _verdicts(before: Verdict, now: Verdict) -> Iterator[Line]:
    was, is_now = (_headline(one) for one in (before, now))
    if before.cause == now.cause and before.category == now.category:
        yield Line("item", f"The same verdict: {is_now}.")
    else:
        yield Line("item", f"It was: {was}. Now: {is_now}.")


def _headline(verdict: Verdict) -> str:
    return spaced(lowered(verdict.headline.removeprefix(OPEN).rstrip(".")))


def _rates(before: Verdict, now: Verdict) -> Iterator[str]:
    was, is_now = before.headroom, now.headroom
    if was and is_now and was.running == is_now.running:
        yield from _moved("Decode", was.measured_tok_s, is_now.measured_tok_s)
        yield from _moved("Cold prefill", was.prefill_tok_s, is_now.prefill_tok_s)


def _moved(name: str, was: float | None, is_now: float | None) -> Iterator[str]:
    if was and is_now and abs(is_now / was - 1) * 100 >= _SAME_PCT:
        yield f"{name}: {was:,.0f} → {is_now:,.0f} tok/s ({(is_now / was - 1) * 100:+.0f} %)."


def _links(before: tuple[Evidence, ...], now: tuple[Evidence, ...]) -> Iterator[str]:
    was, is_now = (_under_load(looks) for looks in (before, now))
    for gpu in sorted(was.keys() & is_now.keys()):
        if was[gpu] != is_now[gpu]:
            yield f"The link of GPU {gpu} under load: Gen{was[gpu]} → Gen{is_now[gpu]}."


def _under_load(looks: tuple[Evidence, ...]) -> dict[str, int]:
    """Return the generation of each GPU's link, as most samples at work have it."""
    gpus = Known(looks).get(Gpus)
    readings = link_readings(gpus, {}) if gpus else ()
    return {
        one.gpu: median_low(sample.link_gen or 0 for sample in one.busy)
        for one in readings
        if one.busy
    }
