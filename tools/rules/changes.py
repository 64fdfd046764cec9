"""What got slower in the course of a log: since when, by how much, and what changed then."""

from __future__ import annotations

from math import exp
from statistics import median

from tools.engine import Claim, ServerLog
from tools.engine.happened import SLACK_S, Restart, clock_of
from tools.engine.history import Change, History
from tools.engine.series import Metric
from tools.engine.told import FEW, Told, started, what
from tools.errors import Undecided
from tools.linux.kernel import KernelLog
from tools.linux.kernel_near import lines_near
from tools.rule import Aspect, Cleared, Effect, Finding, Interval, Outcome, rule

ENOUGH = 28  # points below which no change can be told from chance
SLOWS: dict[Metric, frozenset[Aspect]] = {
    "step": frozenset({"decode", "throughput"}),
    "accept": frozenset({"decode", "throughput"}),
    "prefill": frozenset({"prefill", "ttft"}),
    "hits": frozenset({"prefill", "ttft"}),
    "queue": frozenset({"ttft", "tail"}),
}
OUTSIDE = (
    "nvidia-smi -q -d CLOCK,PERFORMANCE,TEMPERATURE under load, dmesg -T around that time, and what"
    " else was started on the machine then"
)


@rule(cause="became_slower_over_time")
def slower_since(log: ServerLog, kernel: KernelLog | None, claim: Claim | None) -> Outcome:
    """Something got slower in the course of the log, at a time that it shows."""
    history = _history(log)
    told = _worst(history)
    if told is None:
        return _steady(history, claim)
    remembered = told.remembered(claim)
    if kernel and (lines := lines_near(kernel, *_interval(told.change), SLACK_S)):
        return _by_kernel(told, lines, remembered, log, kernel)
    restart = told.restart
    if restart and restart.builds and not restart.arguments:
        return Cleared(f"{told.text}: with another build, which is judged apart", (log,))
    if told.change.kind.metric == "accept":
        return Cleared(f"{told.text}: drafts, which are judged apart", (log,))
    if restart and restart.arguments:
        return _by_arguments(told, restart, remembered, log)
    raise Undecided(
        f"{_lower(told.text)}; {told.then}.{remembered}",
        settle=_settle(told),
        suspicion=0.45 if told.change.kind.metric in ("step", "prefill") else 0.2,
    )


@rule(cause="version_regression")
def slower_since_another_build(log: ServerLog, claim: Claim | None) -> Outcome:
    """Steps take longer since the server was started with another build."""
    told = _worst(_history(log))
    restart = told.restart if told else None
    if told is None or restart is None or restart.builds is None:
        return None
    if told.change.kind.metric not in ("step", "prefill") or restart.arguments:
        return None
    old, new = restart.builds
    builds = f"{new} instead of {old}" if new else "a build whose arguments have other names"
    return Finding(
        f"{told.text}; at {clock_of(restart.now.first_at)} the server was started with {builds} and"
        f" the same arguments.{told.remembered(claim)}",
        shown_by=(log,),
        confidence=0.75 if new else 0.6,
        slows=SLOWS[told.change.kind.metric],
        effect=_effect(told.change),
        verify="the step time of the run before, at the same load",
    )


@rule(cause="acceptance_drop")
def acceptance_fell_since(log: ServerLog, claim: Claim | None) -> Outcome:
    """Fewer drafts are accepted since a time that the log shows."""
    history = _history(log)
    change = history.of("accept")
    if change is None:
        return None
    told = Told.of(history, change)
    longer = history.of("step")
    step = "" if longer else ", while a step takes as long as before"
    drafts = [name for name in told.restart.arguments if "spec" in name] if told.restart else []
    why = f"; {told.then}" if told.restart else ": the text is harder to draft since then"
    return Finding(
        f"{told.text}{step}{why}.{told.remembered(claim)}",
        shown_by=(log,),
        confidence=0.6 if longer else 0.82,
        slows=SLOWS["accept"],
        effect=_effect(change),
        category="config" if drafts else None,
    )


def _history(log: ServerLog) -> History:
    history = History.of_log(log)
    if history.servers > 1:
        raise Undecided(
            "texts of servers that ran at the same time are mixed", settle="the log of each alone"
        )
    if sum(len(run.decode) for run in history.runs) < ENOUGH:
        raise Undecided("too few decode lines to see a course")
    return history


def _worst(history: History) -> Told | None:
    """Tell the lasting change that explains most: a longer step before what follows from it."""
    for metric in ("step", "accept", "prefill", "hits", "queue"):
        if (change := history.of(metric)) is not None:
            return Told.of(history, change)
    return None


def _steady(history: History, claim: Claim | None) -> Outcome:
    over = next((one for one in history.changes if one.kind.metric == "step"), None)
    if over is not None and over.until is not None:
        told = Told.of(history, over)
        raise Undecided(
            f"from {clock_of(over.first.at)} to {clock_of(over.until.at)} {what(over)}, and that is"
            f" over; {told.then}",
            settle=_settle(told),
            suspicion=0.15,
        )
    lines = sum(block.lines for run in history.runs for block in run.decode)
    said = f"over {lines} decode lines the step stays the same at the same load"
    points = [point for run in history.runs for point in run.decode]
    usual = median(block.tok_s for block in points)
    if claim and claim.before_tok_s and usual and max(b.tok_s for b in points) < claim.before_tok_s:
        said += f"; nowhere in this log are {claim.before_tok_s:g} tok/s reached"
    return Cleared(said)


def _settle(told: Told) -> str:
    if told.restart:
        return "the same load on the arguments, the build and the machine of the run before"
    if told.change.kind.metric in ("hits", "queue"):
        return "what the clients send since then: more, longer, or without a common beginning"
    return OUTSIDE


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def _interval(change: Change) -> tuple[str | None, str | None]:
    return change.earliest.at, change.latest.at


def _effect(change: Change) -> Effect:
    split = change.split
    bounds = (split.shift_low, split.shift, split.shift_high)
    pct = sorted(100 * (exp(-abs(bound)) - 1) for bound in bounds)
    told: Interval = (round(pct[0], 1), round(pct[1], 1), round(pct[2], 1))
    source = "the lines of the log before and after"
    if change.kind.metric in ("step", "accept"):
        return Effect(decode_pct=told, source=source)
    return Effect(prefill_pct=told, source=source) if change.kind.metric == "prefill" else Effect()


def _by_kernel(
    told: Told, lines: tuple[str, ...], remembered: str, log: ServerLog, kernel: KernelLog
) -> Finding:
    return Finding(
        f"{told.text}; the kernel log has {', '.join(lines)}.{remembered}",
        shown_by=(log, kernel),
        confidence=0.65,
        slows=SLOWS[told.change.kind.metric],
        effect=_effect(told.change),
        category="hardware",
        remedy=("Look at the device that the kernel names: seat, link, temperature, power.",),
        risk="reboot",
        verify="no such line at the same load, and the step time of before",
    )


def _by_arguments(told: Told, restart: Restart, remembered: str, log: ServerLog) -> Finding:
    back = [
        f"--{name.replace('_', '-')} {was}"
        for name, (was, _) in list(restart.arguments.items())[:FEW]
    ]
    return Finding(
        f"{told.text}; {started(restart)}.{remembered}",
        shown_by=(log,),
        confidence=0.7 if len(restart.arguments) <= FEW else 0.5,
        slows=SLOWS[told.change.kind.metric],
        effect=_effect(told.change),
        category="config",
        remedy=(f"Start once more with what the run before had: {', '.join(back)}.",),
        risk="restart",
        verify="the step time of the run before, at the same load",
    )


RULES = (slower_since, slower_since_another_build, acceptance_fell_since)
