"""An investigation of a recorded host with a scripted model behind real HTTP, for the tests of planning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from bot.agent.asking.model import Models
from bot.agent.asking.patient import Patient
from bot.agent.asking.spending import Spending
from bot.agent.planning.planner import ModelPlanner
from bot.demo import shipped
from bot.investigate import Asking, Event, Judged, Learned, Noted, investigate
from bot.planner import Playbook
from bot.question import Question
from bot.settings import Budgets, ModelSettings
from tests.fakes.models import FakeModel, calls
from tools.evidence import Evidence
from tools.host import Asks, Output
from tools.hosts.replay import ReplayHost
from tools.probes import PROBES
from tools.rules import RULES

FINISH = calls(("finish", {}))
GREP = '{"needle": "retract", "matches": ["[2026-11-24 06:00:01 TP0] KV cache pool is full. #retracted_reqs: 1"], "count": 1}'
ANSWERS = {'GrepServerLog{"text": "retract"}': Output(stdout=GREP)}


class Host(ReplayHost):
    """A recorded host that notes each batch it was asked."""

    def __init__(self, name: str, answers: Mapping[str, Output]) -> None:
        super().__init__(name, answers)
        self.batches: list[list[str]] = []

    def answer(self, probes: Sequence[Asks], /) -> Sequence[Output]:
        self.batches.append([probe.key for probe in probes])
        return super().answer(probes)


@dataclass
class Told:
    """What happened."""

    events: list[Event]
    planner: ModelPlanner
    host: Host
    model: FakeModel

    @property
    def remarks(self) -> list[str]:
        return [event.text for event in self.events if isinstance(event, Noted)]

    @property
    def end(self) -> Judged:
        (end,) = [event for event in self.events if isinstance(event, Judged)]
        return end

    @property
    def looks(self) -> list[Evidence]:
        return [event.look for event in self.events if isinstance(event, Learned)]

    @property
    def rounds(self) -> list[list[str]]:
        return [
            [type(probe).__name__ for probe in event.probes]
            for event in self.events
            if isinstance(event, Asking)
        ]


@cache
def _answers() -> Mapping[str, Output]:
    looks = shipped().evidence(PROBES)
    return {look.probe.key: look.output for look in looks if look.probe and look.output}


def recorded(more: Mapping[str, Output] = ANSWERS) -> Host:
    return Host("CT129", {**_answers(), **more})


def planned(
    script: Any,
    host: Host | None = None,
    *,
    budgets: Budgets | None = None,
    text: str = "",
    **settings: Any,
) -> Told:
    """Investigate CT129; the playbook's looks are recorded, of others those of `ANSWERS`."""
    budgets = budgets or Budgets()
    host = host or recorded()
    with FakeModel(script) as model:
        given = ModelSettings(name="openai:fake", base_url=model.base_url, **settings)
        models = Models([given], Spending(budgets))
        planner = ModelPlanner(Playbook(PROBES, RULES, {}), Patient(models), budgets=budgets)
        question = Question.of(text or shipped().question, ["CT129"])
        events = list(investigate(question, planner, host))
    return Told(events, planner, host, model)
