from __future__ import annotations

import json

import pytest

from tools.engine.exchange import holds_any, read, slimmed
from tools.errors import Unreadable
from tools.probes.requests import ReadRequests

ASKED = {
    "model": "m",
    "messages": [{"role": "user", "content": "my secret {plan}"}],
    "max_tokens": 9,
}


def test_what_a_user_wrote_is_dropped_and_figures_stay() -> None:
    kept = slimmed(json.dumps(ASKED))
    assert "secret" not in kept
    assert read(kept) == read(json.dumps(ASKED))
    assert read(kept).max_tokens == 9


def test_what_was_slimmed_is_still_an_answer_to_the_same_probe() -> None:
    kept = slimmed(
        json.dumps(ASKED) + json.dumps({"usage": {"prompt_tokens": 3, "completion_tokens": 4}})
    )
    assert holds_any(kept)
    assert slimmed(kept) == kept


@pytest.mark.parametrize(
    ("extra", "grammar"),
    [
        ({"response_format": {"type": "text"}}, 0),
        ({"response_format": {"type": "json_object"}}, 1),
        ({"response_format": {"type": "json_schema", "json_schema": {}}}, 1),
        ({"regex": "[0-9]+"}, 1),
        ({"sampling_params": {"json_schema": "{}"}}, 1),
        ({"regex": None}, 0),
    ],
    ids=["text", "object", "schema", "regex", "native", "none"],
)
def test_a_grammar_is_told_from_plain_text(extra: dict[str, object], grammar: int) -> None:
    assert read(json.dumps(ASKED | extra)).with_grammar == grammar


@pytest.mark.parametrize(
    "text",
    [
        '{"model_path": "/m", "prompt": "x"}',
        '{"log": "Decode batch"}',
        "{" * 9000,
        '{"a":' * 4000,
        "[1, 2]",
        "",
    ],
    ids=["server answer", "docker line", "open braces", "deep", "list", "nothing"],
)
def test_other_json_is_not_taken_for_a_request(text: str) -> None:
    assert not holds_any(text)
    with pytest.raises(Unreadable):
        read(text)


def test_a_path_cannot_become_an_option() -> None:
    with pytest.raises(ValueError, match="path"):
        ReadRequests(path="--help")
    assert ReadRequests(path="a b.json").command().argv[3] == "a b.json"
