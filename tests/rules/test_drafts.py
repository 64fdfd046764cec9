from __future__ import annotations

from collections.abc import Callable

import pytest

from tools.engine import Benchmark, Claim, DecodeLine, Launch, Requests, ServerInfo, ServerLog
from tools.errors import Undecided
from tools.linux.machine import Machine
from tools.rule import Cleared, Finding
from tools.rules import drafts, overlap

Judged = Callable[..., object]


def lines(*lengths: float, step_ms: float = 50.0, running: int = 1) -> tuple[DecodeLine, ...]:
    return tuple(
        DecodeLine(running=running, accept_len=one, tok_s=running * one / step_ms * 1e3)
        for one in lengths
    )


def test_an_accept_length_near_one_is_a_broken_draft(judged: Judged) -> None:
    low = judged(drafts.drafts_never_accepted, ServerLog(decode=lines(1.29, 1.29, 1.29)))
    assert isinstance(low, Finding)
    assert isinstance(
        judged(drafts.drafts_never_accepted, ServerLog(decode=lines(1.3, 1.3, 1.3))), Cleared
    )


def test_a_draft_of_one_s_own_is_a_choice_and_a_built_in_head_is_not(judged: Judged) -> None:
    log = ServerLog(decode=lines(1.0, 1.0, 1.0))
    own = judged(
        drafts.drafts_never_accepted,
        log,
        Launch(flags={"speculative_draft_model_path": "/m/eagle3"}),
    )
    built_in = judged(
        drafts.drafts_never_accepted, log, Launch(flags={"speculative_algorithm": "NEXTN"})
    )
    assert isinstance(own, Finding)
    assert isinstance(built_in, Finding)
    assert (own.category, built_in.category) == ("config", "software_bug")


def test_without_speculation_nothing_is_broken(judged: Judged) -> None:
    plain = ServerLog(decode=tuple(DecodeLine(running=1, tok_s=50.0) for _ in range(4)))
    assert isinstance(judged(drafts.drafts_never_accepted, plain), Cleared)
    assert isinstance(judged(drafts.acceptance_fell, plain), Cleared)


def test_a_wide_tree_costs_under_load_only(judged: Judged) -> None:
    flags = {
        "speculative_algorithm": "EAGLE3",
        "speculative_num_steps": 6,
        "speculative_eagle_topk": 10,
    }
    wide = Launch(flags={**flags, "speculative_num_draft_tokens": 32})
    assert isinstance(
        judged(drafts.too_many_drafts, ServerLog(), wide, Benchmark(concurrency=4)), Finding
    )
    assert isinstance(
        judged(drafts.too_many_drafts, ServerLog(), wide, Benchmark(concurrency=3)), Cleared
    )
    narrow = Launch(flags={**flags, "speculative_num_draft_tokens": 8})
    assert isinstance(
        judged(drafts.too_many_drafts, ServerLog(), narrow, Benchmark(concurrency=8)), Cleared
    )


def test_a_draft_that_was_asked_for_and_does_not_run_is_missing(judged: Judged) -> None:
    asked = Launch(engine="vllm", flags={"speculative_config": '{"model": "/models/draft"}'})
    log = ServerLog(
        resolved={"speculative_config": None, "model": "m"},
        decode=(DecodeLine(running=1, tok_s=25.0),),
    )
    gone = Machine(missing_paths=("/models/draft",))
    missing = drafts.draft_model_not_running
    assert isinstance(judged(missing, asked, log), Finding)
    found = judged(missing, asked, log, gone)
    assert isinstance(found, Finding)
    assert found.confidence > 0.9
    assert isinstance(judged(missing, asked, ServerLog(decode=lines(2.0))), Cleared)
    assert isinstance(judged(missing, Launch(flags={}), log), Cleared)


def test_a_rate_that_follows_the_accept_length_is_the_text(judged: Judged) -> None:
    log = ServerLog(decode=lines(*[3.8] * 4, *[3.4] * 4, *[3.0] * 4))
    found = judged(drafts.acceptance_fell, log)
    assert isinstance(found, Finding)
    assert found.effect.decode_pct is not None
    assert found.effect.decode_pct[1] == pytest.approx(-21.05, abs=0.1)


def test_a_longer_step_is_not_the_text(judged: Judged) -> None:
    slower = ServerLog(decode=(*lines(*[3.8] * 8), *lines(*[3.0] * 4, step_ms=60.0)))
    assert isinstance(judged(drafts.acceptance_fell, slower), Cleared)


def test_a_swing_with_the_text_is_found_in_any_order(judged: Judged) -> None:
    mixed = judged(drafts.acceptance_fell, ServerLog(decode=lines(*[3.8, 3.0, 3.4] * 4)))
    assert isinstance(mixed, Finding)
    assert "swings" in mixed.statement
    assert isinstance(
        judged(drafts.acceptance_fell, ServerLog(decode=lines(*[3.4, 3.0, 3.2] * 4))), Cleared
    )


def test_a_claimed_rate_is_turned_into_the_accept_length_it_needs(judged: Judged) -> None:
    log = ServerLog(decode=lines(*[3.2] * 5, step_ms=56.0), resolved={"speculative_num_steps": 3})
    with pytest.raises(Undecided) as why:
        judged(drafts.acceptance_fell, log, Claim(now_tok_s=57, before_tok_s=70))
    assert "3.92 of at most 4" in why.value.why
    assert isinstance(judged(drafts.acceptance_fell, log, Claim(before_tok_s=58)), Cleared)


def test_a_rate_that_no_drafts_can_give_was_lost_elsewhere(judged: Judged) -> None:
    log = ServerLog(decode=lines(*[2.8] * 5, step_ms=274.0), resolved={"speculative_num_steps": 3})
    outcome = judged(drafts.acceptance_fell, log, Claim(before_tok_s=30))
    assert isinstance(outcome, Cleared)
    assert "4 are the most" in outcome.why


def test_the_sentence_that_overlap_is_off_is_found(judged: Judged) -> None:
    from tools.engine import Notice

    off = overlap.overlap_schedule_off
    text = "Overlap scheduler is disabled when spec v2 is off or using unsupported speculative algorithm."
    log = ServerLog(
        version="0.5.9",
        notices=(Notice(kind="overlap_off", text=text),),
        resolved={"speculative_algorithm": "EAGLE"},
    )
    found = judged(off, log)
    assert isinstance(found, Finding)
    assert "SGLANG_ENABLE_SPEC_V2=1" in found.remedy[0]
    on = Notice(
        kind="speculation",
        text="Spec v2 is enabled by default for eagle/eagle3/standalone speculative decoding.",
    )
    assert isinstance(judged(off, ServerLog(notices=(on,), started=True)), Cleared)


def test_a_variable_that_later_versions_ignore_is_no_cause(judged: Judged) -> None:
    from tools.engine import Environment

    chosen = Environment(values={"SGLANG_ENABLE_SPEC_V2": "0"})
    for version, kind in (("0.5.13", Finding), ("0.5.14", Cleared)):
        log = ServerLog(version=version, resolved={"speculative_algorithm": "EAGLE"})
        assert isinstance(judged(overlap.overlap_schedule_off, log, chosen), kind)


def test_grammar_costs_with_drafts_only(judged: Judged) -> None:
    seen = Requests(with_grammar=1, without_grammar=1)
    stops = overlap.grammar_stops_the_overlap
    assert isinstance(
        judged(stops, seen, ServerInfo(resolved={"speculative_algorithm": "EAGLE"})), Finding
    )
    assert isinstance(judged(stops, seen, ServerInfo(resolved={"tp_size": 1})), Cleared)
    plain = Requests(without_grammar=2)
    assert isinstance(
        judged(stops, plain, ServerInfo(resolved={"speculative_algorithm": "EAGLE"})), Cleared
    )
    with pytest.raises(Undecided):
        judged(stops, seen)
