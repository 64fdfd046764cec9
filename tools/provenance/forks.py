"""Undecided branches: both arms are taken from the same state, and what they leave is joined."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tools.provenance.scope import Exit, Frame
from tools.provenance.trail import Delta, either, joined
from tools.provenance.values import Raised, Unknown, Value

Signal = tuple[str, Value] | None  # how a statement ends: None, or ("return", value) and its kin
Arm = Callable[[Frame], Signal]


@dataclass(slots=True)
class _Taken:
    signal: Signal
    delta: Delta


def fork(frame: Frame, arms: Sequence[Arm], why: tuple[str, ...]) -> Signal:
    """Take every arm; one that raises is taken to be the one that did not happen."""
    machine, trail = frame.machine, frame.machine.trail
    begin(frame)
    mark = trail.mark()
    machine.doubt.append(why)
    machine.forks += 1
    taken, error = [], None
    try:
        for arm in arms:
            seen = len(machine.events)
            try:
                taken.append(_Taken(arm(frame), trail.since(mark)))
            except Raised as problem:
                error = problem
                del machine.events[seen:]
            trail.undo(mark)
    finally:
        machine.forks -= 1
        machine.doubt.pop()
    if not taken:
        raise error or Raised("no arm can be taken")
    return _go_on(frame, taken, why)


def _go_on(frame: Frame, taken: list[_Taken], why: tuple[str, ...]) -> Signal:
    trail = frame.machine.trail
    staying = [arm for arm in taken if arm.signal is None]
    leaving = [arm for arm in taken if arm.signal is not None]
    kinds = {arm.signal[0] for arm in leaving if arm.signal}
    if not staying and len(kinds) == 1:
        joined(trail, [arm.delta for arm in leaving], why)
        return kinds.pop(), either([arm.signal[1] for arm in leaving if arm.signal], why)
    if not staying:
        last = leaving.pop()
        joined(trail, [last.delta], why)
        _park(frame, leaving, why)
        return last.signal
    joined(trail, [arm.delta for arm in staying], why)
    _park(frame, leaving, why)
    return None


def _park(frame: Frame, leaving: list[_Taken], why: tuple[str, ...]) -> None:
    """Keep the ways out for the end of the block; what follows them happens in doubt."""
    trail = frame.machine.trail
    for arm in leaving:
        if arm.signal is None:
            continue
        whole = trail.since(frame.mark)
        merged = Delta({**whole.after}, {**whole.before}, {**whole.places})
        for spot, value in arm.delta.after.items():
            merged.after[spot] = value
            merged.places[spot] = arm.delta.places[spot]
            merged.before.setdefault(spot, arm.delta.before[spot])
        frame.exits.append(Exit(*arm.signal, merged, why, len(frame.machine.events)))
        frame.machine.doubt.append(why)


def begin(frame: Frame) -> None:
    """Start to log changes for a frame, at its first undecided branch."""
    if frame.mark < 0:
        trail = frame.machine.trail
        trail.open += 1
        frame.mark = trail.mark()


def settle(frame: Frame, kinds: tuple[str, ...], signal: Signal) -> Signal:
    """Join the parked ways out of these kinds with the state and signal at the end of a block."""
    if not frame.exits:
        return signal
    trail, machine = frame.machine.trail, frame.machine
    for parked in [way for way in frame.exits if way.kind in kinds]:
        frame.exits.remove(parked)
        machine.doubt.pop()
        now = trail.since(frame.mark)
        missing = {s: v for s, v in parked.delta.before.items() if s not in now.before}
        now.before.update(missing)
        joined(trail, [parked.delta, now], parked.why)
        if parked.kind == "return":
            ours = signal[1] if signal else None
            signal = "return", either([parked.value, ours], parked.why)
    return signal


def rescue(frame: Frame, error: Raised) -> Signal:
    """Return by the ways out that were parked, as the rest of the call raises; else raise on."""
    ways = [way for way in frame.exits if way.kind == "return"]
    if not ways:
        raise error
    machine, trail = frame.machine, frame.machine.trail
    del machine.events[ways[0].seen :]
    trail.undo(frame.mark)
    joined(trail, [way.delta for way in ways], ways[0].why)
    return "return", either([way.value for way in ways], ways[0].why)


def finish(frame: Frame) -> None:
    """Stop logging for a frame; its doubts end with it."""
    for _ in frame.exits:
        frame.machine.doubt.pop()
    frame.exits.clear()
    if frame.mark >= 0:
        frame.mark = -1
        frame.machine.trail.close()


def alternatives(
    frame: Frame, choices: Sequence[Callable[[Frame], Value]], why: tuple[str, ...]
) -> Value:
    """Evaluate every choice of an undecided expression and return what they can give."""

    def arm(choice: Callable[[Frame], Value]) -> Arm:
        return lambda inner: ("value", choice(inner))

    found: list[Value] = []
    machine = frame.machine
    own = Frame(machine, frame.module, frame, {})
    own.line, own.function = frame.line, frame.function
    try:
        signal = fork(own, [arm(choice) for choice in choices], why)
        found.append(signal[1] if signal else Unknown(why))
    finally:
        finish(own)
    return found[0]
