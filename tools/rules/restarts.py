"""A server that fails to start again and again, after a run that was good."""

from __future__ import annotations

from tools.engine import EarlierRun, ServerLog
from tools.engine.happened import clock_of
from tools.engine.runs import alike, differences
from tools.errors import Undecided
from tools.rule import Aspect, Cleared, Finding, Outcome, rule

IN_A_ROW = 2  # failed starts that make a loop
NAMED = 6  # arguments that are named
SLOWS: frozenset[Aspect] = frozenset({"start", "crash"})
SAME_START = (
    "the command of the run that served; if it fails too, the machine changed and not the command"
)


@rule(cause="server_crashed")
def starts_fail_in_a_row(log: ServerLog) -> Outcome:
    """The server was started several times in a row, and never became ready."""
    if not log.unready:
        return None
    last = log.as_earlier()
    failed = [run for run in _since_it_served(log) if run.ended or run.times > 1]
    times = sum(run.times for run in failed) + 1
    if not last.ended:
        return None
    good = log.before
    if times < IN_A_ROW and good is None:
        return None
    same = all(alike(run, last) for run in failed)
    said = (
        f"{times} start(s) in a row failed{' in the same way' if same and times > 1 else ''}, the last"
        f" at {clock_of(log.first_line_at)}: {_words(last)}"
    )
    if good is None:
        raise Undecided(f"{said}; no run in this log served", settle=SAME_START, suspicion=0.3)
    served = f"The run before, until {clock_of(good.last_at)}, served"
    changed = differences(good.resolved, log.resolved)
    if not changed:
        raise Undecided(
            f"{said}. {served} with the same arguments{_ended(good)}",
            settle=SAME_START,
            suspicion=0.35,
        )
    told = [
        f"--{name.replace('_', '-')} {now} instead of {was}"
        for name, (was, now) in list(changed.items())[:NAMED]
    ]
    return Finding(
        f"{said}. {served}{_ended(good)}; since then the server is started with {', '.join(told)}.",
        shown_by=(log,),
        confidence=0.6,
        slows=SLOWS,
        category="config",
        remedy=("Start it with the arguments of the run that served, and change one at a time.",),
        verify="'The server is fired up and ready to roll', and a request is answered",
        quotes=(last.end_text[:300],),
    )


@rule(cause="server_crashed")
def a_run_before_crashed(log: ServerLog) -> Outcome:
    """A run before this one crashed, and the server was started again."""
    ended = [run for run in log.earlier if run.served and run.ended not in ("", "shutdown")]
    if not ended or log.unready:
        return None
    if len(ended) < IN_A_ROW:
        run = ended[-1]
        return Cleared(
            f"this run goes on; the one until {clock_of(run.last_at)} ended with: {_words(run)}",
            (log,),
        )
    raise Undecided(
        f"{len(ended)} runs in this log ended by themselves ({', '.join(_died(r) for r in ended[-3:])})"
        f" and the server was started again, the last one with: {_words(ended[-1])}",
        settle="the traceback above the last line of each run; dmesg -T for Xid and the OOM killer",
        suspicion=0.3,
    )


def _since_it_served(log: ServerLog) -> list[EarlierRun]:
    runs: list[EarlierRun] = []
    for run in reversed(log.earlier):
        if run.served:
            break
        runs.append(run)
    return runs


def _ended(run: EarlierRun) -> str:
    if run.ended in ("", "shutdown"):
        return ""
    return f", and ended with: {_words(run)}"


def _words(run: EarlierRun) -> str:
    return run.end_text[:200].rstrip(". ")


def _died(run: EarlierRun) -> str:
    return f"{run.ended.replace('_', ' ')} at {clock_of(run.last_at)}"


RULES = (starts_fail_in_a_row, a_run_before_crashed)
