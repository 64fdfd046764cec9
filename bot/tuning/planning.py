"""The plan of a campaign is made: a verdict on the host, what could help, and what is left out, with why."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from bot.investigate import Event, Judged, investigate
from bot.narrator.proposed import WORDS, written
from bot.planner import Playbook
from bot.proposal import NotPossible, Wanted, propose
from bot.question import Question
from bot.tuning.plan import MOST, candidates, gain_of, hopeless, takes_s, worth
from bot.tuning.tuning import Tuning
from tools.change import Plan, Proposal
from tools.change.keep_rule import Goal
from tools.errors import HostError
from tools.host import Host
from tools.probes import PROBES
from tools.rules import RULES

Scope = Mapping[str, Any]
_Left = list[tuple[str, str]]
_PHYSICS = "by the step model"  # how a prediction begins that is to be weighed anew


class NothingHelps(NotPossible):
    """There is nothing to plan; `left_out` says of each change why it is not tried."""

    def __init__(self, host: str, goal: Goal, left_out: Sequence[tuple[str, str]]) -> None:
        self.left_out = tuple(left_out[:MOST])
        self.sentence = f"Nothing that I could try on {host} is predicted to help {WORDS[goal]}."
        whys = "".join(f" {name}: {why}." for name, why in self.left_out)
        super().__init__(f"{self.sentence}{whys}")


def plan_for(
    host: Host,
    tuning: Tuning,
    scope: Scope,
    hosts: Collection[str] = (),
    tell: Callable[[Event], None] = lambda _event: None,
) -> Plan:
    """Look at the host and return what a person can approve. Nothing is changed by it.

    `hosts` are names that are known; `tell` hears of each look. Raises NotPossible where nothing is
    predicted to help, HostError where the host cannot be asked.
    """
    end = _judged(host, scope, hosts, tell)
    found, left_out = _proposals(host, end, tuning.goal, scope)
    chosen: list[tuple[Proposal, str]] = []
    for one, why in sorted(found, key=lambda pair: -worth(pair[0], tuning.goal)):
        spent_s = sum(takes_s(each) for each, _ in chosen)
        if len(chosen) == MOST or spent_s + takes_s(one) > tuning.budget_s:
            left_out.append((written(one.change), "there is no time left for it in the budget"))
        else:
            chosen.append((one, why))
    if not chosen:
        raise NothingHelps(host.name, tuning.goal, left_out)
    return Plan(
        goal=tuning.goal,
        budget_s=tuning.budget_s,
        proposals=tuple(one for one, _ in chosen),
        sources=tuple(why for _, why in chosen),
        left_out=tuple(left_out),
    )


def anew(host: Host, planned: Proposal, scope: Scope) -> Proposal:
    """Propose a change of a plan on the server as it is now; raises as `propose` does."""
    told = planned.predicted
    given = None if told.why.startswith(_PHYSICS) else told
    wish = Wanted(change=planned.change, goal=planned.keep.goal, predicted=given)
    return propose(host, wish, scope)


def _judged(
    host: Host, scope: Scope, hosts: Collection[str], tell: Callable[[Event], None]
) -> Judged:
    question = Question.of(f"tune {host.name}", hosts)
    for event in investigate(question, Playbook(PROBES, RULES, scope), host):
        if isinstance(event, Judged):
            if all(one.output is None or one.output.lost for one in event.evidence):
                raise HostError(
                    next((one.trouble for one in event.evidence), f"{host.name} answers nothing.")
                )
            return event
        tell(event)
    raise AssertionError("an investigation ends with a verdict")


def _proposals(
    host: Host, end: Judged, goal: Goal, scope: Scope
) -> tuple[list[tuple[Proposal, str]], _Left]:
    found: list[tuple[Proposal, str]] = []
    left_out: _Left = []
    for wanted in candidates(end, goal):
        name = written(wanted.change)
        if wanted.predicted is not None and gain_of(wanted.predicted, goal) is None:
            left_out.append((name, f"nothing is predicted of it for {goal}"))
            continue
        try:
            one = propose(host, wanted, scope)
        except NotPossible as why:
            left_out.append((name, str(why).rstrip(".")))
            continue
        if why_not := hopeless(one, goal):
            left_out.append((name, why_not))
        else:
            found.append((one, wanted.why))
    return found, left_out
