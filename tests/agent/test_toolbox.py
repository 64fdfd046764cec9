"""What a model is offered: read-only probes without ports and paths, and thoughts; in few tokens."""

from __future__ import annotations

import json

import pytest
from dashscope.tokenizers.tokenizer import get_tokenizer
from pydantic import ValidationError

from bot.agent.planning.thinking import OF_THE_SOURCE, THOUGHTS, computed, think
from bot.agent.planning.toolbox import FIELDS, NOT_OFFERED, fields_of, names, offered, tools
from bot.demo import shipped
from bot.investigate import conclude
from bot.question import Question
from tools.probes import PROBES

OURS = {"port", "log_path", "source_path", "path", "path_glob"}


def test_every_probe_but_those_left_out_is_offered_and_every_thought() -> None:
    assert set(names()) == (set(PROBES) - NOT_OFFERED) | set(THOUGHTS) - OF_THE_SOURCE


def test_what_the_source_answers_is_offered_once_it_was_looked_at() -> None:
    assert {"explain_flag", "list_flags"} == OF_THE_SOURCE
    assert not set(names(["ReadLaunch"])) & OF_THE_SOURCE
    assert set(names(['ReadSourceTexts{"port": 30000}'])) >= OF_THE_SOURCE


def test_the_source_answers_with_the_look_that_a_sentence_may_cite() -> None:
    case = shipped()
    end = conclude(Question.of(case.question), case.evidence(PROBES))
    explain = THOUGHTS["explain_flag"].model_validate({"flag": "disable_piecewise_cuda_graph"})
    said = think(explain, end)
    assert "sglang/srt/server_args.py:1230 made it True" in said
    assert "is wrong. E16" in said
    assert computed(explain)
    listed = think(THOUGHTS["list_flags"].model_validate({"search": "graph"}), end)
    assert listed.startswith("SGLang 0.5.11 has 15 flags about graph: E16\n")
    with pytest.raises(ValidationError):
        THOUGHTS["explain_flag"].model_validate({"flag": "x; rm -rf /"})


def test_no_port_and_no_path_is_for_a_model_to_choose() -> None:
    for tool in tools():
        function = tool["function"]
        properties = function["parameters"]["properties"]
        assert not OURS & set(properties), function["name"]
        if function["name"] in PROBES:
            assert tuple(properties) == fields_of(function["name"])


def test_what_is_listed_as_a_models_own_exists() -> None:
    for name, fields in FIELDS.items():
        assert set(fields) <= set(PROBES[name].model_fields)
        assert not OURS & set(fields)
    assert set(PROBES) >= NOT_OFFERED
    assert all(offered(name) is None for name in (*NOT_OFFERED, "run_shell", "finish"))


def test_what_would_only_be_a_repetition_is_left_out() -> None:
    asked = [probe().key for probe in PROBES.values() if probe.routine]
    left = names(asked)
    assert "ReadLaunch" not in left
    assert {"GrepServerLog", "SampleGpus", "ReadSourceLines", "ReadNcclLog", "finish"} <= set(left)


def test_after_the_playbook_the_schemas_take_less_than_1050_tokens() -> None:
    """They take 986: 96 are for proposing a change and 42 for its launcher, without which no change can be tried.

    No description is longer than a sentence of 90 characters (see below), so there is no text to spare.
    """
    asked = [probe().key for probe in PROBES.values() if probe.routine]
    tokens = len(get_tokenizer("qwen-7b-chat").encode(json.dumps(tools(asked))))
    assert tokens < 1050


def test_a_description_is_whole_words() -> None:
    for tool in tools():
        said = tool["function"]["description"]
        assert said.endswith(".")
        assert 10 < len(said) <= 90
