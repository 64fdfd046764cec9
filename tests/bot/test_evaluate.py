"""Cases with a known answer: what is counted, and what a model may not make worse."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bot.cli import app
from bot.evaluate import AGENT, OUTSIDE, PLAYBOOK, evaluate, shown
from bot.evaluation import Outside, Spent, Summary, alone, bundles
from bot.investigate import Judged
from bot.narrator import Line, Table
from bot.planner import Planner
from bot.question import Question
from tools.errors import ToolsError
from tools.evidence import AnyProbe, Evidence
from tools.probes import PROBES

DEV = Path(__file__).parents[1] / "scenarios" / "dev"
SOME = ("cpu-05-shm-thread-top", "xid-01-hbm-failing", "idle-01-gen1-idle-only")


@pytest.fixture
def some(tmp_path: Path) -> Path:
    for name in SOME:
        shutil.copytree(DEV / name, tmp_path / "cases" / name)
    return tmp_path / "cases"


def edited(folder: Path, name: str, **more: Any) -> None:
    path = folder / name / "expected.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | more))


@dataclass
class Curious:
    """A planner that asks for two looks once, and remarks on it."""

    beyond: bool = True
    asked: bool = False

    def next(self, question: Question, evidence: Sequence[Evidence]) -> Sequence[AnyProbe]:
        first, self.asked = not self.asked, True
        return [PROBES["ReadGpus"](), PROBES["ReadKernelLog"]()] if first else []

    def remarks(self) -> Sequence[str]:
        return () if self.asked else ("I am curious.",)

    def exchanges_kept(self) -> list[dict[str, Any]]:
        return []


@dataclass
class Said:
    lines: Sequence[str] = ("one", "two")
    dropped: Sequence[str] = ("three",)
    ideas: Sequence[str] = ()


@dataclass
class Talker:
    """A model that looks twice, says three sentences and counts what it took."""

    ends: list[Judged] = field(default_factory=list)

    def planner(self, playbook: Planner, scope: Mapping[str, Any]) -> Curious:
        return Curious()

    def explain(self, question: Question, end: Judged) -> Said:
        self.ends.append(end)
        return Said()

    def spent(self) -> Spent:
        return Spent(turns=2, tokens_in=100, tokens_out=10, usd=0.25)


def test_every_case_of_a_folder_is_judged_and_none_by_its_name(some: Path) -> None:
    made = evaluate(some)
    assert [row.case for row in made.ways[PLAYBOOK]] == sorted(SOME)
    for case in bundles(some):
        told = " ".join(look.source for look in case.looks()) + case.question
        assert not [part for part in case.name.split("-", 2)[2:] if part in told]
    assert Summary.of(made.ways[PLAYBOOK]).category == 1.0
    assert made.words == {}


def test_the_figures_are_those_of_the_scoring_script() -> None:
    rows = evaluate(DEV).ways[PLAYBOOK]
    sums = Summary.of(rows)
    assert sums.cases == len(list(DEV.glob("*/expected.json")))
    assert sums.category >= 0.98
    assert sums.cause >= 0.98
    assert (sums.must_not, sums.undecided) == (0, 0)


def test_a_wrong_category_a_wrong_cause_and_what_must_not_be_said_are_told_apart(
    some: Path,
) -> None:
    right = {row.case: row for row in evaluate(some).ways[PLAYBOOK]}
    name = "xid-01-hbm-failing"
    assert (right[name].right, right[name].cause_right, right[name].wrong) == (True, True, ())
    edited(some, name, category="workload", also_accept_categories=[], must_not=["hardware"])
    row = {one.case: one for one in evaluate(some).ways[PLAYBOOK]}[name]
    assert (row.right, row.wrong) == (False, ("hardware",))
    edited(some, name, category="hardware", causes=["pcie_acs"], must_not=[])
    row = {one.case: one for one in evaluate(some).ways[PLAYBOOK]}[name]
    assert (row.right, row.cause_right, row.wrong) == (True, False, ())
    edited(some, name, causes=[])
    row = {one.case: one for one in evaluate(some).ways[PLAYBOOK]}[name]
    assert row.cause_right is None


def test_with_a_model_the_same_cases_are_judged_again_and_what_it_took_is_summed(
    some: Path,
) -> None:
    talkers: list[Talker] = []

    def speaker() -> Talker:
        talkers.append(Talker())
        return talkers[-1]

    made = evaluate(some, speaker)
    assert len(talkers) == len(SOME)  # each case begins afresh
    sums = Summary.of(made.ways[AGENT])
    assert (sums.tool_calls, sums.turns, sums.tokens_in, sums.tokens_out) == (6, 6, 300, 30)
    assert (sums.kept, sums.dropped, sums.usd) == (6, 3, 0.75)
    assert made.turned_wrong() == []
    told = made.as_json()
    assert told["prompts"] == dict(made.words)
    assert set(told["ways"]) == {PLAYBOOK, AGENT}
    json.dumps(told)


def test_looks_that_files_cannot_answer_change_no_verdict(some: Path) -> None:
    talker = Talker()
    made = evaluate(some, lambda: talker)
    before, after = made.ways[PLAYBOOK], made.ways[AGENT]
    assert [(one.category, one.cause) for one in before] == [
        (one.category, one.cause) for one in after
    ]
    for case, end in zip(bundles(some), talker.ends, strict=True):
        assert len(end.evidence) - len(case.looks()) in (0, 1)  # a claim of the question at most


def test_a_verdict_that_a_model_turned_wrong_is_named(some: Path) -> None:
    made = evaluate(some, Talker)
    rows = list(made.ways[AGENT])
    rows[1] = replace(rows[1], right=False, category="no_fault")
    worse = replace(made, ways={PLAYBOOK: made.ways[PLAYBOOK], AGENT: tuple(rows)})
    assert worse.turned_wrong() == [rows[1].case]
    told = " ".join(part.text for part in shown(worse) if isinstance(part, Line))
    assert "turned wrong" in told
    assert f"{rows[1].case}: no_fault" in told


def test_the_table_shows_both_ways_side_by_side(some: Path) -> None:
    table, *_ = [part for part in shown(evaluate(some, Talker)) if isinstance(part, Table)]
    rows = {row[0]: row[1:] for row in table.rows}
    assert table.head == ("", "playbook alone", "with agent")
    assert rows["category right"] == ("100.0 %", "100.0 %")
    assert rows["tokens in"] == ("–", "300")
    assert rows["money"] == ("–", "$0.75")
    assert rows["ungrounded sentences caught"] == ("–", "3")
    table, *_ = [part for part in shown(evaluate(some)) if isinstance(part, Table)]
    assert "tokens in" not in {row[0] for row in table.rows}


def test_money_without_a_price_is_not_called_free() -> None:
    row = alone(bundles(DEV)[0])
    assert Summary.of([row]).usd is None
    assert Summary.of([row, replace(row, spent=Spent(usd=0.5))]).usd == 0.5


@pytest.mark.parametrize(
    ("break_it", "says"),
    [
        (lambda folder: shutil.rmtree(folder), "holds no cases"),
        (lambda folder: (folder / SOME[0] / "question.txt").unlink(), "cannot be read"),
        (lambda folder: shutil.rmtree(folder / SOME[0] / "evidence"), "cannot be read"),
        (lambda folder: edited(folder, SOME[0], category="bad_luck"), "category"),
        (lambda folder: (folder / SOME[0] / "expected.json").write_text("{"), "expected.json"),
    ],
    ids=("no case", "no question", "no evidence", "no such category", "no JSON"),
)
def test_a_folder_that_is_not_whole_is_told_in_a_sentence(
    some: Path, break_it: Any, says: str
) -> None:
    break_it(some)
    with pytest.raises(ToolsError, match=says):
        evaluate(some)


def test_the_command_prints_a_table_or_one_object(some: Path) -> None:
    plain = CliRunner().invoke(app, ["eval", str(some)])
    assert plain.exit_code == 0, plain.output
    assert "3 cases of cases." in plain.stdout
    assert "category right" in plain.stdout
    told = json.loads(CliRunner().invoke(app, ["eval", str(some), "--json"]).stdout)
    assert (told["schema"], told["folder"]) == (1, "cases")
    assert [row["case"] for row in told["ways"]["playbook"]["cases"]] == sorted(SOME)


def test_an_agent_that_is_not_configured_is_a_clear_sentence(
    some: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PERFSLEUTH_HOSTS", str(tmp_path / "hosts.toml"))
    (tmp_path / "hosts.toml").write_text("")
    done = CliRunner().invoke(app, ["eval", str(some), "--agent"])
    assert isinstance(done.exception, ToolsError)
    assert "[[models]]" in str(done.exception)


def test_a_row_counts_a_case_that_should_have_been_decided(some: Path) -> None:
    name = "xid-01-hbm-failing"
    edited(some, name, also_accept_categories=[])
    for file in (some / name / "evidence").iterdir():
        file.write_text("nothing\n")
    row = next(one for one in evaluate(some).ways[PLAYBOOK] if one.case == name)
    assert (row.category, row.right, row.undecided) == ("inconclusive", False, True)


def test_each_category_says_how_many_were_right_and_what_was_said_instead(some: Path) -> None:
    edited(some, "xid-01-hbm-failing", category="workload", also_accept_categories=[])
    _, table = [part for part in shown(evaluate(some)) if isinstance(part, Table)]
    assert ("workload", "0 of 1", "hardware 1") in table.rows
    assert ("inconclusive", "2 of 2", "–") in table.rows


def test_a_healthy_host_called_broken_is_a_false_alarm_and_an_open_case_may_stay_open(
    some: Path,
) -> None:
    edited(some, "xid-01-hbm-failing", category="no_fault", also_accept_categories=[])
    edited(some, "cpu-05-shm-thread-top", category="inconclusive", also_accept_categories=[])
    for file in (some / "cpu-05-shm-thread-top" / "evidence").iterdir():
        file.write_text("nothing\n")
    sums = Summary.of(evaluate(some).ways[PLAYBOOK])
    assert (sums.healthy, sums.false_alarms) == (1, 1)
    assert (sums.open_cases, sums.abstained) == (2, 2)


def test_the_followup_is_handed_out_and_settles_what_is_expected(some: Path) -> None:
    with pytest.raises(ToolsError, match="followup/"):
        evaluate(some, followup=True)
    shutil.copytree(DEV / "tp-02-pp-more-bandwidth-no-gain", some / "a case")
    (case,) = bundles(some, followup=True)
    (before,) = (one for one in bundles(some) if one.name == "a case")
    assert len(case.files) > len(before.files)
    told = json.loads((some / "a case" / "expected.json").read_text())["after_followup"]
    assert case.expected.accepted == {told["category"]}
    assert case.expected.causes == tuple(told["causes"])


JUDGE = """import json, pathlib, sys
question, *files = sys.argv[1:]
assert "-hbm-" not in question + "".join(files)
text = "".join(pathlib.Path(one).read_text(errors="replace") for one in files)
broken = "Xid" in text
print("Thinking ...")
print(json.dumps({"verdict": {"category": "hardware" if broken else "no_fault", "cause": None}}))
"""


def test_a_program_of_others_judges_the_same_cases_beside_ours(some: Path, tmp_path: Path) -> None:
    script = tmp_path / "judge.py"
    script.write_text(JUDGE)
    line = shlex.join([sys.executable, str(script)]) + " {question} {files}"
    made = evaluate(some, outside=Outside.of(line))
    assert made.ways[OUTSIDE][-1].right
    said = {row.case: row.category for row in made.ways[OUTSIDE]}
    assert said["xid-01-hbm-failing"] == "hardware"
    assert {name for name, category in said.items() if category == "no_fault"} == set(SOME[::2])
    table, *_ = [part for part in shown(made) if isinstance(part, Table)]
    assert table.head == ("", "playbook alone", "the program named")


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("raise SystemExit('no GPU here')", "status 1: no GPU here"),
        ("print('looks fine')", "no object"),
        ('print(\'{"verdict": {"category": "bad luck"}}\')', "'bad luck', not one of"),
        ("import time; time.sleep(60)", "did not end within 1 s"),
    ],
)
def test_a_program_that_says_no_verdict_is_told_in_a_sentence(
    some: Path, code: str, says: str
) -> None:
    outside = Outside((sys.executable, "-c", code, "{dir}"), limit_s=1.0 if "sleep" in code else 60)
    row = outside.judge(bundles(some)[0])
    assert says in row.trouble
    assert not row.right
    assert Summary.of([row]).silent == 1


@pytest.mark.parametrize(
    ("line", "says"),
    [("judge {question}", "where the evidence goes"), ("judge '{files}", "cannot be read")],
)
def test_a_judge_that_gets_no_evidence_is_refused(line: str, says: str) -> None:
    with pytest.raises(ToolsError, match=says):
        Outside.of(line)


def test_a_judge_that_is_not_there_ends_the_evaluation_with_a_sentence(some: Path) -> None:
    with pytest.raises(ToolsError, match="no-such-judge cannot be run"):
        evaluate(some, outside=Outside.of("no-such-judge {files}"))
