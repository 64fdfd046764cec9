"""A plan before it is approved, and the ledger of what was tried; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.narrator import Line, Part, Table
from bot.narrator.gained import gain
from bot.narrator.proposed import LOADS, WORDS, dead_man, kept_if, lowered
from bot.narrator.proposed import written as told
from bot.narrator.wording import raised
from bot.tuning.campaign import Try
from bot.tuning.plan import gain_of, takes_s
from tools.change import Plan, Proposal
from tools.change.keep_rule import Goal

_MOST_KNOWN = 8  # traps and remarks that a tired reader takes in
_RESTARTS = 2  # of a change that is taken back


def of_plan(plan: Plan) -> Iterator[Part]:
    """Tell what would be tried, in which order, and what all of it interrupts."""
    first, tries = plan.proposals[0], len(plan.proposals)
    loads = "; ".join(dict.fromkeys(LOADS[one.load] for one in plan.proposals))
    yield Line("verdict", headline(plan))
    pairs = zip(plan.proposals, plan.sources, strict=True)
    for number, (one, why) in enumerate(pairs, start=1):
        predicted = f"{_predicted(one, plan.goal)} predicted for {WORDS[plan.goal]}"
        yield Line("item", f"{number}. {told(one.change)}: {predicted}. {raised(why.rstrip('.'))}.")
    yield Line("heading", "What happens")
    yield Line("item", in_time(plan))
    yield Line("item", _restarts(tries))
    yield from (Line("item", one) for one in first.interrupts)
    yield Line(
        "item",
        f"Each change is measured before and after, {first.repeats} runs of the same load each: {loads}.",
    )
    yield Line("item", kept_if(first.keep))
    yield Line("item", f"Else it is taken back before the next: {lowered(first.undo)}")
    yield Line(
        "item",
        "It ends when the plan or its time is over, when somebody stops it, when somebody else changes the server, "
        "and when a person is needed.",
    )
    yield Line("item", dead_man(first))
    yield from _known_before(plan)
    if plan.left_out:
        yield Line("heading", "Not tried")
        yield from (Line("item", f"{name}: {why.rstrip('.')}.") for name, why in plan.left_out)


def headline(plan: Plan) -> str:
    """Say in one line what is planned."""
    tries = len(plan.proposals)
    what = "one change" if tries == 1 else f"{tries} changes, one at a time,"
    return f"Plan for {plan.host}:{plan.port}: {what} for {WORDS[plan.goal]}."


def _restarts(tries: int) -> str:
    if tries == 1:
        return "The server is restarted once, and once more where the change is taken back."
    return (
        f"The server is restarted up to {_RESTARTS * tries} times: {_RESTARTS} for a change that is taken back, 1 for "
        "one that stays."
    )


def in_time(plan: Plan) -> str:
    """Say how long it takes."""
    minutes = sum(takes_s(one) for one in plan.proposals) / 60
    most = f"{plan.budget_s / 60:.0f}"
    return f"It takes about {minutes:.0f} minutes, and at most {most}: nothing begins that would not fit."


def in_short(plan: Plan) -> str:
    """Say for a dialog which host is restarted how often, and with what."""
    tries = len(plan.proposals)
    names = ", ".join(told(one.change) for one in plan.proposals)
    where = f"{plan.host}:{plan.port} is restarted up to {_RESTARTS * tries} times"
    return f"{where} within {plan.budget_s / 60:.0f} minutes: {names}."


def of_try(one: Try) -> Iterator[Part]:
    """Tell one try as it ends."""
    done = one.end in ("kept", "taken back")
    took_s = one.took_s or None
    yield Line("look" if done else "trouble", f"{one.change}: {one.end}", took_s=took_s)
    yield Line("said", one.why)


def of_campaign(goal: Goal, tries: Sequence[Try], ended: str) -> Iterator[Part]:
    """Tell the ledger: every try, failures too."""
    yield Line("verdict", f"{summary(tries)} {ended}")
    rows = [
        (one.change, _predicted(one.proposal, goal), _measured(one), one.end, one.why.rstrip("."))
        for one in tries
    ]
    if rows:
        yield Table(("change", "predicted", "measured", "end", "why"), tuple(rows))


def summary(tries: Sequence[Try]) -> str:
    """Say in one sentence what came of it."""
    kept = [one for one in tries if one.end == "kept"]
    if not tries:
        return "Nothing was tried."
    return f"{len(kept)} of {len(tries)} change{'' if len(tries) == 1 else 's'} kept."


def _known_before(plan: Plan) -> Iterator[Line]:
    known = dict.fromkeys(trap for one in plan.proposals for trap in one.traps)
    if not known:
        return
    yield Line("heading", "Know before")
    yield from (Line("item", one) for one in list(known)[:_MOST_KNOWN])
    if (more := len(known) - _MOST_KNOWN) > 0:
        yield Line("said", f"and {more} more.")


def _predicted(one: Proposal, goal: Goal) -> str:
    pct = gain_of(one.predicted, goal)
    return gain(pct) if pct else "nothing"


def _measured(one: Try) -> str:
    pct = one.record.judged.gain_pct if one.record and one.record.judged else None
    return gain(pct) if pct else "not measured"
