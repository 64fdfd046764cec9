"""The engine that declares: decisions carry a name, the record stays as it was asked."""

from __future__ import annotations

from tests.provenance.engines import TEXT, declared, explained, lines

RULES = "sglang/srt/arg_groups/model_rules.py"
ARGS = "sglang/srt/server_args.py"
H100 = {"gpu": "NVIDIA H100 80GB HBM3", "model_config": TEXT}


def test_a_registered_provider_is_named_with_the_line_of_its_entry() -> None:
    tree = declared()
    site = explained(tree, **H100).one("attention_backend").sites[0]
    assert (site.file, site.source, site.state) == (RULES, "llama_overrides", "fired")
    assert site.line == lines(tree, RULES, '"] = "fa3"')
    assert "attention_backend is not set" in site.condition


def test_the_other_arm_of_a_provider_did_not_fire_and_says_which_condition_failed() -> None:
    sites = explained(declared(), **H100).one("attention_backend").sites
    other = next(s for s in sites if s.line == lines(declared(), RULES, '"] = "triton"'))
    assert other.state == "not_fired"
    assert "not so" in other.condition


def test_a_pass_reads_what_was_declared_before_it() -> None:
    answer = explained(declared(), **H100).one("page_size")
    assert (answer.asked, answer.resolved) == (None, 64)
    assert answer.sites[0].source == "page_default"


def test_a_declaration_overrides_what_was_passed() -> None:
    answer = explained(declared(), "--enable-mixed", **H100).one("enable_mixed")
    assert (answer.asked, answer.resolved, answer.overridden) == (True, False, True)
    assert answer.sites[0].source == "handle_mixed"
    assert answer.sites[0].line == lines(declared(), ARGS, "enable_mixed=False")
    assert answer.sentence.startswith("--enable-mixed True was asked; ")


def test_a_fallback_is_the_line_that_declares_it() -> None:
    answer = explained(declared(), **H100).one("swa_ratio")
    assert (answer.resolved, answer.overridden) == (0.8, True)
    assert answer.sites[0].line == lines(declared(), ARGS, "fallback=0.8")
    assert explained(declared(), "--swa-ratio 0.5", **H100).one("swa_ratio").overridden is False


def test_a_variable_of_the_environment_is_followed_through_its_descriptor() -> None:
    assert explained(declared(), **H100).one("max_running").overridden is False
    capped = explained(declared(), environment={"SGLANG_CAP": "7"}, **H100).one("max_running")
    assert capped.resolved == 7
    assert capped.sites[0].source == "handle_mixed.cap"


def test_without_a_gpu_the_answer_says_what_it_cannot_tell_and_why() -> None:
    answer = explained(declared(), model_config=TEXT).one("attention_backend")
    assert answer.resolved is None
    assert {site.state for site in answer.sites} == {"unknown"}
    assert "the GPU's compute capability" in answer.sentence


def test_what_the_server_says_goes_before_what_was_worked_out() -> None:
    answer = explained(declared(), resolved={"page_size": 16}, **H100).one("page_size")
    assert answer.resolved == 16
    assert answer.overridden is True
