from __future__ import annotations

from collections.abc import Callable

import pytest

from tools.engine import Benchmark, Launch, Notice, PrefillLine, Requests, ServerLog
from tools.errors import Undecided
from tools.rule import Cleared, Finding
from tools.rules import prefix_cache

Judged = Callable[..., object]
OFF = {"disable_radix_cache": True}


def prompts(*tokens: int, cached: int = 0, mamba: float | None = None) -> tuple[PrefillLine, ...]:
    return tuple(
        PrefillLine(new_seqs=1, new_tokens=n, cached_tokens=cached, mamba_usage=mamba)
        for n in tokens
    )


def test_a_chat_that_is_read_again_each_turn_is_surer_than_single_prompts(judged: Judged) -> None:
    chat = judged(
        prefix_cache.prefix_cache_disabled, ServerLog(prefill=prompts(500, 900, 1400), resolved=OFF)
    )
    single = judged(
        prefix_cache.prefix_cache_disabled, ServerLog(prefill=prompts(900, 500, 700), resolved=OFF)
    )
    assert isinstance(chat, Finding)
    assert isinstance(single, Finding)
    assert chat.confidence > single.confidence


def test_cached_tokens_clear_it_whatever_the_flag(judged: Judged) -> None:
    log = ServerLog(prefill=prompts(500, cached=1), resolved=OFF)
    assert isinstance(judged(prefix_cache.prefix_cache_disabled, log), Cleared)


def test_a_client_that_changes_its_prompts_is_not_a_cache_that_is_off(judged: Judged) -> None:
    log = ServerLog(prefill=prompts(500, 900, 1400), resolved={"disable_radix_cache": False})
    assert isinstance(judged(prefix_cache.prefix_cache_disabled, log), Cleared)


def test_what_the_engine_says_counts_as_well(judged: Judged) -> None:
    said = Notice(kind="radix_off", text="Disabling Radix Cache for X as it is not yet supported.")
    found = judged(
        prefix_cache.prefix_cache_disabled, ServerLog(prefill=prompts(500), notices=(said,))
    )
    assert isinstance(found, Finding)
    assert said.text in found.quotes


def test_without_prompts_or_arguments_it_stays_open(judged: Judged) -> None:
    with pytest.raises(Undecided):
        judged(prefix_cache.prefix_cache_disabled, ServerLog(resolved=OFF))
    with pytest.raises(Undecided):
        judged(prefix_cache.prefix_cache_disabled, ServerLog(prefill=prompts(*[500] * 5)))


def test_equal_prompts_of_a_hybrid_model_that_never_hit(judged: Judged) -> None:
    hybrid = prefix_cache.hybrid_repeats_never_hit
    assert isinstance(
        judged(hybrid, ServerLog(prefill=prompts(1211, 1211, 1211, mamba=0.02))), Finding
    )
    with pytest.raises(Undecided):
        judged(hybrid, ServerLog(prefill=prompts(1211, 1211, mamba=0.02)))
    assert isinstance(judged(hybrid, ServerLog(prefill=prompts(1211, 1211, 1211))), Cleared)
    off = ServerLog(prefill=prompts(1211, 1211, 1211, mamba=0.02), resolved=OFF)
    assert isinstance(judged(hybrid, off, Launch(flags=OFF)), Cleared)


def test_hits_that_the_api_does_not_report(judged: Judged) -> None:
    hits, none = ServerLog(prefill=prompts(530, cached=1024)), ServerLog(prefill=prompts(530))
    lies = prefix_cache.hits_not_reported
    assert isinstance(judged(lies, hits, Benchmark(cache_hit_rate=0.0)), Finding)
    assert isinstance(judged(lies, hits, Requests(cached_tokens=0)), Finding)
    assert isinstance(judged(lies, none, Benchmark(cache_hit_rate=0.0)), Cleared)
    assert isinstance(judged(lies, hits, Benchmark(cache_hit_rate=0.3)), Cleared)
