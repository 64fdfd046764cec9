"""On which side a knob stands in the server in use: by its arguments, a look at the GPUs, or a note."""

from __future__ import annotations

from collections.abc import Sequence

from tools.engine import Arguments, Claim, Trials
from tools.engine.comparison import Run, in_use
from tools.knowledge.knobs import Knob, Side
from tools.nvidia.gpus import Gpus


def side_in_use(
    knob: Knob,
    trials: Trials,
    runs: Sequence[Run],
    claim: Claim | None,
    args: Arguments,
    gpus: Gpus | None,
) -> Side | None:
    """Return the side in use: by the arguments, a look at the GPUs, or what the note says."""
    for told in (_typed(knob, args), _read(knob, gpus)):
        if told is not None:
            return told
    return in_use(trials.trials, knob, runs, claim.now_tok_s if claim else None)


def _typed(knob: Knob, args: Arguments) -> Side | None:
    """Return the side that the server runs with, as its arguments tell."""
    value = args.value(knob.argument) if knob.argument else None
    if value is None:
        return None
    if knob.kind == "switch":
        return "off" if args.on(knob.argument) == knob.argument.startswith("disable") else "on"
    return args.number(knob.argument) if knob.kind == "level" else args.text(knob.argument)


def _read(knob: Knob, gpus: Gpus | None) -> Side | None:
    """Return the level that a look at the GPUs shows, the lowest of them."""
    told = [getattr(one, knob.reading) for one in gpus.samples] if knob.reading and gpus else []
    return min((float(one) for one in told if one is not None), default=None)
