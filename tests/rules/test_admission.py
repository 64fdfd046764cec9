from __future__ import annotations

from collections.abc import Callable

from tools.engine import DecodeLine, PrefillLine, ServerLog
from tools.rule import Finding
from tools.rules import admission

Judged = Callable[..., object]


def held(running: int = 3, usage: float = 0.1, mamba: float = 0.5, lines: int = 24) -> ServerLog:
    told = tuple(
        DecodeLine(
            at=f"2026-08-19 20:10:{second:02d}", running=running, queued=1, usage=usage,
            mamba_usage=mamba, tok_s=300.0,
        )
        for second in range(lines)
    )  # fmt: skip
    return ServerLog(decode=told, max_running=4)


def test_who_waits_while_nothing_is_short_is_held_back_by_the_scheduler(judged: Judged) -> None:
    found = judged(admission.nothing_is_short_and_nobody_is_let_in, held())
    assert isinstance(found, Finding)
    assert "3 of 4 allowed requests run and at least 1 wait" in found.statement


def test_a_limit_a_pool_or_a_short_wait_is_another_matter(judged: Judged) -> None:
    rule = admission.nothing_is_short_and_nobody_is_let_in
    assert judged(rule, held(running=4)) is None
    assert judged(rule, held(mamba=0.6)) is None
    assert judged(rule, held(usage=0.7)) is None
    assert judged(rule, held(lines=19)) is None


def test_while_prompts_are_read_a_queue_is_no_riddle(judged: Judged) -> None:
    read = tuple(
        PrefillLine(at=f"2026-08-19 20:10:{second:02d}", new_tokens=2048, running=3)
        for second in range(0, 24, 3)
    )
    log = held().model_copy(update={"prefill": read})
    assert judged(admission.nothing_is_short_and_nobody_is_let_in, log) is None
