"""One server is measured: a run that warms it up and does not count, then so many that do."""

from __future__ import annotations

from collections.abc import Callable

from bot.experiment.hands import Hands, Run
from bot.experiment.record import Measured
from tools.change import Proposal

BUSY_S = 10.0  # between two tries on a server that others use


def measured(
    hands: Hands,
    proposal: Proposal,
    *,
    between: Callable[[], None],
    wait: Callable[[float], None],
    told: Callable[[str], None],
) -> Measured:
    """Measure; `between` is called before each run, and may raise to end it.

    While others use the server it waits, up to `bounds.drain_s` in all: figures beside a load that
    nobody knows prove nothing. What fails ends it, and the sentence says why.
    """
    found: dict[str, list[float]] = {}
    left_s, runs, errors, trouble = proposal.bounds.drain_s, 0, 0, ""
    while runs <= proposal.repeats and not trouble:
        between()
        told("a first run, to warm it up" if not runs else f"run {runs} of {proposal.repeats}")
        run = hands.run(proposal)
        if run.busy and left_s > 0:
            told("others use it, I wait")
            pause_s = min(BUSY_S, left_s)
            left_s -= pause_s
            wait(pause_s)
            continue
        errors, trouble = errors + run.errors, _trouble(run)
        if runs and not trouble:
            for name, value in run.figures.items():
                found.setdefault(name, []).append(value)
        runs += 0 if trouble else 1
    whole = {name: tuple(values) for name, values in found.items() if len(values) == runs - 1}
    return Measured(figures=whole, runs=max(0, runs - 1), errors=errors, trouble=trouble)


def _trouble(run: Run) -> str:
    if run.trouble:
        return run.trouble
    if run.errors:
        return f"{run.errors} request{'' if run.errors == 1 else 's'} of the load failed"
    return "" if run.figures else "the run brought no figure"
