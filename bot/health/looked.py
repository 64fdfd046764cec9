"""One look at one host, as a row: whether it answered, its verdict in short, and its vitals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict

from bot.investigate import Judged
from tools.evidence import Evidence
from tools.judgement import Confirmed
from tools.knowledge import Category
from tools.known import Known
from tools.probes.gpu_samples import SampleGpus
from tools.probes.gpus import ReadGpus
from tools.vitals.vitals import Vitals

Loss = tuple[float, float, float]
State = Literal["seen", "blind", "no_server", "unreachable"]
_BLAMES: tuple[Category, ...] = ("hardware", "config", "software_bug")


def blames(one: Confirmed) -> bool:
    """Say whether a finding needs somebody: a workload, or a server at its ceiling, does not."""
    return one.category in _BLAMES and not one.benign


class Found(BaseModel):
    """One thing that is wrong: the cause, what it costs, in percent of decode and of prefill."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    cause: str
    category: Category
    statement: str
    decode_pct: Loss | None = None
    prefill_pct: Loss | None = None

    @property
    def cost_pct(self) -> float:
        """Return the larger of the two losses, in percent; 0 where none is known."""
        return max((-loss[1] for loss in (self.decode_pct, self.prefill_pct) if loss), default=0.0)

    @classmethod
    def of(cls, one: Confirmed) -> Self:
        """Take what a summary needs of a finding."""
        effect = one.finding.effect
        return cls(
            cause=one.rule.cause.id,
            category=one.category,
            statement=one.finding.statement,
            decode_pct=effect.decode_pct,
            prefill_pct=effect.prefill_pct,
        )


class Looked(BaseModel):
    """What a sweep keeps of one host. An unreachable host is a result like any other.

    `at` is seconds since the epoch; `why` says why nothing was seen; `blind` is a server whose GPUs
    do not answer, and of which nothing else is wrong. `found` are the findings that
    blame something, the answer first; a workload, or a server at its ceiling, needs nobody.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str
    at: float
    state: State
    why: str = ""
    category: Category | None = None
    headline: str = ""
    found: tuple[Found, ...] = ()
    vitals: Vitals = Vitals()

    @property
    def troubles(self) -> frozenset[str]:
        """Return what is wrong by name, so that it can be known again: causes, or else the state."""
        causes = frozenset(one.cause for one in self.found)
        return causes or (frozenset() if self.state == "seen" else frozenset((self.state,)))

    @classmethod
    def unreachable(cls, host: str, at: float, why: str) -> Self:
        """A host that could not be asked."""
        return cls(host=host, at=at, state="unreachable", why=why)

    @classmethod
    def of(cls, host: str, at: float, judged: Judged) -> Self:
        """Take what a summary needs of a verdict."""
        known = Known(judged.evidence)
        vitals, verdict = Vitals.of(known), judged.verdict
        blamed = tuple(filter(blames, verdict.findings))
        state: State = "seen"
        why = ""
        if judged.deployment.engine is None:
            state, why = "no_server", "No model server runs."
        elif not blamed and (hidden := _hidden(judged.evidence)):
            state, why = "blind", f"Its GPUs cannot be seen: {hidden}."
        return cls(
            host=host,
            at=at,
            state=state,
            why=why,
            category=verdict.category,
            headline=verdict.headline,
            found=tuple(map(Found.of, blamed)),
            vitals=vitals,
        )


def _hidden(looks: Sequence[Evidence]) -> str:
    """Say why no look at the GPUs told anything; empty where one did, and where there are none."""
    asked = [one for one in looks if isinstance(one.probe, (SampleGpus, ReadGpus))]
    failed = [one for one in asked if one.failed]
    return failed[-1].trouble.removeprefix("Failed: ").rstrip(".") if failed == asked != [] else ""
