"""A typical investigation of CT129 stays small: counted over all that the server received, with a real tokenizer."""

from __future__ import annotations

import json
from typing import Any

from dashscope.tokenizers.tokenizer import get_tokenizer

from bot.agent.asking.model import Models
from bot.agent.asking.patient import Patient
from bot.agent.asking.spending import Spending
from bot.agent.planning.planner import ModelPlanner
from bot.agent.prose import explain
from bot.demo import shipped
from bot.investigate import Judged, investigate
from bot.planner import Playbook
from bot.question import Question
from bot.settings import ModelSettings
from tests.agent.planning import recorded
from tests.fakes.models import FakeModel, calls
from tools.probes import PROBES
from tools.rules import RULES

INPUT, OUTPUT, TURNS = 15_000, 1_500, 5
PROSE = (
    "Both GPUs' PCIe links run at Gen1 under load, while card and slot can do Gen4 [E15]. "
    "The step model puts the loss at 51 % of prefill and 3.3 % of decode [E15]. "
    "CUDA graphs are captured and used in all 170 decode lines [E3]. "
    "A bridge of NVLink would give decode 4 %, and a repaired link nearly all of that [E15]. "
    "The prefix cache is off, so every turn of a chat is read again [E3]. "
    "Decode stands at 92 % of what this model can reach here [E15]. "
)
SCRIPT: list[Any] = [
    calls(
        ("excerpt", {"look": "E3", "around": "custom_allreduce"}),
        ("find_argument", {"text": "disable_piecewise_cuda_graph"}),
        ("GrepServerLog", {"text": "retract"}),
    ),
    calls(("what_if", {"change": "link repaired"}), ("what_if", {"change": "nvlink"})),
    calls(("excerpt", {"look": "E8"}), ("SampleGpus", {"seconds": 8})),
    calls(
        ("suppose", {"hypothesis": "The riser or slot holds both links at Gen1.", "test": "Swap the riser of one card and read its link under load.", "looks": ["E8", "E15"]}),
        ("finish", {}),
    ),
    PROSE,
]  # fmt: skip


def test_a_typical_investigation_takes_few_tokens_and_at_most_five_turns() -> None:
    question = Question.of(shipped().question, ["CT129"])
    with FakeModel(SCRIPT) as model:
        given = ModelSettings(name="openai:fake", base_url=model.base_url)
        models = Models([given], Spending())
        planner = ModelPlanner(Playbook(PROBES, RULES, {}), Patient(models))
        *_, end = investigate(question, planner, recorded())
        assert isinstance(end, Judged)
        explained = explain(
            models,
            question,
            end,
            computed=planner.computed,
            supposed=planner.ideas(end.evidence),
        )
    assert explained.lines
    encode = get_tokenizer("qwen-7b-chat").encode
    received = [
        json.dumps([asked.messages, asked.body.get("tools") or []], ensure_ascii=False)
        for asked in model.asked
    ]
    sent = [
        json.dumps(one["message"], ensure_ascii=False) if isinstance(one, dict) else one
        for one in SCRIPT
    ]
    tokens_in = sum(len(encode(text)) for text in received)
    tokens_out = sum(len(encode(text)) for text in sent)
    assert len(model.asked) == len(SCRIPT) <= TURNS
    assert 5_000 < tokens_in <= INPUT, [len(encode(text)) for text in received]
    assert 200 < tokens_out <= OUTPUT
