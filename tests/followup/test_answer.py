"""What is answered to the questions that people put after the verdict on CT129."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from bot.demo import shipped_path
from bot.followup import Answer, Intent, answer
from bot.followup.intent import intent
from bot.investigate import Judged, conclude
from bot.narrator import Line, Part, Table
from bot.question import Question
from tools.case import Case
from tools.engine import LogMatches, Notice, SourceLine, SourceLines
from tools.evidence import Evidence
from tools.host import Output
from tools.probes import PROBES

HOSTS = ("CT129", "CT130")
Ask = Callable[..., Answer]


@pytest.fixture
def ask(question: Question, sick: Judged, well: Judged) -> Ask:
    def put(text: str, end: Judged | None = None, other: Judged | None = None) -> Answer:
        meant = intent(text, HOSTS, addressed=True) or Intent.rejudging(text)
        other = other or (well if meant.host else None)
        return answer(
            meant, question, end or sick, text, other, looked_at="14:32", names=("CT129", "CT130")
        )

    return put


def told(given: Answer) -> str:
    return "\n".join(_text(part) for part in given.parts)


def _text(part: Part) -> str:
    if isinstance(part, Table):
        return "\n".join(" | ".join(row) for row in (part.head, *part.rows))
    return f"{part.text} {' '.join(part.cites)}"


def lines(given: Answer) -> list[Line]:
    return [part for part in given.parts if isinstance(part, Line)]


def test_a_suspicion_that_is_excluded_is_answered_by_name_with_its_looks(ask: Ask) -> None:
    said = told(ask("why not NCCL?"))
    assert re.match(
        r"NCCL: not the cause as far as I can see; of \d+ hypotheses about it, \d+ excluded", said
    )
    assert "NCCL_SHM_DISABLE is not set. E6" in said
    assert "custom all-reduce works: 1032 graph addresses were registered" in said
    assert "Open: NCCL's own lines: not seen." in said


def test_a_suspicion_that_is_the_verdict_is_confirmed_with_figures(ask: Ask) -> None:
    said = told(ask("is it the riser?"))
    assert said.startswith("The riser: that is the verdict.")
    assert "prefill −51 % (−56 to −45)" in said
    assert "E14" in said


def test_what_is_true_and_costs_little_is_not_called_the_cause(ask: Ask) -> None:
    said = told(ask("what about cuda graphs?"))
    assert "1 excluded, 1 true" in said
    assert "True, and not the cause: the engine itself switched prefill graphs off" in said


def test_a_word_of_its_own_narrows_the_layer(ask: Ask) -> None:
    said = told(ask("is it the power cap?"))
    assert "the power cap was active in 0 of 41 samples at work. E7 E14" in said
    assert "brake" not in said


def test_what_no_rule_judges_is_said_honestly_with_what_was_seen_of_it(ask: Ask) -> None:
    said = told(ask("why not --enable-torch-compile?"))
    assert "No rule of mine judges enable-torch-compile" in said
    assert "enable_torch_compile = False" in said
    said = told(ask("why not the moon?"))
    assert said == (
        "No rule of mine judges the moon, so I cannot exclude it. \n"
        "None of the looks of this case speaks of it either. "
    )


def test_a_gpu_is_told_beside_its_neighbour(ask: Ask) -> None:
    given = ask("what about GPU 1?")
    table = next(part for part in given.parts if isinstance(part, Table))
    assert table.head == ("", "GPU 1", "GPU 0")
    assert ("link under load", "Gen1 x16 of Gen4", "Gen1 x16 of Gen4") in table.rows
    said = told(given)
    assert "GPU 1 does not differ from the other in anything that counts. E7 E14" in said
    assert "Xid errors are not known." in said
    assert "The verdict names it: The PCIe links of GPU 0 and GPU 1" in said


def test_a_gpu_that_is_not_there_is_said(ask: Ask) -> None:
    assert told(ask("what about GPU 7?")) == "There is no GPU 7: I saw 2 GPUs, 0, 1. E7 E14"


def test_a_card_that_differs_from_the_others_is_told_apart(
    question: Question, sick: Judged
) -> None:
    looks = [_slower(one) if one.title == "SampleGpus" else one for one in sick.evidence]
    end = conclude(question, [one for one in looks if one.probe])
    given = answer(Intent("gpu", gpu=1), question, end, "")
    assert "GPU 1 differs from the others: SM clock at work 900 MHz against 1,800 MHz" in told(
        given
    )
    given = answer(Intent("gpu", gpu=0), question, end, "")
    assert "SM clock at work 1,800 MHz against 900 MHz" in told(given)


def _slower(look: Evidence) -> Evidence:
    facts = look.facts
    assert facts is not None
    samples = tuple(
        one.model_copy(update={"sm_mhz": 900.0}) if one.index == 1 and one.busy else one
        for one in facts.samples
    )
    return replace(look, facts=facts.model_copy(update={"samples": samples}))


def test_who_set_a_flag_is_answered_with_three_values_and_the_line(ask: Ask) -> None:
    said = told(ask("who set disable_piecewise_cuda_graph?"))
    assert "asked for: no · resolved by the engine: True · in effect: True. E1 E2 E3" in said
    assert "the default is False: the engine decided otherwise by itself" in said
    assert "sglang/srt/server_args.py:1230 made it True, because enforce_piecewise" in said
    assert "(sglang/srt/model_executor/model_runner.py:2806) is wrong. E16" in said
    assert said == told(ask("why is disable_piecewise_cuda_graph on?"))


def test_without_the_source_the_lines_that_name_a_flag_are_told(
    ask: Ask, sourceless: Judged
) -> None:
    said = told(ask("who set disable_piecewise_cuda_graph?", sourceless))
    first = said.index("srt/server_args.py:1230  self.disable_piecewise_cuda_graph = True")
    assert first < said.index("srt/server_args.py:1192")
    not_given = "The engine's source of that host was not given"
    assert not_given in told(ask("who set enable_dp_attention?", sourceless))


def test_the_flags_of_the_version_are_told_from_its_source(ask: Ask, sourceless: Judged) -> None:
    said = told(ask("which graph flags does our version have?"))
    assert said.startswith("SGLang 0.5.11 has 15 flags about graph: E16\n")
    assert "--disable-cuda-graph · default False · Decode without a graph." in said
    assert "does not know --enable-foo: it would refuse to start. E16" in told(
        ask("is --enable-foo known to our version?")
    )
    assert "0.5.11 has it: --cuda-graph-max-bs" in told(ask("do we have --cuda-graph-max-bs?"))
    assert "0.5.11 takes it as short for --cuda-graph-max-bs" in told(
        ask("is --cuda-graph-max known to our version?")
    )
    assert told(ask("which graph flags does our version have?", sourceless)).startswith(
        "The engine's source of that host was not given, so the flags of its version cannot be told."
    )


def test_a_flag_that_was_typed_is_whose_start_it_was(ask: Ask) -> None:
    said = told(ask("who turned off the prefix cache?"))
    assert "asked for: --disable-radix-cache" in said
    assert "Who started the server asked for it, in the command line." in said


def test_the_terms_on_which_the_engine_sets_a_value_are_told(ask: Ask, sourceless: Judged) -> None:
    assert "server_args.py:3455 made it 48, because" in told(ask("who set max_running_requests?"))
    said = told(ask("who set max_running_requests?", sourceless))
    assert "SGLang 0.5.11 sets it itself at srt/server_args.py:3455 (speculative decoding" in said


def test_a_variable_is_of_the_environment(ask: Ask) -> None:
    assert "NCCL_IB_DISABLE=1 is in the server's environment" in told(
        ask("who set NCCL_IB_DISABLE?")
    )
    assert "NCCL_ALGO is not set in the server's environment. E6" in told(ask("who set NCCL_ALGO?"))


def test_a_flag_that_does_not_exist_is_said(ask: Ask) -> None:
    assert "No version that I know has an argument called make_it_fast" in told(
        ask("who set make_it_fast?")
    )


def test_the_source_that_was_searched_for_the_answer_is_read(
    ask: Ask,
    question: Question,
    sourceless: Judged,
) -> None:
    found = SourceLines(
        needle="enable_dp_attention",
        found=(
            SourceLine(path="srt/server_args.py", line=7, text="enable_dp_attention: bool = False"),
            SourceLine(path="srt/x.py", line=9, text="if args.enable_dp_attention == True:"),
        ),
    )
    probe = PROBES["ReadSourceLines"](text="enable_dp_attention")
    look = Evidence("E16", probe, "CT129", Output(stdout="{}"), found)
    end = conclude(question, [*(one for one in sourceless.evidence if one.probe), look])
    said = told(ask("who set enable_dp_attention?", end))
    assert "Nobody asked for it: it is the default." in said
    assert "The installed source names it in 2 places: E16" in said


def test_the_lines_behind_the_findings_are_quoted_once_with_their_time(ask: Ask) -> None:
    given = ask("show me the log lines")
    said = told(given)
    line = "Disable piecewise CUDA graph because --disable-piecewise-cuda-graph is set"
    assert f"[2026-11-24 06:43:34 TP0] {line} (4 times) E3" in said
    assert said.count(line) == 1
    assert given.attached is None


def test_many_lines_become_a_file(ask: Ask, question: Question, sick: Judged) -> None:
    log = next(one for one in sick.evidence if one.title == "ReadServerLog")
    assert log.facts is not None
    notices = tuple(Notice(kind="refusal", text=f"refused number {n} of all") for n in range(30))
    many = replace(log, facts=log.facts.model_copy(update={"notices": notices}))
    looks = [many if one is log else one for one in sick.evidence if one.probe]
    given = ask("show me the log lines", conclude(question, looks))
    assert (given.attached, given.looks) == ("log_lines", ("E3",))
    assert told(given).startswith("The lines that matter, 8 of 3")
    assert len(lines(given)) == 9


def test_the_log_is_searched_and_the_newest_lines_are_told(
    ask: Ask,
    question: Question,
    sick: Judged,
) -> None:
    facts = LogMatches(needle="retract", lines=tuple(f"line {n}" for n in range(40)), count=70)
    probe = PROBES["GrepServerLog"](text="retract")
    look = Evidence("E16", probe, "CT129", Output(stdout="{}"), facts)
    end = conclude(question, [*(one for one in sick.evidence if one.probe), look])
    said = told(ask("grep the log for retract", end))
    assert said.startswith("70 lines hold 'retract', the newest 8: E16\nline 32")
    none = replace(look, facts=facts.model_copy(update={"lines": (), "count": 0}))
    end = conclude(question, [*(one for one in sick.evidence if one.probe), none])
    assert told(ask("grep retract", end)) == "No line of the serve log holds 'retract'. E16"


def test_a_search_that_failed_says_so_and_what_was_read_is_searched(
    ask: Ask,
    question: Question,
    sick: Judged,
) -> None:
    probe = PROBES["GrepServerLog"](text="Spec v2")
    lost = Evidence("E16", probe, "CT129", Output(status=None, lost="gone"), trouble="gone")
    end = conclude(question, [*(one for one in sick.evidence if one.probe), lost])
    said = told(ask("grep 'Spec v2'", end))
    assert "The log could not be searched: gone. E16" in said
    assert "Spec v2 is enabled by default" in said


def test_looks_are_attached_by_id_by_name_or_all(ask: Ask) -> None:
    given = ask("show E5 and E77")
    assert (given.attached, given.looks) == ("evidence", ("E5",))
    assert "There is no E77: the looks are E1 to E17." in told(given)
    assert ask("show the lspci output").looks == ("E8",)
    given = ask("show me the evidence")
    assert (given.attached, given.looks) == ("evidence", ())


def test_a_look_without_an_answer_is_told_and_not_attached(ask: Ask) -> None:
    given = ask("E17?")
    assert given.attached is None
    assert "55 tok/s" not in told(given) or "said" in told(given)


def test_why_names_the_look_that_shows_it_and_what_came_second(ask: Ask) -> None:
    said = told(ask("why?"))
    assert "21 of 21 samples at work" in said
    assert "Every GPU for some seconds: 2x RTX A6000, 50 samples, 41 at work" in said
    assert "The prefix cache is off" in said
    assert "It is less certain. E3" in said


def test_a_newcomer_is_told_in_plain_words(ask: Ask) -> None:
    said = told(ask("explain it like I am new"))
    assert "PCIe is the road between a GPU and the machine" in said
    assert "reading a prompt (prefill) takes about 106 % longer than it should" in said


def test_how_sure_it_is_and_what_would_raise_it(ask: Ask) -> None:
    said = told(ask("how sure are you?"))
    assert "Confidence high (0.92 of 1) in the cause: a look shows it directly. E14" in said
    assert "not measured on this host" in said
    assert "What would prove it: under load every sample shows Gen4" in said


def test_the_remedy_is_told_as_steps(ask: Ask) -> None:
    said = told(ask("what should I do?"))
    assert "2. Power the Proxmox host off and on" in said
    assert "Risk: everything on that machine stops." in said
    assert "Beside it: the prefix cache is off" in said


def test_what_is_open_is_told_with_the_way_to_see_it(ask: Ask, sick: Judged) -> None:
    said = told(ask("what could you not check?"))
    count = int(said.split(" ", 1)[0])
    assert said.startswith(f"{count} of my hypotheses are open.")
    assert 0 < count <= len(sick.verdict.unchecked)
    assert "To see it: journalctl -k; dmesg -T." in said
    assert "--json" not in said


def test_another_aspect_is_judged_on_the_same_looks_and_their_age_is_told(ask: Ask) -> None:
    said = told(ask("and prefill?"))
    assert said.startswith("From the looks of 14:32; nothing was asked anew.")
    assert "Prefill: The prefix cache is off" in said
    assert "Prefill: The PCIe links of GPU 0 and GPU 1 run at Gen1" in said
    assert "The verdict of this thread stands" in said


def test_another_claim_is_judged_too(ask: Ask) -> None:
    said = told(ask("a colleague says that swap costs us decode speed"))
    assert "no pages are swapped and memory is under no pressure. E11" in said


@pytest.mark.parametrize("text", ["what's the weather in Berlin?", "so what"])
def test_what_is_not_understood_is_said_with_what_can_be_asked(ask: Ask, text: str) -> None:
    said = told(ask(text))
    assert said.startswith("I am not sure what you ask me there.")
    assert "The verdict of this thread stands: the PCIe links" in said
    assert "“what should I do?”" in said


def test_anger_is_met_kindly(ask: Ask) -> None:
    said = told(ask("this is bullshit, you are useless"))
    assert said.startswith("I am sorry that this does not help.")
    assert "The verdict of this thread stands: the PCIe links" in said


@pytest.mark.parametrize("text", ["tl;dr", "summary please", "why is it so slow??"])
def test_who_asks_for_the_verdict_again_gets_it(ask: Ask, text: str) -> None:
    said = told(ask(text))
    assert "The verdict of this thread stands: the PCIe links" in said
    assert "not sure" not in said


def test_how_sure_it_is_names_a_proof_only_where_there_is_one(
    question: Question, well: Judged
) -> None:
    assert "What would prove it: -" not in told(answer(Intent("sure"), question, well, "sure?"))


def test_another_verdict_is_told_in_full(question: Question, sick: Judged) -> None:
    given = answer(
        Intent.rejudging("is the prefix cache off? long prompts are slow"),
        question,
        sick,
        "is the prefix cache off? long prompts are slow",
    )
    assert "Configuration: The prefix cache is off" in told(given)
    assert "Not the cause" not in told(given)


def test_the_twin_is_compared_and_the_sentence_says_who_is_faster_and_why(ask: Ask) -> None:
    given = ask("compare with CT130")
    first = given.parts[0]
    assert isinstance(first, Line)
    assert first.text == (
        "CT130 decodes 4.1 % faster (2.7 to 5.6 %) at 1 running request: its links run at Gen4 x16"
        " and CT129's at Gen1 x16 (explains 3.4 of 4.1 %)."
    )
    table = next(part for part in given.parts if isinstance(part, Table))
    assert [row[0] for row in table.rows] == ["disable_radix_cache", "link under load"]
    assert table.rows[1][1:3] == ("Gen1 x16", "Gen4 x16")
    assert "CT129: decode −3.3 %" in table.rows[1][3]
    assert "CT129: prefill −60 %" in table.rows[0][3]
    said = told(given)
    assert "Only on CT129: the PCIe links of GPU 0 and GPU 1 run at Gen1" in said
    assert "Only on CT129: the prefix cache is off (--disable-radix-cache)" in said
    assert "random_seed" not in said


def test_the_other_way_round_the_cost_is_the_others(
    question: Question, sick: Judged, well: Judged
) -> None:
    given = answer(
        Intent("compare", host="CT129"), question, well, "", sick, names=("CT130", "CT129")
    )
    assert "Only on CT129" in told(given)
    assert "Gen4 x16 | Gen1 x16 | CT129: decode" in told(given)
    assert told(given).startswith("CT130 decodes 4.1 % faster")


def test_a_case_compared_with_itself_differs_in_nothing(question: Question, sick: Judged) -> None:
    said = told(answer(Intent("compare"), question, sick, "", sick))
    assert "decode alike at 1 running request (55 tok/s). Nothing that costs differs." in said


def test_what_ails_both_is_told_once(question: Question, sick: Judged) -> None:
    text = shipped_path().read_text(encoding="utf-8").replace("580.95.05", "580.105.08")
    other = conclude(question, Case.load(text, name="other").evidence(PROBES))
    said = told(answer(Intent("compare"), question, sick, "", other))
    assert "On both alike: the prefix cache is off (--disable-radix-cache). E3" in said


def test_without_another_case_the_way_to_one_is_told(ask: Ask) -> None:
    assert "ask me about the other host first" in told(ask("what changed?"))


def test_thanks_and_help_are_a_word(ask: Ask) -> None:
    assert told(ask("thanks!")).strip() == "You are welcome."
    assert "why not NCCL?" in told(ask("help"))
