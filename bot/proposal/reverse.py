"""The change that takes a kept change back."""

from __future__ import annotations

from bot.proposal.wanted import NotPossible
from bot.proposal.words import typed
from tools.change import Change, Proposal
from tools.change.change import Value
from tools.secrets import DROPPED


def reverse(proposal: Proposal) -> Change:
    """Return what makes the old command line of the new one; raise NotPossible where that is not known."""
    change = proposal.change
    if change.env or change.unset_env:
        raise NotPossible(
            "That change was of variables, whose earlier values I do not keep: name what they are to be."
        )
    before: dict[str, Value] = {}
    gone: list[str] = []
    for name in (*change.set, *change.unset):
        edit = next((one for one in proposal.edits if _is_of(name, one.drop)), None)
        if edit is not None and edit.takes is None:
            raise NotPossible(
                f"--{name.replace('_', '-')} takes several values: name those it is to have."
            )
        value = _value(proposal.old, edit.drop if edit else ())
        if value is None:
            gone.append(name)
        else:
            before[name] = value
    return Change(set=before, unset=tuple(gone))


def _is_of(name: str, drop: tuple[str, ...]) -> bool:
    return any(one.lstrip("-").replace("-", "_") == name for one in drop)


def _value(old: tuple[str, ...], drop: tuple[str, ...]) -> Value | None:
    """Return what a flag had in a command line: True for a switch; None where it did not stand there."""
    for at, word in enumerate(old):
        head, equals, value = word.partition("=")
        if head not in drop:
            continue
        following = next(iter(old[at + 1 : at + 2]), "--")
        told = value if equals else True if following.startswith("--") else following
        if told == DROPPED:
            raise NotPossible(f"The earlier value of {head} is not one that I keep: name it.")
        return told if told is True else typed(str(told))
    return None
