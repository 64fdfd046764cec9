"""A model's prose is told where it stands, and the plain text where it does not; ideas stand apart."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from bot import narrator, telling
from bot.agent.agent import Agent
from bot.agent.asking.model import Models
from bot.agent.asking.reply import Finish, Reply
from bot.agent.asking.spending import Spending
from bot.agent.asking.trouble import ModelTrouble, OverBudget
from bot.agent.hypotheses import Hypothesis
from bot.agent.prose import explain, follow_up
from bot.demo import shipped
from bot.investigate import Judged, conclude, investigate
from bot.letter import Letter
from bot.narrator import Explanation, Line
from bot.planner import Playbook
from bot.question import Question
from bot.report import report
from bot.settings import Budgets, ModelSettings, Settings
from bot.slack.blocks import render
from tests.agent.planning import recorded
from tests.agent.voices import CASES, judged
from tests.fakes.models import DOWN, FakeModel, says
from tools.probes import PROBES
from tools.rules import RULES

QUESTION = Question.of(shipped().question, ["CT129"])
TRUE = (
    "The PCIe links of both GPUs run at Gen1 under load, although card and slot can do Gen4 [E14]. "
    "That costs prefill about 51 % and decode about 3 % [E14]. "
    "A decode step takes 58.2 ms [E3]."
)
FALSE = "Decode runs at 983 tok/s [E3]. NCCL is the cause [E6]."


@cache
def ct129() -> Judged:
    return conclude(QUESTION, shipped().evidence(PROBES))


class Mouth:
    """Says one thing, and remembers what it was told."""

    def __init__(self, said: str | Exception, finish: Finish = "stop") -> None:
        self._said, self._finish = said, finish
        self.given = ""
        self.system = ""

    def ask(
        self, system: str, messages: Any, tools: Any = (), *, max_output_tokens: int | None = None
    ) -> Reply:
        assert not tools
        assert max_output_tokens is not None
        self.system, self.given = system, "\n".join(one.text for one in messages)
        if isinstance(self._said, Exception):
            raise self._said
        return Reply(self._said, finish=self._finish)


def test_sentences_that_stand_are_told_with_the_looks_that_they_cite() -> None:
    made = explain(Mouth(TRUE), QUESTION, ct129())
    assert [line.cites for line in made.lines] == [("E14",), ("E14",), ("E3",)]
    assert all("[" not in line.text and line.kind == "text" for line in made.lines)
    assert made.remarks == made.dropped == ()


def test_a_sentence_that_does_not_stand_is_left_out_and_counted() -> None:
    made = explain(Mouth(f"{TRUE} Decode runs at 983 tok/s [E3]."), QUESTION, ct129())
    assert len(made.lines) == 3
    assert [text for text, _ in made.dropped] == ["Decode runs at 983 tok/s."]
    assert made.remarks == ("1 sentence of the model left out: not found in the looks.",)


@pytest.mark.parametrize(
    "said",
    [FALSE, "A decode step takes 58.2 ms [E3].", f"A decode step takes 58.2 ms [E3]. {FALSE}"],
)
def test_where_less_than_two_sentences_or_less_than_half_stand_the_plain_text_stands(
    said: str,
) -> None:
    made = explain(Mouth(said), QUESTION, ct129())
    assert made.lines == ()
    assert "the plain text stands" in made.remarks[0]


@pytest.mark.parametrize("said", ["", "   \n", "```\n```", "{}"])
def test_an_empty_answer_tells_nothing(said: str) -> None:
    made = explain(Mouth(said), QUESTION, ct129())
    assert made.lines == ()
    assert all(
        line.text
        for line in narrator.verdict(ct129().verdict, None, made)
        if isinstance(line, Line)
    )


@pytest.mark.parametrize(
    "trouble",
    [ModelTrouble("It did not answer in time (60 s)."), OverBudget("The bound is reached.")],
)
def test_a_model_that_does_not_answer_is_remarked_upon(trouble: ModelTrouble) -> None:
    made = explain(Mouth(trouble), QUESTION, ct129())
    assert made.lines == ()
    assert made.remarks[0].endswith("the plain text stands.")
    assert made.exchanges[0].trouble == str(trouble)


def test_what_the_person_was_told_already_is_not_remarked_upon_again() -> None:
    dead = ModelTrouble("openai:qwen3 did not answer in time (60 s).")
    again = explain(Mouth(dead), QUESTION, ct129(), trouble=str(dead))
    assert again.remarks == ()
    assert again.exchanges[0].trouble == str(dead)
    assert len(explain(Mouth(dead), QUESTION, ct129(), trouble="The key is refused.").remarks) == 1


@pytest.mark.parametrize("as_json", [False, True])
def test_a_dead_model_is_told_of_once_in_an_investigation(
    as_json: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    with FakeModel(DOWN) as model:
        one = ModelSettings(name="openai:fake", base_url=model.base_url)
        agent = Agent.of(Settings(models=(one,)), {})
        assert agent
        planner = agent.planner(Playbook(PROBES, RULES, {}))
        telling.follow(
            QUESTION,
            "CT129",
            investigate(QUESTION, planner, recorded()),
            as_json=as_json,
            explain=lambda end: agent.explain(QUESTION, end, planner),
        )
    told = capsys.readouterr().out
    assert told.count("HTTP 500") == 1
    if as_json:
        assert json.loads(told)["remarks"][0].startswith("The model does not answer (openai:fake")


def test_a_last_sentence_that_was_cut_is_dropped() -> None:
    made = explain(Mouth(f"{TRUE} The kernel log could", "length"), QUESTION, ct129())
    assert len(made.lines) == 3


def test_what_is_said_twice_is_told_once() -> None:
    assert len(explain(Mouth(f"{TRUE} {TRUE}"), QUESTION, ct129()).lines) == 3


def test_host_text_is_given_as_fenced_data_and_never_in_the_system_prompt() -> None:
    mouth = Mouth(TRUE)
    explain(mouth, QUESTION, ct129())
    assert "580.95.05" not in mouth.system
    assert "don't leave perf" not in mouth.system
    assert "<<" in mouth.given
    assert "1,431" in mouth.given


def test_the_prose_follows_the_figures_and_the_ideas_stand_apart_before_what_was_excluded() -> None:
    idea = Hypothesis("The riser is worn out", "reseat it", ("E14",))
    made = explain(Mouth(TRUE), QUESTION, ct129(), supposed=[idea])
    told = list(narrator.verdict(ct129().verdict, QUESTION.interest, made))
    texts = [part.text if isinstance(part, Line) else "table" for part in told]
    prose = texts.index("In a model's words, each sentence checked against the looks")
    assert texts.index("table") < prose < texts.index("What to do")
    ideas = texts.index("Unproven ideas of the model")
    assert prose < ideas < texts.index("Not the cause, and why")
    assert texts[ideas + 1] == "The riser is worn out. To test: reseat it."


def test_an_idea_that_invents_is_left_out_and_counted() -> None:
    ideas = [Hypothesis("The cards draw 983 W", "look", ("E14",))]
    made = explain(Mouth(TRUE), QUESTION, ct129(), supposed=ideas)
    assert made.ideas == ()
    assert made.remarks == ("1 idea of the model names what no look holds, and so is left out.",)


def test_without_a_model_the_story_and_the_report_are_what_they_were() -> None:
    verdict, evidence = ct129().verdict, ct129().evidence
    assert not {"explanation", "ideas"} & report("CT129", "", verdict, evidence).keys()
    made = explain(Mouth(TRUE), QUESTION, ct129())
    with_it = report("CT129", "", verdict, evidence, made)
    assert with_it["schema"] == 1
    assert [one["evidence"] for one in with_it["explanation"]] == [["E14"], ["E14"], ["E3"]]
    assert with_it["verdict"] == report("CT129", "", verdict, evidence)["verdict"]


def test_a_follow_up_is_answered_by_what_stands_or_not_at_all() -> None:
    asked = "how is decode with other prompts?"
    mouth = Mouth("The accept length is 3.20 on today's prompts [E3].")
    made = follow_up(mouth, QUESTION, ct129(), asked)
    assert [line.text for line in made.lines] == ["The accept length is 3.20 on today's prompts."]
    assert asked in mouth.given
    assert asked not in mouth.system
    assert follow_up(Mouth(FALSE), QUESTION, ct129(), asked).lines == ()


def test_over_real_http_what_was_said_and_given_is_kept_with_the_case() -> None:
    with FakeModel([says(TRUE)]) as model:
        settings = [ModelSettings(name="openai:qwen3", base_url=model.base_url)]
        made = explain(Models(settings, Spending(Budgets())), QUESTION, ct129())
    assert len(made.lines) == 3
    (kept,) = made.exchanges_kept()
    assert kept["purpose"] == "prose"
    assert kept["said"]["text"] == TRUE


def test_the_command_explains_where_a_model_is_configured_and_only_there(tmp_path: Path) -> None:
    case = tmp_path / "case.json"
    case.write_text(shipped().dump(), encoding="utf-8")
    with FakeModel([says(TRUE)] * 2) as model:
        (tmp_path / "hosts.toml").write_text(
            f'[[models]]\nname = "openai:qwen3"\nbase_url = "{model.base_url}"\n', encoding="utf-8"
        )

        def run(*more: str) -> Any:
            done = subprocess.run(
                [sys.executable, "-m", "bot", "replay", str(case), "--json", *more],
                capture_output=True, text=True, check=False, timeout=120,
                env={"PERFSLEUTH_HOSTS": str(tmp_path / "hosts.toml"), "PATH": "/usr/bin:/bin"},
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
            return json.loads(done.stdout)

        assert len(run()["explanation"]) == 3
        assert "explanation" not in run("--no-explain")


def test_a_remark_of_ours_is_no_quotation_of_a_host_in_slack() -> None:
    question, end = judged(next(one for one in CASES if one.name == "xid-01-hbm-failing"))
    remark = "The model gave no explanation: the plain text stands."
    parts = narrator.verdict(end.verdict, question.interest, Explanation(remarks=(remark,)))
    letter = Letter(key="run:7:x", kind="verdict", channel="C1", run=7, parts=tuple(parts))
    told = [part for block in render(letter, {}).blocks for part in block.get("elements", ())]
    quotes = [json.dumps(part) for part in told if part["type"] == "rich_text_quote"]
    assert any("Xid" in one for one in quotes)
    assert not any(remark in one for one in quotes)
    assert any(remark in json.dumps(part) for part in told)
