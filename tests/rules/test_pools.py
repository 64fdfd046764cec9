from __future__ import annotations

from collections.abc import Callable

import pytest

from tools.engine import DecodeLine, Launch, Notice, PrefillLine, ServerInfo, ServerLog
from tools.errors import Undecided
from tools.rule import Cleared, Finding
from tools.rules import admission, pools, stalls

Judged = Callable[..., object]
MAMBA = Notice(
    kind="cap",
    text="max_running_requests is capped to 6 by the mamba state cache (max_mamba_cache_size=32, 5 state slots per request).",
    numbers={"slots_per_request": 5},
)
REDUCED = Notice(
    kind="cap", text="max_running_requests was reduced from the requested 128 to 50 (per dp worker)"
)


def load(
    running: int, queued: int, usage: float, mamba: float | None = None
) -> tuple[DecodeLine, ...]:
    line = DecodeLine(
        running=running, queued=queued, usage=usage, mamba_usage=mamba, tok_s=100.0, graph=True
    )
    return (line,) * 4


def test_a_full_cache_with_a_queue_is_too_small(judged: Judged) -> None:
    assert isinstance(judged(pools.kv_cache_full, ServerLog(decode=load(40, 3, 0.95))), Finding)
    assert isinstance(judged(pools.kv_cache_full, ServerLog(decode=load(40, 3, 0.94))), Cleared)
    assert isinstance(judged(pools.kv_cache_full, ServerLog(decode=load(40, 0, 0.97))), Cleared)


def test_a_queue_below_a_full_cache_needs_room_under_the_limit(judged: Judged) -> None:
    full = pools.kv_cache_full
    assert isinstance(judged(full, ServerLog(decode=load(6, 2, 0.6), max_running=48)), Finding)
    assert isinstance(judged(full, ServerLog(decode=load(6, 2, 0.59), max_running=48)), Cleared)
    assert isinstance(judged(full, ServerLog(decode=load(6, 2, 0.6), max_running=6)), Cleared)
    assert isinstance(
        judged(full, ServerLog(decode=load(6, 2, 0.6, 0.95), max_running=48)), Cleared
    )


def test_retraction_proves_it_and_the_test_mode_does_not(judged: Judged) -> None:
    taken = Notice(kind="retraction", text="#retracted_reqs: 3, #new_tokens_gained: 9000", times=7)
    found = judged(pools.kv_cache_full, ServerLog(decode=load(40, 0, 0.6), notices=(taken,)))
    assert isinstance(found, Finding)
    assert "7 time" in found.statement
    drill = Notice(kind="retraction", text="Testing retraction. ")
    assert isinstance(
        judged(pools.kv_cache_full, ServerLog(decode=load(40, 0, 0.6), notices=(drill,))), Cleared
    )


def test_the_state_pool_caps_while_the_cache_is_empty(judged: Judged) -> None:
    log = ServerLog(decode=load(6, 2, 0.03, 0.94), notices=(MAMBA,))
    found = judged(pools.state_pool_caps, log, ServerInfo(resolved={"max_running_requests": 8}))
    assert isinstance(found, Finding)
    assert "--max-mamba-cache-size 40" in found.remedy[0]
    assert "only what was asked" in found.statement
    assert isinstance(judged(pools.limit_on_running_requests, log), Cleared)


def test_the_state_pool_at_its_edge(judged: Judged) -> None:
    assert isinstance(
        judged(pools.state_pool_caps, ServerLog(decode=load(6, 2, 0.03, 0.9))), Finding
    )
    assert isinstance(
        judged(pools.state_pool_caps, ServerLog(decode=load(6, 2, 0.03, 0.89))), Cleared
    )
    assert isinstance(
        judged(pools.state_pool_caps, ServerLog(decode=load(6, 0, 0.03, 0.94), notices=(MAMBA,))),
        Cleared,
    )
    with pytest.raises(Undecided):
        judged(pools.state_pool_caps, ServerLog(notices=(MAMBA,)))


def test_admission_for_the_whole_context_is_found_at_an_empty_cache(judged: Judged) -> None:
    worst = admission.worst_case_admission
    log = ServerLog(
        decode=load(50, 17, 0.1), notices=(REDUCED,), max_total_tokens=1956160, context_len=32768
    )
    found = judged(worst, log)
    assert isinstance(found, Finding)
    assert "= 59" in found.statement
    assert isinstance(
        judged(worst, ServerLog(decode=load(50, 17, 0.97), notices=(REDUCED,))), Cleared
    )
    assert isinstance(judged(worst, ServerLog(decode=load(50, 17, 0.1))), Cleared)


def test_a_limit_binds_only_with_a_queue_and_free_pools(judged: Judged) -> None:
    limit = pools.limit_on_running_requests
    assert isinstance(judged(limit, ServerLog(decode=load(48, 9, 0.2), max_running=48)), Finding)
    assert isinstance(judged(limit, ServerLog(decode=load(48, 0, 0.2), max_running=48)), Cleared)
    assert isinstance(judged(limit, ServerLog(decode=load(48, 9, 0.5), max_running=48)), Cleared)
    with pytest.raises(Undecided):
        judged(limit, ServerLog(decode=load(20, 9, 0.2), max_running=48))


def busy(
    gap_s: int, tokens: int = 8192, *, running: int = 6, tok_s: float | None = 2000.0
) -> ServerLog:
    stamps = (f"2026-08-17 05:20:{at:02}" for at in (2, 4, 6, 6 + gap_s, 8 + gap_s))
    decode = tuple(DecodeLine(at=at, running=6, tok_s=400.0) for at in stamps)
    line = PrefillLine(
        at="2026-08-17 05:20:06", running=running, new_tokens=tokens, cached_tokens=0, tok_s=tok_s
    )
    return ServerLog(decode=decode, prefill=(line,))


def test_a_stall_needs_its_seconds_its_tokens_and_somebody_who_waits(judged: Judged) -> None:
    held = stalls.prefill_holds_decode_back
    assert isinstance(judged(held, busy(3)), Finding)
    assert isinstance(judged(held, busy(2)), Cleared)
    assert isinstance(judged(held, busy(8, tokens=200)), Cleared)
    assert isinstance(judged(held, busy(8, running=0)), Cleared)


def test_an_idle_hour_between_two_lines_is_no_stall(judged: Judged) -> None:
    held = stalls.prefill_holds_decode_back
    assert isinstance(judged(held, busy(40, tokens=3000)), Cleared)
    assert isinstance(judged(held, busy(40, tokens=1400, tok_s=None)), Cleared)
    assert isinstance(judged(held, busy(40, tokens=1600, tok_s=None)), Finding)


def test_a_refused_mix_is_named(judged: Judged) -> None:
    text = "Mixed chunked prefill is disabled because of using dflash speculative decoding."
    log = busy(9).model_copy(update={"notices": (Notice(kind="speculation", text=text),)})
    found = judged(
        stalls.prefill_holds_decode_back, log, Launch(flags={"enable_mixed_chunk": True})
    )
    assert isinstance(found, Finding)
    assert "refused" in found.statement
    unasked = judged(stalls.prefill_holds_decode_back, log, Launch(flags={}))
    assert isinstance(unasked, Finding)
    assert "refused" not in unasked.statement


def test_a_retraction_long_ago_does_not_fill_the_cache_of_today(judged: Judged) -> None:
    once = Notice(kind="retraction", text="#retracted_reqs: 1")
    quiet = ServerLog(notices=(once,), decode=load(6, 0, 0.22) * 13)
    found = judged(pools.kv_cache_full, quiet)
    assert isinstance(found, Cleared)
    assert "22% full" in found.why
    often = quiet.model_copy(update={"notices": (once.model_copy(update={"times": 2}),)})
    assert isinstance(judged(pools.kv_cache_full, often), Finding)
    full = quiet.model_copy(update={"decode": (*quiet.decode, *load(6, 0, 0.96))})
    assert isinstance(judged(pools.kv_cache_full, full), Finding)


def test_a_full_window_is_a_full_pool_and_named(judged: Judged) -> None:
    line = DecodeLine(running=30, queued=9, usage=0.2, swa_usage=0.96, tok_s=100.0, graph=True)
    found = judged(pools.kv_cache_full, ServerLog(decode=(line,) * 4))
    assert isinstance(found, Finding)
    assert "sliding window" in found.statement
    assert "--swa-full-tokens-ratio" in found.remedy[0]


def test_requests_that_are_sent_back_lose_tokens_and_not_only_time(judged: Judged) -> None:
    def line(running: int, queued: int, usage: float) -> DecodeLine:
        return DecodeLine(running=running, queued=queued, usage=usage, tok_s=100.0)

    back = judged(pools.kv_cache_full, ServerLog(decode=(line(8, 0, 0.99), line(6, 2, 0.98))))
    assert isinstance(back, Finding)
    assert "which ran before" in back.statement
    assert "decode" in back.slows
    new = judged(pools.kv_cache_full, ServerLog(decode=(line(8, 0, 0.99), line(8, 2, 0.98))))
    assert isinstance(new, Finding)
    assert "decode" not in new.slows


def test_a_prompt_that_is_counted_at_its_end_held_the_others_back(judged: Judged) -> None:
    def line(tok_s: float, prompt: float, running: int = 2) -> DecodeLine:
        return DecodeLine(running=running, tok_s=tok_s, prompt_tok_s=prompt)

    usual, slow = (line(32.0, 0.0),) * 4, (line(0.4, 0.0),) * 3
    found = judged(
        stalls.prompt_booked_at_its_end, ServerLog(decode=(*usual, *slow, line(20, 7400), *usual))
    )
    assert isinstance(found, Finding)
    assert "74000 prompt tokens" in found.statement
    rule = stalls.prompt_booked_at_its_end
    assert judged(rule, ServerLog(decode=(*usual, *slow, *usual))) is None
    assert judged(rule, ServerLog(decode=(*usual, *slow[:1], line(20, 7400)))) is None
    one = (line(0.4, 0.0, 1),) * 3
    assert judged(rule, ServerLog(decode=(*usual, *one, line(20, 7400)))) is None
