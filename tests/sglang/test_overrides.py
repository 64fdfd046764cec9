"""Who set a flag: the engine's own decisions, by version."""

from __future__ import annotations

from tools.knowledge.fields import sglang_fields
from tools.sglang.overrides import OVERRIDES, override_of


def test_the_multimodal_rule_of_0_5_11_is_silent_and_at_its_line() -> None:
    rules = {o.condition: o for o in override_of("disable_piecewise_cuda_graph", "0.5.11")}
    rule = rules["the model is multimodal"]
    assert rule.where("0.5.11") == "srt/server_args.py:1230"
    assert rule.said is None
    assert "nobody passed that flag" in (rule.later or "")
    assert "never replay" in (rule.trap or "")
    assert "speculative decoding" not in rules


def test_the_version_before_it_had_a_rule_for_speculation() -> None:
    conditions = {o.condition for o in override_of("disable_piecewise_cuda_graph", "0.5.10.post1")}
    assert {"speculative decoding", "the model is multimodal"} <= conditions


def test_a_release_that_was_not_read_tells_nothing() -> None:
    assert override_of("disable_piecewise_cuda_graph", "0.5.21") == ()
    assert override_of("max_running_requests", None)


def test_each_override_names_a_field_of_the_versions_it_is_told_for() -> None:
    for known in OVERRIDES:
        field = sglang_fields().get(known.field.partition(".")[0])
        assert field is not None or known.field == "custom_all_reduce"
        assert known.lines
