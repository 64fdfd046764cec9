"""The best remedy of a verdict that a restart with other flags or variables can carry out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.investigate import Judged
from bot.proposal.traps import needs_buffer
from bot.proposal.wanted import Wanted
from tools.change import Change, Predicted
from tools.change.change import Value
from tools.change.keep_rule import Goal
from tools.engine import Environment, Launch
from tools.judgement import Confirmed
from tools.knowledge.catalogue import Restart
from tools.known import Known
from tools.rule import Interval

_GOALS: tuple[tuple[str, Goal], ...] = (
    ("decode", "decode"),
    ("throughput", "throughput"),
    ("prefill", "prefill"),
    ("ttft", "ttft"),
    ("tail", "ttft"),
)
_MOST = 0.9  # of a rate: a loss beyond it would promise more than the tenfold


def remedy(end: Judged) -> Wanted | None:
    """Return what to try first; None where no flag or variable mends anything that was found."""
    return next(remedies(end), None)


def remedies(end: Judged) -> Iterator[Wanted]:
    """Yield what a restart can mend of what was found, the most telling finding first."""
    known = Known(end.evidence)
    launch, environment = known.get(Launch), known.get(Environment)
    for one in _ranked(end):
        restart = one.rule.cause.change
        change = _change(restart, one, launch, environment) if restart else None
        if change is not None:
            yield Wanted(
                change=_that_starts(change, known),
                goal=_goal(one),
                predicted=_predicted(one),
                why=one.finding.statement.partition(". ")[0].rstrip("."),
            )


def _that_starts(change: Change, known: Known) -> Change:
    """Add what a prefix cache needs on a hybrid model with drafts, where the version does not start without."""
    launch = known.get(Launch)
    flags = (launch.flags if launch else None) or {}
    if (
        "disable_radix_cache" not in change.unset
        or "mamba_scheduler_strategy" in flags
        or not needs_buffer(known)
    ):
        return change
    return change.model_copy(
        update={"set": {**change.set, "mamba_scheduler_strategy": "extra_buffer"}}
    )


def _ranked(end: Judged) -> Iterator[Confirmed]:
    yield from (one for one in end.verdict.findings if not one.benign)


def _change(
    restart: Restart, one: Confirmed, launch: Launch | None, environment: Environment | None
) -> Change | None:
    """Return what of it bears on this server: nothing is taken out that is not there."""
    flags = (launch.flags if launch else None) or {}
    values = environment.values if environment else {}
    figures = {name: _figure(name, value, one) for name, value in restart.set.items()}
    told = {
        "set": {
            name: value
            for name, value in figures.items()
            if value is not None and value != flags.get(name)
        },
        "unset": [name for name in restart.unset if name in flags],
        "env": {name: value for name, value in restart.env.items() if values.get(name) != value},
        "unset_env": [name for name in restart.unset_env if name in values],
    }
    if restart.unset and not told["unset"] and not told["set"] and not restart.env:
        return None
    return Change.model_validate(told) if any(told.values()) else None


def _figure(name: str, value: Value | None, one: Confirmed) -> Value | None:
    """Return the value, or the figure that the finding's own remedy gives this flag."""
    if value is not None:
        return value
    flag = re.escape(name.replace("_", "-"))
    found = re.search(rf"--{flag}[\w-]*[ =](\d{{1,9}})\b", " ".join(one.finding.remedy))
    return int(found[1]) if found else None


def _goal(one: Confirmed) -> Goal | None:
    effect = one.finding.effect
    if effect.decode_pct is None and effect.prefill_pct is not None:
        return "prefill"
    return next((goal for name, goal in _GOALS if name in one.finding.slows), None)


def _predicted(one: Confirmed) -> Predicted | None:
    effect = one.finding.effect
    if effect.decode_pct is None and effect.prefill_pct is None:
        return None
    return Predicted(
        decode_pct=_gain(effect.decode_pct),
        prefill_pct=_gain(effect.prefill_pct),
        why=effect.source,
    )


def _gain(loss: Interval | None) -> tuple[float, float, float] | None:
    """Turn a loss of the healthy rate into a gain over today's: 60 % lost is 150 % to win."""
    if loss is None:
        return None
    most = -_MOST * 100
    gains = sorted(
        round((1 / (1 + max(one, most) / 100) - 1) * 100 + 0.0, 1) for one in map(_at_most, loss)
    )
    return gains[0], gains[1], gains[2]


def _at_most(loss: float) -> float:
    return min(loss, 0.0)
