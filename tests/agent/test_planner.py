"""A model adds looks to the playbook's, within bounds, and never takes one away or makes a verdict worse."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from functools import cache
from typing import Any

import pytest

from bot.agent.asking.patient import Patient, Stopped
from bot.agent.asking.reply import Call, Reply
from bot.agent.asking.trouble import ModelTrouble, OverBudget
from bot.agent.exchange import as_json
from bot.agent.planning.planner import ModelPlanner
from bot.demo import shipped
from bot.investigate import Judged, Learned, Noted, conclude, investigate
from bot.planner import Playbook
from bot.question import Question
from bot.report import report
from bot.settings import Budgets
from tests.agent.planning import ANSWERS, FINISH, GREP, planned, recorded
from tests.fakes.models import calls, says
from tools.case import Case
from tools.errors import Unreachable
from tools.evidence import Evidence
from tools.host import Asks, Output
from tools.probes import PROBES
from tools.rules import RULES

PLAYBOOK = len([one for one in shipped().asked if one.probe != "ReadSourceTexts"])
LOOK = calls(("GrepServerLog", {"text": "retract"}))
QUESTION = Question.of(shipped().question, ["CT129"])


@cache
def alone() -> Any:
    """What the playbook comes to without a model."""
    *_, end = investigate(QUESTION, Playbook(PROBES, RULES, {}), recorded())
    return verdict(end)


def verdict(end: Any) -> Any:
    return report("CT129", "", end.verdict, end.evidence)["verdict"]


def test_the_playbooks_looks_come_first_and_in_full_before_a_model_is_asked_anything() -> None:
    told = planned([LOOK, FINISH])
    assert sum(map(len, told.rounds[:2])) == PLAYBOOK
    assert told.rounds[2] == ["GrepServerLog"]
    assert told.host.batches[2] == ['GrepServerLog{"text": "retract"}']
    assert [look.id for look in told.looks] == [f"E{n}" for n in range(1, PLAYBOOK + 2)]
    assert len(told.model.asked) == 2


def test_a_model_that_wants_nothing_leaves_everything_as_it_was() -> None:
    told = planned(FINISH)
    assert len(told.looks) == PLAYBOOK
    assert told.remarks == []
    assert verdict(told.end) == alone()


def test_probes_of_one_answer_go_out_in_one_batch() -> None:
    told = planned(
        [calls(("GrepServerLog", {"text": "retract"}), ("SampleGpus", {"seconds": 3})), FINISH]
    )
    assert len(told.host.batches[2]) == 2


def test_the_model_reads_facts_and_what_it_looked_for_and_no_raw_answers() -> None:
    told = planned([LOOK, FINISH])
    first, second = told.model.asked
    assert "E15 SampleGpus: 2x RTX A6000" in first.text
    assert "55 tok/s, it was 70" in first.text
    assert "server_args=ServerArgs" not in first.text
    assert "retracted_reqs: 1" in second.last
    assert second.messages[-2]["tool_calls"][0]["function"]["name"] == "GrepServerLog"


def test_nothing_untrusted_stands_in_the_system_prompt_or_outside_a_fence() -> None:
    told = planned([LOOK, FINISH], text="why is CT129 slow? PLANTED-QUESTION")
    boundary = told.model.asked[0].system.split("<<")[1].split(" ")[0]
    for asked in told.model.asked:
        assert "PLANTED" not in asked.system
        assert "A6000" not in asked.system
        for message in asked.messages[1:]:
            text = message.get("content") or ""
            for part in text.split(f"<<{boundary} ")[1:]:
                assert f"{boundary}>>" in part
            outside = "".join(
                part.split(f"{boundary}>>")[-1] for part in text.split(f"<<{boundary} ")
            )
            assert not any(word in outside for word in ("PLANTED", "A6000", "retracted_reqs"))


def test_a_look_that_brings_no_answer_is_told_and_is_no_evidence() -> None:
    told = planned([calls(("ReadStorage", {})), FINISH])
    assert told.remarks == [
        "The disks: no answer (this case holds no answer to it). The verdict does without it."
    ]
    assert len(told.looks) == PLAYBOOK
    assert verdict(told.end) == alone()
    assert "it gave no answer" in told.model.asked[1].last


def test_a_look_that_is_answered_by_a_trouble_is_shown_and_makes_the_verdict_no_worse() -> None:
    absent = {"ReadNcclLog": Output(stdout='{"absent": "no line of NCCL"}')}
    told = planned([calls(("ReadNcclLog", {})), FINISH], recorded(absent))
    assert told.looks[-1].trouble == "Not there: no line of NCCL"
    before, now = alone(), verdict(told.end)
    told_of = ("category", "cause", "headline", "headroom", "next_test")
    assert [now[one] for one in told_of] == [before[one] for one in told_of]
    assert [one["id"] for one in now["causes"]] == [one["id"] for one in before["causes"]]


def test_old_turns_are_a_line_each_and_the_last_one_stands_in_full() -> None:
    script = [
        calls(("excerpt", {"look": "E3", "around": "fired up"})),
        calls(("what_if", {"change": "nvlink"})),
        FINISH,
    ]
    told = planned(script)
    third = told.model.asked[2]
    assert [message["role"] for message in third.messages] == [
        "system",
        "user",
        "assistant",
        "tool",
    ]
    assert "your earlier calls\nexcerpt E3 fired up: " in third.messages[1]["content"]
    assert "NVLink bridge: decode +4 %" in third.last
    assert told.planner.computed[0].startswith("With an NVLink bridge")


def test_at_the_bound_on_calls_it_ends_with_the_verdict_and_says_what_was_left() -> None:
    greedy = calls(*(("GrepServerLog", {"text": f"word {n}"}) for n in range(5)))
    told = planned([greedy], budgets=Budgets(tool_calls=3))
    assert len(told.host.batches[2]) == 3
    assert len(told.model.asked) == 1
    assert told.remarks[0] == (
        "The bound on calls of tools (3) is reached. Left undone: GrepServerLog."
        " The verdict is from the looks so far."
    )
    assert verdict(told.end) == alone()


def test_at_the_bound_on_answers_it_ends_and_says_so() -> None:
    def asks_on(asked: Any) -> Any:
        return calls(("GrepServerLog", {"text": f"word {asked.number}"}))

    told = planned(asks_on, budgets=Budgets(turns=3))
    assert len(told.model.asked) == 3
    assert "This is your last answer." in told.model.asked[2].messages[1]["content"]
    assert told.remarks[-1].startswith("The bound on answers of the model (3) is reached.")


def test_by_default_there_are_at_most_eight_answers_and_twenty_calls() -> None:
    def greedy(asked: Any) -> Any:
        return calls(*(("GrepServerLog", {"text": f"word {asked.number} {n}"}) for n in range(4)))

    told = planned(greedy, budgets=Budgets(tokens_per_investigation=1_000_000))
    assert len(told.model.asked) <= 8
    assert sum(map(len, told.host.batches[2:])) <= 20


def test_no_answers_and_no_calls_allowed_means_the_playbook_alone() -> None:
    told = planned(LOOK, budgets=Budgets(turns=0))
    assert told.model.asked == []
    assert verdict(told.end) == alone()


def test_a_budget_that_is_used_up_ends_the_planning_with_a_sentence() -> None:
    told = planned(LOOK, budgets=Budgets(tokens_per_investigation=1500))
    assert "budget" in told.remarks[0]
    assert told.remarks[0].endswith("the verdict is from the looks so far.")
    assert verdict(told.end) == alone()


def test_a_model_that_repeats_itself_is_told_so_and_left_alone() -> None:
    told = planned([LOOK])
    assert len(told.host.batches) == 3
    assert len(told.model.asked) == 3
    assert "already: E16" in told.model.asked[2].last
    assert told.remarks == [
        "The model gave no call that could be made: the playbook goes on without it."
    ]


def test_ideas_are_kept_apart_with_their_test_and_only_with_looks_that_exist() -> None:
    idea = {
        "hypothesis": "The riser holds the link down.",
        "test": "Swap the riser, read again.",
        "looks": ["E15", "E99"],
    }
    told = planned(calls(("suppose", idea)))
    assert len(told.model.asked) == 1  # an idea brings nothing back
    (kept,) = told.planner.ideas(told.end.evidence)
    assert (kept.text, kept.test, kept.looks) == (idea["hypothesis"], idea["test"], ("E15",))
    assert verdict(told.end) == alone()


def test_what_a_model_says_in_words_goes_nowhere() -> None:
    told = planned("The GPU is on fire [E15]. <!channel> Run `rm -rf /`.")
    assert len(told.model.asked) == 1
    assert told.remarks == []
    assert verdict(told.end) == alone()


def test_a_host_that_does_not_answer_costs_no_model_anything() -> None:
    class Away:
        name = "CT129"

        def answer(self, probes: Any) -> Any:
            raise Unreachable("CT129 cannot be reached")

        def close(self) -> None: ...

    told = planned(LOOK, Away())  # type: ignore[arg-type]
    assert told.model.asked == []
    assert told.remarks == []


class Scripted:
    """A model without a wire."""

    def __init__(self, *replies: Any) -> None:
        self.replies = list(replies)

    def ask(self, *_: Any, **__: Any) -> Reply:
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        assert isinstance(reply, Reply)
        return reply


def of(*replies: Any, **more: Any) -> tuple[ModelPlanner, list[Any]]:
    planner = ModelPlanner(Playbook(PROBES, RULES, {}), Patient(Scripted(*replies)), **more)
    return planner, list(investigate(QUESTION, planner, recorded()))


def test_a_model_that_dies_halfway_leaves_what_it_had_looked_at() -> None:
    look = Reply("", (Call("GrepServerLog", {"text": "retract"}, "a"),), finish="tool_calls")
    _, events = of(look, ModelTrouble("openai:qwen3 did not answer in time (60 s)."))
    assert [event.text for event in events if isinstance(event, Noted)] == [
        "The model does not answer (openai:qwen3 did not answer in time (60 s)): the playbook goes on without it."
    ]
    assert sum(isinstance(event, Learned) for event in events) == PLAYBOOK + 1


def test_of_a_chain_that_is_dead_each_model_is_told_and_that_none_answers_once() -> None:
    _, events = of(ModelTrouble("No model answers: openai:a refused the key; openai:b is away."))
    (noted,) = [event.text for event in events if isinstance(event, Noted)]
    assert noted == (
        "The model does not answer (openai:a refused the key; openai:b is away): the playbook goes on without it."
    )


def test_a_money_bound_says_which() -> None:
    _, events = of(OverBudget("The models' budget for today ($5.00) is used up."))
    (noted,) = [event.text for event in events if isinstance(event, Noted)]
    assert (
        noted
        == "The models' budget for today ($5.00) is used up: the verdict is from the looks so far."
    )


def test_that_the_diagnosed_server_helps_itself_is_said_once() -> None:
    done = Reply("", (Call("finish", {}, "a"),), finish="tool_calls")
    _, events = of(done, notice="It runs on the server under diagnosis.")
    assert [event.text for event in events if isinstance(event, Noted)] == [
        "It runs on the server under diagnosis."
    ]


def test_a_stop_ends_the_waiting_for_a_model_at_once() -> None:
    release, stopped, answered = threading.Event(), threading.Event(), threading.Event()

    class Slow:
        def ask(self, *_: Any, **__: Any) -> Reply:
            stopped.set()
            release.wait(60)
            answered.set()
            return Reply("late")

    with pytest.raises(Stopped):
        Patient(Slow(), stopped=stopped.is_set).ask("", [])
    assert not answered.is_set()
    release.set()


def test_a_model_that_takes_too_long_is_waited_for_no_longer() -> None:
    release = threading.Event()

    class Slow:
        def ask(self, *_: Any, **__: Any) -> Reply:
            release.wait(20)
            return Reply("late")

    with pytest.raises(ModelTrouble, match="too long"):
        Patient(Slow()).ask("", [], within_s=0.3)
    release.set()


def test_others_may_work_while_a_model_is_waited_for() -> None:
    from contextlib import contextmanager

    entered: list[str] = []

    @contextmanager
    def meanwhile() -> Any:
        entered.append("in")
        yield
        entered.append("out")

    class Quick:
        def ask(self, *_: Any, **__: Any) -> Reply:
            return Reply("now")

    assert Patient(Quick(), meanwhile=meanwhile).ask("", []).text == "now"
    assert entered == ["in", "out"]


def test_what_a_model_was_given_and_said_is_kept_with_the_case_and_read_back() -> None:
    told = planned([LOOK, FINISH])
    kept = told.planner.exchanges_kept()
    case = Case.of("CT129", "why?", "captured", told.end.evidence, kept)
    again = Case.load(case.dump(), name="case")
    assert again == case
    first, second = again.exchanges
    assert first["purpose"] == "plan"
    assert first["prompt"].startswith("planner ")
    assert "E15 SampleGpus" in first["given"][0]["text"]
    assert first["said"]["calls"] == ["GrepServerLog {'text': 'retract'}"]
    assert "retracted_reqs" in json.dumps(second["given"])
    assert verdict(conclude(QUESTION, again.evidence(PROBES))) == verdict(told.end)


def test_a_case_without_a_model_is_written_as_it_always_was() -> None:
    assert (
        "exchanges" not in Case.of("CT129", "why?", "captured", shipped().evidence(PROBES)).dump()
    )


def test_an_exchange_keeps_no_secret_that_a_model_made_up_or_saw() -> None:
    told = planned(
        [says("api_key=sk-abcdefghijklmnopqrstuvwx")], text="slow. HF_TOKEN=hf_abcdefghijklmnopqrst"
    )
    assert "abcdefghij" not in json.dumps(as_json(told.planner.exchanges))
    assert "abcdefghij" not in told.model.asked[0].text
    assert told.planner.exchanges[0].reply is not None


def test_a_secret_in_a_log_never_reaches_the_model() -> None:
    hit = GREP.replace("KV cache pool is full", "api_key='sk-abcdefghijklmnopqrstuvwx'")
    told = planned(
        [LOOK, calls(("excerpt", {"look": "E16"})), FINISH],
        recorded({next(iter(ANSWERS)): Output(stdout=hit)}),
    )
    everything = "".join(asked.text for asked in told.model.asked)
    assert "retracted_reqs" in everything
    assert "abcdefghij" not in everything


def test_a_known_look_is_not_asked_again_after_a_restart() -> None:
    before: list[Evidence] = planned([LOOK, FINISH]).looks

    class Silent:
        name = "CT129"

        def answer(self, probes: list[Asks]) -> Any:
            raise AssertionError("nothing is left to ask")

        def close(self) -> None: ...

    refused = Reply("", (Call("GrepServerLog", {"text": "retract"}, "a"),), finish="tool_calls")
    planner = ModelPlanner(Playbook(PROBES, RULES, {}), Patient(Scripted(refused, Reply("done"))))
    events = list(investigate(QUESTION, planner, Silent(), known=before))
    assert [type(event) for event in events] == [Judged]


def test_a_second_look_at_rest_takes_nothing_from_what_was_seen_under_load() -> None:
    watched = next(look for look in shipped().evidence(PROBES) if look.title == "SampleGpus")
    assert watched.output
    told_at_rest = watched.output.stdout.replace(", 94, ", ", 0, ").replace(", 93, ", ", 0, ")
    idle = watched.output.model_copy(update={"stdout": told_at_rest})
    told = planned(
        [calls(("SampleGpus", {"seconds": 3})), FINISH],
        recorded({'SampleGpus{"seconds": 3}': idle}),
    )
    assert told.looks[-1].facts
    now = verdict(told.end)
    assert [now[one] for one in ("category", "cause", "headline")] == [
        alone()[one] for one in ("category", "cause", "headline")
    ]


def test_without_a_model_nothing_of_the_agent_is_imported() -> None:
    script = (
        "import sys, bot.cli, bot.commands, bot.investigate, bot.work\n"
        "print([name for name in sys.modules if name.startswith(('bot.agent.', 'langchain', 'openai'))])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
