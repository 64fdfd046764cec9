"""What was measured against what this checkpoint can reach here, as milliseconds of a step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tools.errors import Undecided
from tools.physics.as_measured import as_measured
from tools.physics.deployment import Deployment
from tools.physics.effect import Cost, link_effect
from tools.physics.gains import Gain, gains
from tools.physics.interval import Interval
from tools.physics.prefill import CHUNK, RATE_ERROR, Prefill, prefill_rate
from tools.physics.seen import Get, Seen
from tools.physics.spread import half_width
from tools.physics.step import Step, decode_step
from tools.physics.under_load import prefill_tok_s
from tools.physics.whatif import Today

_TOO_FAST = 3.0  # half-widths below the prediction: then the prediction is of something else
MEMORY_TERMS = ("weights", "KV cache and state")  # of a waterfall: reading memory
SLOWER = " instead of "  # in the name of a term: what a link costs against a better one
UNEXPLAINED = "unexplained"  # the last term: the rest of what was measured
_NO_COST = Interval.exactly(0.0)


@dataclass(frozen=True)
class Headroom:
    """Decode as measured against the ceiling; `terms` add up to the measured step.

    Rates are of the whole server at `running` sequences. `expected_tok_s` is the measured step
    without what a slow link costs; `ceiling_tok_s` is the model with the link repaired and nothing
    unexplained, at the accept length of the prompts that were measured.
    """

    measured_tok_s: float
    running: int
    accept_len: float
    step_ms: float
    ceiling_tok_s: Interval
    ceiling_step_ms: Interval
    expected_tok_s: Interval
    terms: tuple[tuple[str, Interval], ...]
    link_cost: Cost | None = None
    prefill_tok_s: float | None = None  # measured on cold prompts
    prefill_ceiling: Interval | None = None
    prefill_terms: tuple[tuple[str, Interval], ...] = ()  # of a chunk; they add up to the measured
    gains: tuple[Gain, ...] = ()  # what a change would give, the largest first
    claimed_tok_s: float | None = None
    accept_len_needed: float | None = None  # for the claimed rate at the ceiling
    accept_len_max: int | None = None
    source: str = ""

    @property
    def share_pct(self) -> float:
        """Return the measured rate in percent of the ceiling."""
        return self.measured_tok_s / self.ceiling_tok_s.mid * 100

    @property
    def chunk_ms(self) -> float | None:
        """Return what a chunk of a cold prompt took; None where that was not measured."""
        return sum(ms.mid for _, ms in self.prefill_terms) or None

    @property
    def chunk_tokens(self) -> int | None:
        """Return the tokens of that chunk."""
        took, rate = self.chunk_ms, self.prefill_tok_s
        return round(took * rate / 1e3) if took and rate else None

    def as_json(self) -> dict[str, Any]:
        """Return it as the report prints it."""
        return {
            "measured_tok_s": round(self.measured_tok_s, 2),
            "ceiling_tok_s": self.ceiling_tok_s.rounded(),
            "terms": [{"name": name, "ms": ms.rounded(2)} for name, ms in self.terms],
            "expected_tok_s": self.expected_tok_s.rounded(),
            "step_ms": round(self.step_ms, 2),
            "running": self.running,
            "accept_len": round(self.accept_len, 2),
            "accept_len_needed": self.accept_len_needed and round(self.accept_len_needed, 2),
            "prefill_tok_s": self.prefill_tok_s and round(self.prefill_tok_s),
            "prefill_ceiling_tok_s": self.prefill_ceiling and self.prefill_ceiling.rounded(0),
            "prefill_chunk_tokens": self.chunk_tokens,
            "prefill_chunk_ms": self.chunk_ms and round(self.chunk_ms, 1),
            "prefill_terms": [{"name": n, "ms": ms.rounded(1)} for n, ms in self.prefill_terms],
            "gains": [one.as_json() for one in self.gains],
            "source": self.source,
        }

    def sentences(self) -> Iterator[str]:
        """Tell it in sentences, the figure first."""
        low, mid, high = (f"{rate:.0f}" for rate in self.ceiling_tok_s)
        at = f" at an accept length of {self.accept_len:.2g}" if self.accept_len_max else ""
        yield (
            f"Decode gives {self.measured_tok_s:.0f} tok/s with {_streams(self.running)},"
            f" {self.share_pct:.0f} % of the {mid} ({low} to {high}) that it can reach here{at}."
        )
        parts = " · ".join(f"{name} {ms.mid:.1f}" for name, ms in self.terms)
        yield f"A step of {self.step_ms:.1f} ms: {parts}."
        if self.link_cost and self.link_cost.decode_ms.mid > 0:
            low, mid, high = (f"{rate:.0f}" for rate in self.expected_tok_s)
            yield f"With the link repaired expect {mid} tok/s ({low} to {high})."
        yield from self._claim()
        yield from self._prefill()

    def _claim(self) -> Iterator[str]:
        needed, most = self.accept_len_needed, self.accept_len_max
        if not self.claimed_tok_s or self.claimed_tok_s <= self.ceiling_tok_s.mid:
            return
        claimed = f"{self.claimed_tok_s:.0f} tok/s"
        if not (needed and most):
            yield f"{claimed} is above what this model can give on this hardware."
        elif needed > most:
            yield f"{claimed} would need {needed:.2f} tokens a step, and {most} are the most."
        else:
            yield (
                f"It will not be {self.claimed_tok_s:.0f} on these prompts: that needs an accept length of"
                f" {needed:.2f} of at most {most}, and they give {self.accept_len:.2g}."
            )

    def _prefill(self) -> Iterator[str]:
        if self.prefill_tok_s and self.prefill_ceiling:
            low, mid, high = (f"{rate:,.0f}" for rate in self.prefill_ceiling.rounded(-1))
            yield (
                f"A cold prompt is read at {self.prefill_tok_s:,.0f} tok/s; {mid} ({low} to {high})"
                " is what it can reach here."
            )
        if self.chunk_ms and self.chunk_tokens:
            parts = " · ".join(f"{name} {ms.mid:,.0f}" for name, ms in self.prefill_terms)
            yield f"A chunk of {self.chunk_tokens:,} prompt tokens, {self.chunk_ms:,.0f} ms: {parts}."


def headroom(get: Get, claimed_tok_s: float | None = None) -> Headroom | None:
    """Return the headroom of decode, or None where something that decides is not known."""
    try:
        return work_out(Seen.of(get), claimed_tok_s)
    except Undecided:
        return None


def work_out(seen: Seen, claimed_tok_s: float | None = None) -> Headroom:
    """Work out the headroom of decode; raise Undecided with what is not known."""
    found = seen.measured()
    now = as_measured(seen.deployment(), found)
    good = now.over(seen.link(repaired=True)) if now.tp > 1 else now
    emitted = found.running * now.accept_len
    step_ms = emitted / found.tok_s * 1e3
    step, ceiling = decode_step(now), decode_step(good)
    width = half_width(good, ceiling.ms.mid)
    if step_ms < ceiling.ms.mid * (1 - _TOO_FAST * width):
        raise Undecided("it is faster than the step model says this model can be on these GPUs")
    cold, best = _cold_tok_s(seen), _prefill(seen, good)
    cost = _link_cost(seen, now, good, step_ms)
    slow_ms = cost.decode_ms if cost else _NO_COST
    slow = f"{now.link.name}{SLOWER}{good.link.name}"
    return Headroom(
        measured_tok_s=found.tok_s,
        running=found.running,
        accept_len=now.accept_len,
        step_ms=step_ms,
        ceiling_tok_s=ceiling.tok_s,
        ceiling_step_ms=ceiling.ms,
        expected_tok_s=Interval(*(emitted / (step_ms - ms) * 1e3 for ms in slow_ms)),
        terms=_waterfall(ceiling, slow_ms, slow, step_ms),
        link_cost=cost,
        prefill_tok_s=cold,
        prefill_ceiling=best.tok_s if best else None,
        prefill_terms=_chunk(_prefill(seen, now), best, slow, cold) if best and cold else (),
        gains=gains(Today.of(seen), seen),
        claimed_tok_s=claimed_tok_s,
        accept_len_needed=_needed(claimed_tok_s, ceiling, found.running),
        accept_len_max=now.draft_forwards + 1 if now.draft_forwards else None,
        source=f"step model, ±{width * 100:.0f} %: a step reads {step.read_gb:.1f} GB per GPU",
    )


def _link_cost(seen: Seen, now: Deployment, good: Deployment, step_ms: float) -> Cost | None:
    if now.link == good.link:
        return None
    return link_effect(now, good.link, now.link, step_ms=step_ms, chunk=seen.chunk or CHUNK)


def _waterfall(
    ceiling: Step, slow_ms: Interval, slow: str, step_ms: float
) -> tuple[tuple[str, Interval], ...]:
    known = list(ceiling.terms)
    if slow_ms.mid:
        known.insert(-1, (slow, slow_ms))  # beside the links, before the host
    rest = [step_ms - sum(ms[end] for _, ms in known) for end in (2, 1, 0)]
    return (*known, (UNEXPLAINED, Interval(*rest)))


def _cold_tok_s(seen: Seen) -> float | None:
    """Return the measured rate of a cold prompt; None where one rank alone reads it (DP attention)."""
    return prefill_tok_s(seen.log, seen.burst) if seen.groups == 1 else None


def _prefill(seen: Seen, d: Deployment) -> Prefill | None:
    try:
        return prefill_rate(d, seen.chunk or CHUNK)
    except Undecided:
        return None


def _chunk(
    today: Prefill | None, best: Prefill, slow: str, cold_tok_s: float
) -> tuple[tuple[str, Interval], ...]:
    """Return where the time of a measured chunk goes: arithmetic, links, a slow link, the rest."""
    whole = best.chunk / cold_tok_s * 1e3
    known = list(best.terms)
    if today and (more := today.links_ms - best.links_ms):
        known.append((slow, Interval.around(more, down=RATE_ERROR, up=RATE_ERROR)))
    rest = [whole - sum(ms[end] for _, ms in known) for end in (2, 1, 0)]
    return (*known, (UNEXPLAINED, Interval(*rest)))


def _needed(claimed_tok_s: float | None, ceiling: Step, running: int) -> float | None:
    return claimed_tok_s * ceiling.ms.mid / 1e3 / running if claimed_tok_s else None


def _streams(running: int) -> str:
    return "one stream" if running == 1 else f"{running} streams"
