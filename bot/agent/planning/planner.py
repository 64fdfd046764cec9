"""The planner with a model: the playbook's looks first and in full, then what the model asks for more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bot.agent.asking.patient import Patient, Stopped
from bot.agent.asking.reply import Reply
from bot.agent.asking.trouble import ModelTrouble, OverBudget
from bot.agent.exchange import Exchange, as_json
from bot.agent.hypotheses import Hypothesis
from bot.agent.planning.briefing import briefing
from bot.agent.planning.calls import Done, Wanted, read
from bot.agent.planning.conversation import Turn, noted, shown
from bot.agent.planning.fence import Fence
from bot.agent.planning.mind import PLANNING_S, Mind
from bot.agent.planning.thinking import (
    THOUGHTS,
    ProposeChange,
    Suppose,
    Thought,
    computed,
    think,
)
from bot.investigate import Judged, conclude
from bot.planner import Planner
from bot.question import Question
from bot.settings import Budgets
from tools.change import Change
from tools.evidence import AnyProbe, Evidence
from tools.host import STOPPED

_FRUITLESS = 2  # answers in a row of which nothing could be done, after which it is left alone
_LOST = "it gave no answer"


class ModelPlanner:
    """Plans one investigation. A model can add looks and never take one away.

    `supposed` are the model's unproven ideas, and `computed` is what we worked out for it. `notice`
    is told in the thread when the model is first asked. `trouble` is what ended the planning, where
    something did: the thread has been told.
    """

    def __init__(
        self,
        playbook: Planner,
        models: Patient,
        *,
        scope: Mapping[str, Any] | None = None,
        budgets: Budgets | None = None,
        notice: str = "",
        fence: Fence | None = None,
    ) -> None:
        self.supposed: list[Suppose] = []
        self._changes: list[Change] = []
        self.computed: list[str] = []
        self.beyond = False
        self.trouble = ""
        self._playbook = playbook
        self._scope, self._budgets = dict(scope or {}), budgets or Budgets()
        self._fence = fence or Fence()
        self._mind = Mind(models, self._budgets, self._fence)
        self._done = Done()
        self._remarks: list[str] = []
        self._notice = notice
        self._turn: Turn | None = None  # whose looks are under way
        self._fruitless = 0
        self._over = False

    def next(self, question: Question, evidence: Sequence[Evidence]) -> Sequence[AnyProbe]:
        """Return the playbook's next round; when it has none, what the model asks for, within bounds."""
        if probes := self._playbook.next(question, evidence):
            self.beyond = False
            return probes
        self.beyond = True
        if self._turn:
            self._learn(self._turn, evidence)
        if not self._over and not _answers(evidence):
            self._over = True  # the host does not answer: its trouble is all there is to say
        while not self._over:
            if found := self._ask(question, evidence):
                return found
        return ()

    def remarks(self) -> Sequence[str]:
        """Return what the thread should know of the planning, once."""
        told, self._remarks = tuple(self._remarks), []
        return told

    @property
    def exchanges(self) -> Sequence[Exchange]:
        """All that the model was given and said."""
        return self._mind.exchanges

    def exchanges_kept(self) -> list[dict[str, Any]]:
        """Return what the model was given and said so far, as a case keeps it."""
        return as_json(self.exchanges)

    def changes(self) -> Sequence[Change]:
        """Return what the model would try; it is proposed to people, and approved by them alone."""
        return tuple(self._changes)

    def ideas(self, evidence: Sequence[Evidence]) -> tuple[Hypothesis, ...]:
        """Return the model's unproven ideas; ids that no look has are left out of them."""
        return tuple(
            Hypothesis.of(one.hypothesis, one.test, one.looks, evidence) for one in self.supposed
        )

    def _ask(self, question: Question, evidence: Sequence[Evidence]) -> Sequence[AnyProbe]:
        """Put one turn to the model; return the probes it wants."""
        if self._at_a_bound():
            return ()
        end = conclude(question, evidence)
        self._done.looks.update({look.probe.key: look.id for look in evidence if look.probe})
        reply = self._answer(question, end)
        if reply is None:
            return ()
        wanted = read(reply, self._done, self._port(question), self._budgets.tool_calls)
        turn = Turn.of(reply, wanted)
        self._done.calls += len(wanted.calls) + len(reply.bad)
        for call_id, thought in wanted.thoughts:
            self._think(turn, call_id, thought, end)
        self._mind.add(turn)
        self._goes_on(reply, wanted)
        self._done.looks.update({probe.key: "" for _, probe in wanted.probes})
        self._turn = turn if wanted.probes else None
        return [probe for _, probe in wanted.probes]

    def _answer(self, question: Question, end: Judged) -> Reply | None:
        """Return the model's answer; None, and a remark, where it has none."""
        if self._notice:
            self._remark(self._notice)
            self._notice = ""
        try:
            return self._mind.ask(briefing(question, end, self._fence), self._done)
        except ModelTrouble as why:
            self._without(why)
            return None

    def _without(self, why: ModelTrouble) -> None:
        self._over = True
        if isinstance(why, Stopped):
            return
        self.trouble = str(why)
        if isinstance(why, OverBudget):
            self._remark(f"{str(why).rstrip('.')}: the verdict is from the looks so far.")
        else:
            self._remark(
                f"The model does not answer ({why.inside}): the playbook goes on without it."
            )

    def _goes_on(self, reply: Reply, wanted: Wanted) -> None:
        """Decide whether there is a next turn."""
        if wanted.left:
            self._end(f"calls of tools ({self._budgets.tool_calls})", wanted.left)
        elif wanted.finished:
            self._over = True
        elif reply.finish == "content_filter" and not wanted.probes:
            self._over = True
            self._remark("The model refuses to answer: the playbook goes on without it.")
        elif wanted.probes or any(not isinstance(one, Suppose) for _, one in wanted.thoughts):
            self._fruitless = 0
        elif wanted.thoughts:
            self._over = True  # an idea brings nothing back, so there is nothing to go on with
        else:
            self._nothing_came(reply, wanted)

    def _nothing_came(self, reply: Reply, wanted: Wanted) -> None:
        """An answer without a call that could be made: prose ends the planning, faults may be mended."""
        self._fruitless += 1
        faulty = bool(wanted.calls or reply.bad or reply.empty or reply.finish == "length")
        if not faulty:
            self._over = True  # it says in words that it wants nothing; the words go nowhere
        elif self._fruitless >= _FRUITLESS:
            self._over = True
            self._remark(
                "The model gave no call that could be made: the playbook goes on without it."
            )

    def _at_a_bound(self) -> bool:
        if self._mind.turns >= self._budgets.turns:
            self._end(f"answers of the model ({self._budgets.turns})", ())
        elif self._mind.left_s <= 0:
            self._end(f"time for the model ({PLANNING_S:.0f} s)", ())
        return self._over

    def _end(self, bound: str, left: Sequence[str]) -> None:
        self._over = True
        names = ", ".join(dict.fromkeys(left))
        what = f"Left undone: {names}." if names else "It had not finished."
        self._remark(
            f"The bound on {bound} is reached. {what} The verdict is from the looks so far."
        )

    def _remark(self, text: str) -> None:
        self._remarks.append(text)

    def _think(self, turn: Turn, call_id: str, thought: Thought, end: Judged) -> None:
        self._done.thoughts.add(thought)
        told = think(thought, end)
        if isinstance(thought, Suppose):
            self.supposed.append(thought)
        if isinstance(thought, ProposeChange):
            self._changes.append(thought.change)
        if computed(thought):
            self.computed.append(told)
        asked = " ".join(str(value) for value in thought.model_dump().values() if value)
        turn.answer(call_id, told, noted(_name(thought), asked, told))

    def _learn(self, turn: Turn, evidence: Sequence[Evidence]) -> None:
        """Give the model what its looks brought; what is lost was never seen, and it is told so."""
        looks = {look.probe.key: look for look in evidence if look.probe}
        for call_id, probe in turn.wanted.probes:
            look = looks.get(probe.key)
            if look is None:
                turn.answer(call_id, _LOST, noted(type(probe).__name__, probe.key, _LOST))
                self._done.looks[probe.key] = _LOST
            else:
                turn.answer(call_id, shown(look), "")  # its line stands among the looks
        self._turn = None

    def _port(self, question: Question) -> dict[str, Any]:
        return {**self._scope, **({"port": question.port} if question.port else {})}


def _answers(evidence: Sequence[Evidence]) -> bool:
    """Say whether the host answers; what it lost last is what counts."""
    asked = [look for look in evidence if look.output is not None]
    if not asked or all(look.output and look.output.lost for look in asked):
        return False
    return not any(look.output and look.output.lost == STOPPED for look in asked)


def _name(thought: Thought) -> str:
    return next(name for name, made in THOUGHTS.items() if type(thought) is made)
