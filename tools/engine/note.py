"""A note of what somebody tried: tables, labelled lines and outcomes become trials; other text becomes none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from tools.engine.before_after import told_apart_in_time
from tools.engine.comparison import runs_of
from tools.engine.note_reader import WIDEST, NoteReader
from tools.engine.plain_words import in_plain_words
from tools.engine.together import together_of
from tools.engine.transcript import results_of
from tools.engine.trial import Trial, Trials
from tools.engine.typed_line import TypedLine
from tools.knowledge.knobs import all_knobs

LONGEST, LINES, RUNS = 1 << 15, 400, 200  # bytes, lines and runs; a note is typed by hand
SHORT, SHARE = 12, 0.3  # lines of a note with any prose; the runs among those of a longer one
_LOG = re.compile(
    r"server_args=|Decode batch|Prefill batch|Avg prompt throughput|Serving Benchmark Result|NCCL INFO"
    r"|NVIDIA-SMI|LnkSta|LnkCap|\bTraceback|\|\s+GPU-Util"
)
_STAMP = re.compile(
    r"^\W{0,2}(?:\d{4}-\d\d-\d\d[ T]\d\d:|[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:|\[ *\d+\.\d{3,})"
)


@lru_cache(maxsize=8)
def read_note(text: str) -> Trials | None:
    """Return what a note tells of runs that can be compared, or None where it is no such note."""
    if len(text) > LONGEST or text.count("\n") > LINES or _LOG.search(text):
        return None
    plain = text.replace("**", "").replace("`", "")
    typed = [line.rstrip()[:WIDEST] for line in plain.split("\n")]
    if sum(bool(_STAMP.match(line)) for line in typed) > 2:
        return None
    together = tuple(one for line in typed if (one := together_of(line)))
    together = together if any(len(one.pairs) > 1 for one in together) else ()
    taken = [TypedLine(in_plain_words(line), line) for line in typed]
    lines = told_apart_in_time(results_of(taken))
    trials = tuple(NoteReader(lines).trials())
    kept = trials if _is_most(trials, lines) and _compares(trials) else ()
    return Trials(trials=kept, together=together) if kept or together else None


def _is_most(trials: Sequence[Trial], lines: Sequence[TypedLine]) -> bool:
    """Say whether runs are a good part of a text; in a report of a machine a few lines look like some."""
    told = len({one.line for one in lines if one.text.strip()})
    runs = {arm.line for trial in trials for arm in trial.arms}
    few = sum(len(trial.arms) for trial in trials) <= RUNS
    return few and (told <= SHORT or len(runs) >= SHARE * told)


def _compares(trials: Sequence[Trial]) -> bool:
    """Say whether some knob stands on two sides, or a change of the rate is told for one."""
    changes = any(
        figure.unit == "%" for trial in trials for arm in trial.arms for figure in arm.figures
    )
    for knob in all_knobs():
        told = {run.side for run in runs_of(trials, knob)}
        if len(told) > 1 or (told and changes):
            return True
    return False
