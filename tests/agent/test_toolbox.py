"""What a model is offered: read-only probes without ports and paths, and thoughts; in few tokens."""

from __future__ import annotations

import json

from dashscope.tokenizers.tokenizer import get_tokenizer

from bot.agent.planning.thinking import THOUGHTS
from bot.agent.planning.toolbox import FIELDS, NOT_OFFERED, fields_of, names, offered, tools
from tools.probes import PROBES

OURS = {"port", "log_path", "source_path", "path", "path_glob"}


def test_every_probe_but_those_left_out_is_offered_and_every_thought() -> None:
    assert set(names()) == (set(PROBES) - NOT_OFFERED) | set(THOUGHTS)


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


def test_after_the_playbook_the_schemas_take_less_than_900_tokens() -> None:
    asked = [probe().key for probe in PROBES.values() if probe.routine]
    tokens = len(get_tokenizer("qwen-7b-chat").encode(json.dumps(tools(asked))))
    assert tokens < 900


def test_a_description_is_whole_words() -> None:
    for tool in tools():
        said = tool["function"]["description"]
        assert said.endswith(".")
        assert 10 < len(said) <= 90
