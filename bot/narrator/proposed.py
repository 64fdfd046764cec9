"""A proposal in words: what is changed, what it does, when it is kept, how it is undone; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from bot.narrator.gained import gain
from bot.narrator.line import Line, Part
from tools.change import Change, KeepRule, Predicted, Proposal
from tools.change.keep_rule import Goal
from tools.change.proposal import Load

WORDS: dict[Goal, str] = {
    "decode": "decode",
    "prefill": "prefill",
    "ttft": "the time to the first token",
    "throughput": "throughput",
}
LOADS: dict[Load, str] = {
    "burst": "a short burst",
    "repeated": "a short burst whose long prompt comes twice, so that a cache can show",
    "serving": "the serving benchmark",
}
_MANY = 8  # requests of traps and remarks that a tired reader takes in


def proposed(proposal: Proposal, why: str = "") -> Iterator[Part]:
    """Tell all that an approval is bound to; `why` is what it is the remedy of."""
    yield Line("verdict", headline(proposal))
    yield from difference(proposal)
    if why:
        yield Line("text", f"Because: {why.rstrip('.')}.")
    yield Line("heading", "What happens")
    yield Line("item", f"Expected: {expected(proposal.predicted)}.")
    yield from (Line("item", one) for one in proposal.interrupts)
    yield Line("item", _measured(proposal))
    yield Line("item", kept_if(proposal.keep))
    yield Line("item", f"Else it is taken back: {lowered(proposal.undo)}")
    yield Line("item", dead_man(proposal))
    if proposal.traps:
        yield Line("heading", "Know before")
        yield from (Line("item", one) for one in proposal.traps[:_MANY])
        if more := len(proposal.traps) - _MANY:
            yield from [Line("said", f"and {more} more.")] if more > 0 else []
    yield Line("heading", "The whole command line then")
    yield Line("whole", " ".join(proposal.new))
    if proposal.change.env or proposal.change.unset_env:
        yield Line("said", "Variables are told above; all others stay as they are.")


def headline(proposal: Proposal) -> str:
    """Say in one line what is proposed, short enough for a title."""
    words = [*_changes(proposal)]
    what = ", ".join(words) if len(words) < 3 else f"{len(words)} changes"
    return f"Proposed for {proposal.host}:{proposal.port}: {what}."


def difference(proposal: Proposal) -> Iterator[Line]:
    """Yield the words that go out, then those that come in; a phone shows each in a line."""
    old, new = proposal.old, proposal.new
    out: list[str] = []
    come: list[str] = []
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            out += _flags(old[a:b])
            come += _flags(new[c:d])
    yield from (Line("test", f"- {one}") for one in [*out, *proposal.change.unset_env])
    come += [f"{name}={value}" for name, value in proposal.change.env.items()]
    yield from (Line("test", f"+ {one}") for one in come)


def in_short(proposal: Proposal) -> str:
    """Say for a dialog which host is restarted with which change."""
    return (
        f"{proposal.host}:{proposal.port} is restarted: {', '.join(_changes(proposal))}. "
        f"{proposal.interrupts[0] if proposal.interrupts else ''}"
    ).strip()


def written(change: Change) -> str:
    """Write a change as people type it: "--chunked-prefill-size 4096, without --disable-radix-cache"."""
    parts = [_typed(name, value) for name, value in change.set.items()]
    parts += [f"without --{name.replace('_', '-')}" for name in change.unset]
    parts += [f"{name}={value}" for name, value in change.env.items()]
    parts += [f"without {name}" for name in change.unset_env]
    return ", ".join(parts)


def _typed(name: str, value: object) -> str:
    shown = f"--{name.replace('_', '-')}"
    return shown if value is True else f"{shown} {value}"


def expected(predicted: Predicted) -> str:
    """Say what physics expects, or that it cannot tell."""
    parts = [
        f"{name} {gain(pct) if any(pct) else 'as it is'}"
        for name, pct in (("decode", predicted.decode_pct), ("prefill", predicted.prefill_pct))
        if pct is not None
    ]
    if not parts:
        return f"not predicted{f': {lowered(predicted.why)}' if predicted.why else ''}"
    return f"{', '.join(parts)}{f', {predicted.why}' if predicted.why else ''}".rstrip(".")


def kept_if(rule: KeepRule) -> str:
    """Say when it is kept."""
    if rule.anyway:
        return (
            "Kept whatever is measured, as long as nothing fails: it takes an earlier change back."
        )
    return (
        f"Kept if {WORDS[rule.goal]} is better by more than {rule.better_pct:g} % and more than its interval, "
        f"nothing else is worse by more than {rule.worse_pct:g} %, and nothing fails."
    )


def _measured(proposal: Proposal) -> str:
    drain = proposal.bounds.drain_s
    waits = f"waits up to {drain:.0f} s for requests that run" if drain else "waits for no request"
    return (
        f"I measure before and after: {proposal.repeats} runs each of {LOADS[proposal.load]}. The restart {waits}, "
        f"and may take up to {proposal.bounds.ready_s / 60:.0f} min to answer."
    )


def dead_man(proposal: Proposal) -> str:
    """Say what happens when we die meanwhile."""
    silence_s = proposal.bounds.silence_s
    told = f"{silence_s / 60:.0f} min" if silence_s >= 120 else f"{silence_s:.0f} s"
    return f"If I fall silent for {told}, the host brings the old server back by itself."


def _changes(proposal: Proposal) -> Iterator[str]:
    change = proposal.change
    for name, value in change.set.items():
        flag = f"--{name.replace('_', '-')}"
        before = _before(proposal.old, flag)
        was = f" (was {before})" if before and value is not True else ""
        yield f"{flag}{'' if value is True else f' {value}'}{was}"
    yield from (f"without --{name.replace('_', '-')}" for name in change.unset)
    yield from (f"{name}={value}" for name, value in change.env.items())
    yield from (f"without {name}" for name in change.unset_env)


def _before(old: Sequence[str], flag: str) -> str:
    for at, word in enumerate(old):
        name, equals, value = word.partition("=")
        if name == flag:
            return value if equals else next(iter(old[at + 1 : at + 2]), "")
    return ""


def _flags(words: Sequence[str]) -> list[str]:
    """Join each flag with its values, one flag a line."""
    lines: list[str] = []
    for word in words:
        if word.startswith("--") or not lines:
            lines.append(word)
        else:
            lines[-1] += f" {word}"
    return lines


def lowered(text: str) -> str:
    """Write a sentence as the end of another one."""
    return text[:1].lower() + text[1:] if text[1:2].islower() else text
