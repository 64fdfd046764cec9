"""What could not be seen, why, what hangs on it, and the command that would show it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from bot.narrator.line import Line
from bot.narrator.looks import title_of
from bot.narrator.wording import lowered, spaced
from tools.judgement import Unchecked
from tools.probes import PROBES
from tools.verdict import Interest

_SHOWN = 3
_TYPED = re.compile(r"Like: (.+)")  # what a person would type, by the docstring of a probe
_STATE = re.compile(r"\b(?:Read|Sample|Grep)[A-Z]\w+: (?:(?:Not there|Failed|Unreadable): )?")
_NEVER = re.compile(r"nothing tells of [A-Z]\w+(?:; )?")
_ASIDE = re.compile(r" \([^()]*\)")


def could_not_check(unchecked: Sequence[Unchecked], asked: Interest) -> Iterator[Line]:
    """Tell what is open: looks that failed, then what the facts do not decide, then looks not taken."""
    groups = _by_reason(unchecked, asked)
    if groups:
        yield Line("heading", "Could not check")
    for group in groups[:_SHOWN]:
        yield Line("item", _missing(group) if group[0].missing else _undecided(group))
    keep = "Keep what they print in a file, for `perfsleuth diagnose`. " if groups else ""
    if left := sum(len(group) for group in groups[_SHOWN:]):
        keep += f"{left} more are open: --json lists them."
    if keep:
        yield Line("said", keep.strip())


def _undecided(group: Sequence[Unchecked]) -> str:
    one = group[0]
    many = len(group) - 1
    more = f" (and {many} more)" if many else ""
    check = f" To check: {lowered(one.how.rstrip('.'))}." if one.how else ""
    return f"Whether {_hypothesis(one)}{more}: {spaced(one.why.rstrip('.'))}.{check}"


def _missing(group: Sequence[Unchecked]) -> str:
    one = group[0]
    docs = [(PROBES[name].__doc__ or "") for name in one.how.split(", ") if name in PROBES]
    nouns = [title_of(doc.strip()) for doc in docs] or [one.how]
    what = " and ".join([nouns[0], *map(lowered, nouns[1:])])
    why = _ASIDE.sub("", _NEVER.sub("", _STATE.sub("", one.why))).strip("; .")
    why = why.split(": ", 1)[0] or "not seen"  # what to do about it was told with the look
    if why.lower().startswith(what.lower()):
        why = why[len(what) :].strip()
    hangs = f"{'Whether' if len(group) == 1 else f'{len(group)} hypotheses wait for it, such as whether'}"
    typed = [found[1].strip().rstrip(".") for doc in docs if (found := _TYPED.search(doc))]
    check = f" To see it: {'; '.join(typed)}." if typed else ""
    tail = " hangs on it" if len(group) == 1 else ""
    return f"{what}: {why}. {hangs} {_hypothesis(one)}{tail}.{check}"


def _hypothesis(one: Unchecked) -> str:
    return lowered(one.rule.hypothesis.rstrip("."))


def _by_reason(unchecked: Iterable[Unchecked], asked: Interest) -> list[list[Unchecked]]:
    """Group hypotheses that wait for the same thing: refused looks first, looks nobody took last.

    Among them first what can be settled, and what stops a server if that was the question.
    """
    groups: dict[str, list[Unchecked]] = {}
    for one in unchecked:
        groups.setdefault(one.why, []).append(one)
    return sorted(groups.values(), key=lambda group: _order(group, asked))


def _order(group: Sequence[Unchecked], asked: Interest) -> tuple[float, ...]:
    one = group[0]
    beside = asked.stopped and not any(each.rule.cause.stops for each in group)
    return _kind(one), beside, not one.how, -one.suspicion, -len(group)


def _kind(one: Unchecked) -> int:
    if not one.missing:
        return 1
    return 2 if one.why.startswith("nothing tells") else 0
