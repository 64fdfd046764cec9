"""The engine that assigns: every shape of a write, who fired, and what is never reported."""

from __future__ import annotations

import pytest

from tests.provenance.engines import TEXT, VISION, direct, explained, lines
from tools.errors import Absent

ARGS = "sglang/srt/server_args.py"
A6000 = {"gpu": "NVIDIA RTX A6000", "model_config": TEXT}


def fired(answer: object) -> list[tuple[str, int]]:
    return [(s.file, s.line) for s in answer.sites if s.state == "fired"]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("flag", "argv", "text"),
    [
        ("attention_backend", "", 'self.attention_backend = "flashinfer"'),
        ("schedule", "", 'self.schedule = "follow" if'),
        ("speculative", "--speculative NEXTN", 'args.speculative = "EAGLE"'),
        ("max_running", "--speculative EAGLE", "args.max_running = 48"),
        ("mem_fraction", "--dp-size 2", "self.mem_fraction *= 0.5"),
        ("watchdog", "--watchdog 5", "setattr(self, name, 60)"),
        ("max_running", "--watchdog 61", "self.max_running = rules_for(self)"),
        ("disable_graph", "--enable-lora", None),
    ],
)
def test_every_shape_of_assignment_is_found_with_its_line(
    flag: str, argv: str, text: str | None
) -> None:
    tree = direct()
    answer = explained(tree, argv, **A6000).one(flag)
    assert answer.overridden is True
    at = lines(tree, ARGS, text) if text else lines(tree, ARGS, "if self.enable_lora:") + 1
    assert fired(answer)[-1] == (ARGS, at)


def test_a_row_of_targets_names_the_target_of_the_flag() -> None:
    answer = explained(direct(), gpu="NVIDIA H100 80GB HBM3", model_config=TEXT).one("page-size")
    assert answer.resolved == 1
    assert answer.sites[0].line == lines(direct(), ARGS, '"fa3", 1')


def test_all_rules_that_fire_are_named_and_the_last_one_is_told() -> None:
    answer = explained(direct(), "--enable-lora", gpu="NVIDIA RTX A6000", model_config=VISION).one(
        "disable_graph"
    )
    first = lines(direct(), ARGS, "if self.enable_lora:") + 1
    assert fired(answer) == [(ARGS, first), (ARGS, first + 2)]
    assert answer.sentence.startswith("Nobody passed --disable-graph; ")
    assert "2 lines wrote it; this one was the last." in answer.sentence


def test_an_early_return_keeps_the_later_rules_from_firing() -> None:
    answer = explained(direct(), "--enforce-graph --enable-lora", **A6000).one("disable_graph")
    assert answer.overridden is False
    assert not fired(answer)
    lora = next(
        s
        for s in answer.sites
        if s.condition.startswith("enforce_graph does not hold and enable_lora")
    )
    assert lora.state == "not_fired"
    assert lora.condition.endswith("not so: enforce_graph does not hold")


def test_a_rule_table_names_the_entry_that_held_and_its_log_line() -> None:
    tree = direct()
    answer = explained(tree, gpu="NVIDIA RTX A6000", model_config=VISION).one("cuda_graph")
    entry = next(s for s in answer.sites if s.line == lines(tree, ARGS, '("vision model"'))
    assert entry.state == "fired"
    assert entry.condition == 'the rule "vision model" of the table holds'
    assert entry.log == "Graphs do not go with %s."
    assert not [s for s in answer.sites if '"data parallelism"' in s.condition]


def test_nested_objects_and_their_aliases_belong_to_their_field() -> None:
    tree = direct()
    answer = explained(tree, **A6000).one("cuda_graph")
    assert (ARGS, lines(tree, ARGS, "decode.max_bs = 32")) in fired(answer)
    assert answer.resolved["decode"]["max_bs"] == 32


def test_a_write_in_another_process_is_never_called_fired_and_fails_on_what_is_known() -> None:
    answer = explained(direct(), **A6000).one("page_size")
    later = next(s for s in answer.sites if "runner" in s.file)
    assert later.state == "not_fired"
    answer = explained(direct(), "--tp-size 2", **A6000).one("page_size")
    later = next(s for s in answer.sites if "runner" in s.file)
    assert later.state == "unknown"
    assert later.condition == "later, in load(): tp_size > 1"


def test_a_value_that_is_put_back_and_a_draft_copy_are_no_sites() -> None:
    answer = explained(direct(), **A6000).one("disable_graph")
    assert not [s for s in answer.sites if "runner" in s.file]


def test_a_log_line_that_blames_a_flag_nobody_passed_is_called_wrong() -> None:
    lied = explained(direct(), gpu="NVIDIA RTX A6000", model_config=VISION).one("disable_graph")
    assert (
        '"No graphs because --disable-graph is set" (sglang/srt/model_executor/runner.py:'
        in lied.sentence
    )
    assert lied.sentence.endswith("is wrong.")
    passed = explained(direct(), "--disable-graph", gpu="NVIDIA RTX A6000", model_config=VISION)
    assert "is wrong" not in passed.one("disable_graph").sentence


def test_aliases_abbreviations_and_old_flags_are_read_as_argparse_reads_them() -> None:
    found = explained(direct(), "--tensor 4 --lora --dp-size=2", **A6000)
    assert found.one("tp_size").resolved == 4
    assert found.one("--lora").flag == "enable_lora"
    assert found.one("enable_lora").resolved is True
    assert "as passed" in found.one("enable_lora").sentence


def test_an_environment_variable_is_a_hidden_input() -> None:
    plain = explained(direct(), **A6000).one("max_running")
    assert plain.overridden is False
    small = explained(direct(), environment={"SGLANG_SMALL": "1"}, **A6000).one("max_running")
    assert small.overridden is True
    assert small.resolved == 3


def test_secrets_and_texts_of_unknown_fields_are_not_shown() -> None:
    assert "hunter2" not in str(explained(direct(), "--api-key hunter2", **A6000).one("api_key"))


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("--tensor-parallel-size", "tp_size"),
        ("tensor_parallel_size", "tp_size"),
        ("tp-size", "tp_size"),
        ("--tp", "tp_size"),
        ("--lora", "enable_lora"),
        ("--model", "model_path"),
    ],
)
def test_a_flag_is_explained_by_any_of_its_names_though_its_field_has_another(
    name: str, field: str
) -> None:
    assert explained(direct(), "--tp-size 2", **A6000).one(name).flag == field


@pytest.mark.parametrize("name", ["--m", "--x", "", "-"])
def test_a_beginning_of_several_names_or_of_none_is_no_flag(name: str) -> None:
    with pytest.raises(Absent, match="is no flag of this version"):
        explained(direct(), "", **A6000).one(name)


@pytest.mark.parametrize("spelled", ["--tp-size", "--tensor-parallel-size", "--tp"])
def test_what_was_passed_by_another_name_than_the_fields_is_told_as_passed(spelled: str) -> None:
    answer = explained(direct(), f"{spelled} 2", **A6000).one("tp_size")
    assert answer.sentence == "--tp-size is 2, as passed; nothing has overridden it."
