"""Only what validates as a class that was offered goes on; everything else is told back to the model."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.agent.asking.reply import Call, Reply
from bot.agent.planning.calls import Done, Wanted, read
from bot.agent.planning.thinking import Excerpt
from tools.probes import PROBES
from tools.probes.gpu_samples import SampleGpus
from tools.probes.log_matches import GrepServerLog

SCOPE = {"port": 30001, "log_path": "/var/log/sglang.log", "source_path": "/opt/sglang"}


def sorted_of(*wanted: tuple[str, Any], done: Done | None = None, most: int = 20) -> Wanted:
    calls = tuple(Call(name, args, f"id{n}") for n, (name, args) in enumerate(wanted))
    return read(Reply("", calls, finish="tool_calls"), done or Done(), SCOPE, most)


def of_text(text: str) -> Wanted:
    return read(Reply(text), Done(), SCOPE, 20)


def why(wanted: Wanted) -> str:
    ((_, sentence),) = wanted.refusals
    assert not wanted.probes
    assert not wanted.thoughts
    return sentence


def test_a_valid_call_becomes_a_probe_with_what_is_known_of_the_host() -> None:
    ((call_id, probe),) = sorted_of(("GrepServerLog", {"text": "retract", "limit": 5})).probes
    assert call_id == "id0"
    assert probe == GrepServerLog(text="retract", limit=5, port=30001, log_path=SCOPE["log_path"])


def test_parallel_calls_keep_their_order() -> None:
    wanted = sorted_of(
        ("SampleGpus", {"seconds": 3}), ("ReadStorage", {}), ("excerpt", {"look": "E3"})
    )
    assert [type(probe).__name__ for _, probe in wanted.probes] == ["SampleGpus", "ReadStorage"]
    assert wanted.thoughts == (("id2", Excerpt(look="E3")),)


@pytest.mark.parametrize(
    "name", ["run_shell", "Probe", "__import__", "readgpus", "ReadRequests", "", "x" * 900]
)
def test_an_unknown_tool_is_refused_by_name(name: str) -> None:
    sentence = why(sorted_of((name, {})))
    assert sentence.startswith("There is no tool called ")
    assert len(sentence) < 80


@pytest.mark.parametrize(
    ("args", "part"),
    [
        ({"port": 22}, "does not take port from you; it takes: text, pattern, limit"),
        ({"log_path": "/etc/shadow"}, "does not take log_path"),
        ({"text": "x\n; rm -rf /"}, "one line without control"),
        ({"text": "(a+)+", "pattern": True}, "no repetition"),
        ({"text": 7}, "text: Input should be a valid string"),
        ({"text": "ab", "limit": 10_000}, "limit: Input should be less than or equal to 200"),
        ({"text": {"$ne": ""}}, "text: Input should be a valid string"),
        ({"<!channel>": 1}, "does not take channel"),
    ],
)
def test_wrong_arguments_are_refused_with_what_is_wrong(args: dict[str, Any], part: str) -> None:
    assert part in why(sorted_of(("GrepServerLog", args)))


def test_a_refusal_never_repeats_what_was_given() -> None:
    assert "SECRET" not in why(sorted_of(("GrepServerLog", {"text": ["SECRET"]})))


def test_a_call_is_made_once() -> None:
    twice = sorted_of(("SampleGpus", {"seconds": 3}), ("SampleGpus", {"seconds": 3}))
    assert len(twice.probes) == len(twice.refusals) == 1
    done = Done(looks={SampleGpus(seconds=3).key: "E15"})
    assert (
        why(sorted_of(("SampleGpus", {"seconds": 3}), done=done))
        == "This was looked at already: E15."
    )
    thought = Done(thoughts={Excerpt(look="E3")})
    assert "already" in why(sorted_of(("excerpt", {"look": "E3"}), done=thought))


def test_the_bound_on_calls_is_kept_and_what_was_left_is_named() -> None:
    done = Done(calls=19)
    wanted = sorted_of(
        ("SampleGpus", {"seconds": 3}), ("ReadStorage", {}), ("finish", {}), done=done
    )
    assert [type(probe).__name__ for _, probe in wanted.probes] == ["SampleGpus"]
    assert wanted.left == ("ReadStorage",)
    assert wanted.finished


@pytest.mark.parametrize("finish", ["length", "content_filter", "unknown"])
def test_nothing_of_an_answer_that_may_be_cut_is_done(finish: Any) -> None:
    calls = (Call("SampleGpus", {"seconds": 1}, "a"),)
    wanted = read(Reply("", calls, finish=finish), Done(), SCOPE, 20)
    assert not wanted.probes
    assert "cut off" in why(wanted)
    told = '{"name": "SampleGpus", "arguments": {"seconds": 1}}'
    assert not read(Reply(told, finish=finish), Done(), SCOPE, 20).probes


@pytest.mark.parametrize("ids", [(None, None), ("", ""), ("a", "a"), ("call00002", None), (7, 7)])
def test_every_call_has_an_id_of_its_own(ids: tuple[Any, Any]) -> None:
    calls = tuple(Call("SampleGpus", {"seconds": n + 1}, one) for n, one in enumerate(ids))
    wanted = read(Reply("", calls, finish="tool_calls"), Done(), SCOPE, 20)
    named = [call.id for call in wanted.calls]
    assert len(set(named)) == 2
    assert [one for one, _ in wanted.probes] == named


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "SampleGpus", "arguments": {"seconds": 4}}',
        '```json\n{"name": "SampleGpus", "arguments": {"seconds": 4}}\n```',
        '```\n{"tool": "SampleGpus", "parameters": {"seconds": 4}}\n```',
        '<tool_call>\n{"name": "SampleGpus", "args": {"seconds": 4}}\n</tool_call>',
    ],
)
def test_a_call_written_as_the_whole_answer_is_taken_for_a_read_only_probe(text: str) -> None:
    ((_, probe),) = of_text(text).probes
    assert probe == SampleGpus(seconds=4)


@pytest.mark.parametrize(
    "text",
    [
        'I will call {"name": "SampleGpus", "arguments": {}}',
        '{"name": "SampleGpus", "arguments": {}} and then more',
        '[{"name": "SampleGpus", "arguments": {}}]',
        '{"name": "SampleGpus", "arguments": "seconds"}',
        '{"name": "SampleGpus", "arguments": {}, "then": "rm"}',
        '{"name": "SampleGpus", "name": "ReadStorage", "arguments": {}}',
        '{"name": "finish", "arguments": {}}',
        '{"name": "suppose", "arguments": {"hypothesis": "it is haunted", "test": "ask a priest"}}',
        '{"name": "run_shell", "arguments": {"command": "id"}}',
        '{"name": ["SampleGpus"], "arguments": {}}',
        '{"name": "SampleGpus"',
        "[" * 5000,
        "",
        "null",
    ],
)
def test_any_other_text_is_no_call(text: str) -> None:
    assert of_text(text) == Wanted()


def test_a_text_beside_a_call_that_was_refused_is_no_call() -> None:
    told = '{"name": "SampleGpus", "arguments": {}}'
    assert read(Reply(told, bad=("bad",)), Done(), SCOPE, 20) == Wanted()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=12), inner, max_size=3)
    ),
    max_leaves=6,
)
FIELDS = st.sampled_from(
    ["text", "pattern", "limit", "seconds", "port", "path", "look", "change", "lines"]
)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(sorted(PROBES)), st.dictionaries(FIELDS, JSON, max_size=3))
def test_no_arguments_reach_a_host_but_through_the_fields_that_are_a_models_own(
    name: str, args: dict[str, Any]
) -> None:
    wanted = sorted_of((name, args))
    assert len(wanted.probes) + len(wanted.refusals) == 1
    for _, probe in wanted.probes:
        assert type(probe) is PROBES[name]
        for field in ("port", "log_path", "source_path"):
            assert getattr(probe, field, None) in (None, SCOPE[field])
        plain = {"path": "", "path_glob": ""} | {
            one: info.default for one, info in type(probe).model_fields.items()
        }
        assert getattr(probe, "path", plain["path"]) == plain["path"]
        assert getattr(probe, "path_glob", plain["path_glob"]) == plain["path_glob"]
        probe.command()
