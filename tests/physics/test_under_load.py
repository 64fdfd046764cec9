"""Figures of our own load go before those of a log."""

from __future__ import annotations

import pytest

from tools.engine import Burst, BurstDecode, DecodeLine, ServerLog
from tools.errors import Undecided
from tools.physics.under_load import measured, prefill_tok_s

LOG = ServerLog(decode=tuple(DecodeLine(running=8, tok_s=300.0, tokens=8000) for _ in range(5)))
ONE = BurstDecode(streams=1, step_ms=55.0, tok_s=60.0, accept_len=3.3, context=280.0, tokens=200)
FOUR = BurstDecode(streams=4, step_ms=60.0, tok_s=220.0, accept_len=3.3, context=280.0, tokens=800)


def test_the_fewest_streams_of_a_burst_are_what_the_model_is_held_against() -> None:
    told = measured(LOG, Burst(decode=(FOUR, ONE), graph=True))
    assert (told.running, told.tok_s, told.accept_len, told.context, told.graph) == (
        1,
        60.0,
        3.3,
        280.0,
        True,
    )


@pytest.mark.parametrize("burst", [None, Burst(prefill_tok_s=900.0, prefill_tokens=500)])
def test_without_a_step_of_ours_the_log_tells(burst: Burst | None) -> None:
    assert measured(LOG, burst).running == 8
    with pytest.raises(Undecided, match="no serve log"):
        measured(None, burst)


@pytest.mark.parametrize(("tokens", "rate"), [(2048, 900.0), (2047, None)])
def test_a_short_prompt_tells_no_rate(tokens: int, rate: float | None) -> None:
    assert prefill_tok_s(None, Burst(prefill_tok_s=900.0, prefill_tokens=tokens)) == rate
