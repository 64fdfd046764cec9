"""What the step model says of a plan: decode and prefill, each with its parts, as data and as text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tools.errors import Undecided
from tools.physics.deployment import Deployment
from tools.physics.fits import Fit, fits_rate
from tools.physics.gains import Gain
from tools.physics.interval import Interval
from tools.physics.prefill import CHUNK, Prefill, prefill_rate
from tools.physics.step import decode_step
from tools.physics.wanted import Planned
from tools.physics.whatif import Today, would_be

Terms = tuple[tuple[str, Interval], ...]


@dataclass(frozen=True)
class Answer:
    """Decode and prefill of a plan; rates are of all copies together, parts of one step or chunk."""

    what: str
    step_ms: Interval
    tok_s: Interval
    terms: Terms
    prefill_tok_s: Interval | None
    prefill_terms: Terms
    notes: tuple[str, ...] = ()
    fit: Fit | None = None
    gains: tuple[Gain, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return it as the command prints it; ms, tokens per second, low, middle and high."""
        told: dict[str, Any] = {
            "deployment": self.what,
            "decode": {
                "step_ms": self.step_ms.rounded(3),
                "tok_s": self.tok_s.rounded(2),
                "terms": _as_json(self.terms),
            },
            "prefill": {
                "tok_s": self.prefill_tok_s and self.prefill_tok_s.rounded(1),
                "terms": _as_json(self.prefill_terms),
            },
            "notes": list(self.notes),
        }
        if self.gains:
            told["gains"] = [one.as_json() for one in self.gains]
        if self.fit:
            told["claim"] = {"fits": self.fit.fits, "why": self.fit.why}
        return told

    def lines(self) -> Iterator[str]:
        """Tell it in lines, each part beside what it may be."""
        yield self.what
        yield ""
        yield f"{'':24}{'middle':>10}  {'low to high':>22}"
        yield _row("decode step, ms", self.step_ms, 1)
        yield from (_row(f"  {name}", ms, 2) for name, ms in self.terms)
        yield _row("decode, tok/s", self.tok_s, 1)
        if self.prefill_tok_s:
            yield _row("prefill, tok/s", self.prefill_tok_s, 0)
            yield from (_row(f"  {name}, ms a chunk", ms, 1) for name, ms in self.prefill_terms)
        yield from ("", *self.notes) if self.notes else ()
        if self.gains:
            yield ""
            yield "What a change would give, in percent of today's rates:"
            yield from (_gain(one) for one in self.gains)
        if self.fit:
            yield ""
            yield self.fit.why or f"{self.fit.step_ms:.1f} ms a step fits this hardware."


def answer(plan: Planned, chunk: int = CHUNK, claim_tok_s: float | None = None) -> Answer:
    """Work a plan out."""
    d = plan.deployment
    step = decode_step(d)
    prefill = _prefill(d, chunk)
    claimed = claim_tok_s / plan.replicas if claim_tok_s else None
    return Answer(
        what=described(plan),
        step_ms=step.ms,
        tok_s=_times(step.tok_s, plan.replicas),
        terms=step.terms,
        prefill_tok_s=_times(prefill.tok_s, plan.replicas) if prefill else None,
        prefill_terms=prefill.terms if prefill else (),
        notes=plan.notes,
        fit=fits_rate(d, claimed) if claimed else None,
    )


def moved(today: Today, plan: Planned) -> Answer:
    """Return a plan as today's measured step and prompt rate, moved by what the model sees change."""
    gives = would_be(today, plan.deployment)
    step = decode_step(plan.deployment)
    rest = [whole - part for whole, part in zip(gives.step_ms, step.ms, strict=True)]
    unexplained = Interval(*sorted((rest[0], gives.step_ms.mid - step.ms.mid, rest[2])))
    prefill = _prefill(plan.deployment, today.chunk)
    return Answer(
        what=described(plan),
        step_ms=gives.step_ms,
        tok_s=_times(gives.tok_s, plan.replicas),
        terms=(*step.terms, ("unexplained", unexplained)),
        prefill_tok_s=gives.prefill_tok_s and _times(gives.prefill_tok_s, plan.replicas),
        prefill_terms=prefill.terms if prefill else (),
        notes=plan.notes,
    )


def described(plan: Planned) -> str:
    """Name a plan in one line: model, card, split, link, drafts, load."""
    d = plan.deployment
    parts = [
        f"{d.checkpoint.params_b + d.checkpoint.head_b:.1f} B read a token,"
        f" {d.checkpoint.weight_bytes * 8:.3g} bit",
        f"{d.tp * plan.replicas}x {d.gpu.name}" if d.tp * plan.replicas > 1 else d.gpu.name,
    ]
    if d.tp > 1:
        parts.append(f"TP {d.tp} over {d.link.name}{'' if d.link.p2p else ', no peer access'}")
    if d.draft_forwards:
        parts.append(f"{d.draft_forwards} drafts, accept length {d.accept_len:.3g}")
    parts.append(f"batch {d.batch}, context {d.context:,.0f}")
    return " · ".join(parts)


def _prefill(d: Deployment, chunk: int) -> Prefill | None:
    try:
        return prefill_rate(d, chunk, d.context)
    except Undecided:
        return None


def _times(rate: Interval, copies: int) -> Interval:
    return Interval(*(part * copies for part in rate))


def _as_json(terms: Terms) -> list[dict[str, Any]]:
    return [{"name": name, "ms": ms.rounded(3)} for name, ms in terms]


def _gain(one: Gain) -> str:
    parts = [f"decode {_percent(one.decode_pct)}"] if any(one.decode_pct) else []
    if one.prefill_pct:
        parts.append(f"prefill {_percent(one.prefill_pct)}")
    return f"  {one.change}: {', '.join(parts)}"


def _percent(pct: Interval) -> str:
    low, middle, high = (f"{part:+.0f}" for part in pct)
    return f"{middle} % ({low} to {high})"


def _row(name: str, value: Interval, digits: int) -> str:
    low, middle, high = (f"{part:,.{digits}f}" for part in value)
    return f"{name:24}{middle:>10}  {f'{low} to {high}':>22}"
