"""The one test that comes next where nothing is decided: of a doubt, a look, else a measurement."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tools.interest import Interest
from tools.judgement import Unchecked
from tools.probe import Probe
from tools.rule import Aspect

_LIKE = re.compile(r"Like: (.+)")  # what a person would type, by the docstring of a probe
# Where every look was taken and excludes what it can: the measurement that asks the question itself.
_MEASURE: dict[Aspect, str] = {
    "start": "the serve log from its first line on, with `dmesg -T` of the same minutes",
    "crash": "the last 300 lines of the serve log before it stopped, with `dmesg -T` of the same minutes",
    "ttft": "one long prompt that is in no cache, sent alone: its time to the first token, and the Prefill lines",
    "prefill": "one long prompt that is in no cache, sent alone: its time to the first token, and the Prefill lines",
    "tail": "the serve log of ten minutes with a stall in them, and `nvidia-smi dmon -s pucvmt` of the same minutes",
    "throughput": "one benchmark at a fixed number of requests at once, with the serve log of the same minutes",
    "decode": "one request of 500 tokens, sent alone: its Decode lines, and `nvidia-smi dmon -s pucvmt` meanwhile",
}


def next_test(
    doubt: Unchecked | None,
    unchecked: Sequence[Unchecked],
    probes: Mapping[str, type[Probe[Any]]],
    asked: Interest,
) -> str:
    """Name the one test that comes next; `doubt` is what is worth a test, if anything is."""
    if doubt:
        return doubt.how
    return _next_look(unchecked, probes, asked) or _measurement(asked)


def _measurement(asked: Interest) -> str:
    return next(
        (test for aspect, test in _MEASURE.items() if aspect in asked.aspects), _MEASURE["decode"]
    )


def _next_look(
    unchecked: Sequence[Unchecked], probes: Mapping[str, type[Probe[Any]]], asked: Interest
) -> str | None:
    """Name the look that would let most hypotheses be judged, of those that were asked about."""
    wanted: dict[str, int] = {}
    for one in unchecked:
        if asked.stopped and not one.rule.cause.stops:
            continue
        for name in one.how.split(", ") if one.missing and one.how else ():
            wanted[name] = wanted.get(name, 0) + 1
    if not wanted:
        return None
    best = max(wanted, key=lambda name: wanted[name])
    doc = probes[best].__doc__ or "" if best in probes else ""
    look = doc.strip().splitlines()[0].split(":")[0].rstrip(".") or "take one more look"
    typed = _LIKE.search(doc)
    shown = f"see what `{typed[1].strip().rstrip('.')}` prints, to " if typed else ""
    return f"Let me {shown}{look[:1].lower()}{look[1:]}; {wanted[best]} hypotheses wait for it ({best})."
