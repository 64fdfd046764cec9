"""What a change would give: today's measured step and prompt rate, moved by what the model adds or takes.

Of a step only differences are predicted, so what no term explains stays as it was measured. A
difference of links is known as tools/physics/effect.py says, one of memory, kernels and host as the
step is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tools.errors import Undecided
from tools.physics.as_measured import as_measured
from tools.physics.deployment import Deployment
from tools.physics.effect import difference_ms, effect
from tools.physics.interval import Interval
from tools.physics.link import ALONE, Link
from tools.physics.measured import Measured
from tools.physics.prefill import CHUNK, prefill_rate
from tools.physics.seen import Seen
from tools.physics.spread import half_width
from tools.physics.step import Step, decode_step
from tools.physics.under_load import prefill_tok_s


@dataclass(frozen=True)
class Today:
    """The deployment as it runs. `step_ms` and `prefill_tok_s` are the model's where none was measured."""

    deployment: Deployment
    step_ms: float
    step_measured: bool
    prefill_tok_s: float | None
    prefill_measured: bool
    chunk: int

    @classmethod
    def of(cls, seen: Seen) -> Today:
        """Take it from what was seen; raise Undecided with what is not known."""
        now, chunk = seen.deployment(), seen.chunk or CHUNK
        measured = _measured(seen)
        if measured is not None:
            now = as_measured(now, measured)
        rate = prefill_tok_s(seen.log, seen.burst)
        emitted = now.batch * now.accept_len
        return cls(
            deployment=now,
            step_ms=emitted / measured.tok_s * 1e3 if measured else decode_step(now).ms.mid,
            step_measured=measured is not None,
            prefill_tok_s=rate or _modelled(now, chunk),
            prefill_measured=rate is not None,
            chunk=chunk,
        )

    @property
    def tok_s(self) -> float:
        """Return the server's decode rate."""
        return self.deployment.batch * self.deployment.accept_len / self.step_ms * 1e3

    def over(self, link: Link) -> Deployment:
        """Return today's deployment on another link."""
        return self.deployment.over(link)

    def split(self, gpus: int, link: Link) -> Deployment:
        """Return today's deployment with each layer over another number of GPUs."""
        return replace(self.deployment, tp=gpus, link=link if gpus > 1 else ALONE)

    def accepting(self, accept_len: float) -> Deployment:
        """Return today's deployment on prompts of another accept length."""
        return replace(self.deployment, accept_len=accept_len)


@dataclass(frozen=True)
class WouldBe:
    """Step and rates after a change; percents are of today's rate, positive is faster.

    Step and decode rate are today's, moved by the difference. The prompt rate is the model's own, as
    in a headroom; its percent is the difference that the model sees, free of what it has wrong twice.
    """

    step_ms: Interval
    tok_s: Interval
    decode_pct: Interval
    prefill_tok_s: Interval | None
    prefill_pct: Interval | None


def would_be(today: Today, changed: Deployment) -> WouldBe:
    """Return what a change of the deployment would give."""
    now = today.deployment
    added = _added_ms(now, changed)
    ends = [max(today.step_ms + ms, 0.05 * today.step_ms) for ms in added]
    emitted = changed.batch * changed.accept_len
    rates = Interval(*(emitted / ms * 1e3 for ms in reversed(ends)))
    prefill = effect(now, changed, chunk=today.chunk).prefill_pct
    return WouldBe(
        step_ms=Interval(*ends),
        tok_s=rates,
        decode_pct=Interval(*((rate / today.tok_s - 1) * 100 for rate in rates)),
        prefill_tok_s=_prefill_tok_s(today, changed, prefill),
        prefill_pct=prefill,
    )


def _added_ms(now: Deployment, changed: Deployment) -> Interval:
    before, after = decode_step(now), decode_step(changed)
    links = difference_ms(now, after.links.mid - before.links.mid)
    rest = _without_links(after) - _without_links(before)
    width = half_width(now, before.ms.mid)
    return links.plus(Interval.around(rest, down=width, up=width))


def _without_links(step: Step) -> float:
    return step.memory.mid + step.kernels.mid + step.host.mid


def _prefill_tok_s(today: Today, changed: Deployment, percent: Interval | None) -> Interval | None:
    if percent is None or today.prefill_tok_s is None:
        return None
    if not any(percent):
        return Interval.exactly(today.prefill_tok_s)
    return prefill_rate(changed, today.chunk).tok_s


def _measured(seen: Seen) -> Measured | None:
    try:
        return seen.measured()
    except Undecided:
        return None


def _modelled(now: Deployment, chunk: int) -> float | None:
    try:
        return prefill_rate(now, chunk).tok_s.mid
    except Undecided:
        return None
