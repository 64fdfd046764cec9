"""What a test showed: a knob whose change moves the rate proves its cause, one that moves nothing rules it out.

The figures were typed by the person who made the test, so they are cited as told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median

from tools.engine import Arguments, Claim, Launch, ServerInfo, ServerLog, Trials
from tools.engine.comparison import (
    Run,
    Shift,
    at_fault,
    contradicted,
    outcomes,
    runs_of,
    shifts,
)
from tools.engine.confounded import changed_too, told_apart
from tools.engine.shift_words import name_of, nothing_moved, pair_of
from tools.errors import Undecided
from tools.in_use import side_in_use
from tools.knowledge import CAUSES, Category
from tools.knowledge.gpus import gpu_named
from tools.knowledge.knobs import Knob, Side, all_knobs
from tools.nvidia.gpus import Gpus
from tools.rule import Aspect, Cleared, Effect, Finding, Interval, Need, Outcome, Rule

# By the nature of a switch; where the side in use is known; where its place in a sweep is guessed.
CONFIDENCE, IN_USE, GUESSED = 0.85, 0.92, 0.7
STILL_HANGS = 0.05  # of the rate: fewer cores that cost less were not needed
HANGS_ON = 0.15  # of the rate, lost with fewer cores: it hangs on them
LARGE = 1.0  # twice as fast: no choice of kernels that an engine makes by itself may lose as much
_ASPECTS: dict[str, frozenset[Aspect]] = {
    "ttft": frozenset({"ttft", "prefill"}),
    "itl": frozenset({"decode", "throughput"}),
    "itl,tail": frozenset({"tail", "decode"}),
    "prefill": frozenset({"prefill", "ttft"}),
    "load": frozenset({"start"}),
    "total": frozenset({"throughput", "decode"}),
    "decode": frozenset({"decode", "throughput"}),
}
_ANY: frozenset[Aspect] = frozenset({"decode", "prefill", "ttft", "throughput"})
_NATIVE = {"hopper": "fa3", "blackwell": "trtllm_mha", "ampere": "flashinfer", "ada": "flashinfer"}
Judge = Callable[..., Outcome]


def _judge(cause: str, knobs: Sequence[Knob]) -> Judge:
    """Return the judgement of one cause by every knob that is tied to it."""

    def tried(
        trials: Trials,
        claim: Claim | None,
        gpus: Gpus | None,
        launch: Launch | None,
        info: ServerInfo | None,
        log: ServerLog | None,
    ) -> Outcome:
        args = Arguments(launch, info, log)
        told = [_by(knob, cause, trials, claim, args, gpus) for knob in knobs]
        found = [one for one in told if isinstance(one, Finding)]
        if found:
            return max(found, key=lambda one: one.confidence)
        cleared = [one for one in told if isinstance(one, Cleared)]
        if cleared:
            whys = "; ".join(dict.fromkeys(one.why for one in cleared))
            return Cleared(whys, (trials,), frozenset().union(*(one.tested for one in cleared)))
        raise Undecided("", suspicion=0.0)  # no opinion: the test changed something else

    tried.__name__ = f"tried_{cause}"
    return tried


def _by(
    knob: Knob, cause: str, trials: Trials, claim: Claim | None, args: Arguments, gpus: Gpus | None
) -> Outcome:
    runs = runs_of(trials.trials, knob)
    if not runs:
        return None
    using = side_in_use(knob, trials, runs, claim, args, gpus)
    fault = at_fault(knob, runs, using)
    proves = cause == knob.causes[0]
    found = [] if knob.ends else shifts(knob, runs, fault)
    if knob.feeds or not found:
        said = _hangs_on(knob, found) if knob.feeds else _by_outcome(knob, runs, fault)
        return said if proves else None
    if knob.kind == "switch" and using not in (None, fault) and found[0].now:
        return Cleared(f"{knob.title}: the side that is slower in the test is not the one in use")
    return _measured(knob, found, using, gpus, proves=proves)


def _measured(
    knob: Knob, found: Sequence[Shift], using: Side | None, gpus: Gpus | None, *, proves: bool
) -> Outcome:
    if found[0].sure and found[0].gain > 0:
        if not proves or contradicted(found):
            return None
        _changed_alone(knob, found)
        return _proven(knob, found, using, gpus)
    if all(one.still or one.gain <= 0 for one in found):
        return Cleared(nothing_moved(knob, found), tested=_aspects(found))
    return None


def _changed_alone(knob: Knob, found: Sequence[Shift]) -> None:
    """Raise Undecided where the test changed more than one thing, or depends on another."""
    first = found[0]
    if first.now and (other := changed_too(knob, first.now, first.then)):
        raise Undecided(
            f"the test changed two things at once, {knob.title} and {other.title}:"
            f" {name_of(first)} goes from {pair_of(first)}",
            settle=f"the same test with {knob.title} changed alone",
            suspicion=0.4,
        )
    apart = [told_apart(first, one) for one in found[1:] if not (one.sure and one.gain > 0)]
    if hangs := next((one for one in apart if one), None):
        raise Undecided(
            f"changing {knob.title} moves {name_of(first)} from {pair_of(first)} only together with"
            f" {hangs.title}: the test shows no loss where that is otherwise",
            settle=f"the same test with {hangs.title} changed alone",
            suspicion=0.2,
        )


def _proven(knob: Knob, found: Sequence[Shift], using: Side | None, gpus: Gpus | None) -> Finding:
    first = found[0]
    better = [one for one in found if one.sure and one.gain > 0]
    worse = next((one for one in reversed(found) if one.sure and one.gain < 0), None)
    price = f" {name_of(worse)} gets worse by it: {pair_of(worse)}." if worse else ""
    return Finding(
        f"A test shows it: changing {knob.title} takes {name_of(first)} from {pair_of(first)}.{price}",
        confidence=_sureness(knob, using),
        slows=_aspects(better),
        effect=_effect(better),
        category=_engines_own(knob, first, gpus) or knob.category,
        remedy=(f"Keep what the test showed to be faster: {first.then.arm.label}.",),
        verify="the same test on the server in use",
        quotes=tuple(
            dict.fromkeys(run.arm.line for run in (first.now, first.then) if run and run.arm.line)
        ),
    )


def _sureness(knob: Knob, using: Side | None) -> float:
    if using is not None or knob.kind == "order":
        return IN_USE
    return CONFIDENCE if knob.kind == "switch" else GUESSED


def _aspects(found: Sequence[Shift]) -> frozenset[Aspect]:
    return frozenset[Aspect]().union(*(_ASPECTS.get(one.of, _ANY) for one in found))


def _engines_own(knob: Knob, first: Shift, gpus: Gpus | None) -> Category | None:
    """Blame the engine where the kernels that it chooses for such a card itself lose by half."""
    if knob.id != "attention" or first.gain < LARGE or first.now is None or gpus is None:
        return None
    known = {gpu_named(one.name) for one in gpus.samples if one.name}
    native = {_NATIVE.get(gpu.arch.lower()) for gpu in known if gpu}
    return "software_bug" if native == {str(first.now.side)} else None


def _effect(better: Sequence[Shift]) -> Effect:
    """Turn the gains of the better side into the losses of the other."""

    def lost(*of: str) -> Interval | None:
        told = [
            (1 / (1 + one.gain) - 1) * 100
            for one in better
            if one.of.split(",")[0] in of and one.unit != "GB/s"
        ]
        return (round(min(told), 1), round(median(told), 1), round(max(told), 1)) if told else None

    return Effect(lost("decode", "itl", ""), lost("prefill"), "the test that was written down")


def _hangs_on(knob: Knob, found: Sequence[Shift]) -> Outcome:
    """Tell what the rate hangs on by what it loses where there is less of it."""
    if not found:
        return None
    least = max(found, key=lambda one: abs(one.gain))
    lost = least.gain if least.now is None else 1 / (1 + least.gain) - 1
    if lost > -STILL_HANGS:
        why = f"with less of {knob.title} the rate changes by {lost:+.1%} alone"
        return Cleared(why, tested=_aspects(found))
    if lost > -HANGS_ON:
        return None
    return Finding(
        f"A test shows it: with less of {knob.title} ({least.then.arm.label}) {name_of(least)} changes by"
        f" {lost:.0%}. The rate hangs on the host, and a faster GPU would wait as well.",
        confidence=CONFIDENCE,
        slows=frozenset({"decode", "throughput"}),
        quotes=(least.then.arm.line,),
    )


def _by_outcome(knob: Knob, runs: Sequence[Run], fault: Side) -> Outcome:
    """Judge by what works on one side and fails on the other, where no figure was written down."""
    works = outcomes(runs)
    mended = [side for side, fine in works.items() if fine and side != fault]
    if works.get(fault) is None or not mended:
        return None
    if works[fault]:
        return Cleared(f"{knob.title}: it works either way")
    good = next(run for run in runs if run.side == mended[0])
    bad = next(run for run in runs if run.side == fault)
    return Finding(
        f"A test shows it: {bad.arm.label} fails, {good.arm.label} works.",
        confidence=CONFIDENCE,
        slows=frozenset({"start", "crash"}) if knob.kind != "order" else frozenset(),
        remedy=(f"Keep what works: {good.arm.label}.",),
        quotes=(bad.arm.line, good.arm.line),
    )


def _rules() -> tuple[Rule, ...]:
    tied: dict[str, list[Knob]] = {}
    for knob in all_knobs():
        for cause in dict.fromkeys((*knob.causes, *knob.excludes)):
            tied.setdefault(cause, []).append(knob)
    needs = tuple(
        Need(name, facts, optional=name != "trials")
        for name, facts in (
            ("trials", Trials),
            ("claim", Claim),
            ("gpus", Gpus),
            ("launch", Launch),
            ("info", ServerInfo),
            ("log", ServerLog),
        )
    )
    return tuple(
        Rule(
            CAUSES[cause],
            f"A test that changed {knobs[0].title} shows it.",
            needs,
            _judge(cause, knobs),
        )
        for cause, knobs in tied.items()
    )


RULES = _rules()
