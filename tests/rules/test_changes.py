"""What got slower in the course of a log: which outcome follows from what changed then."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.engine.simulated import Line, decode, load, start
from tests.rules.conftest import Judged
from tools.engine import Claim, ServerLog
from tools.errors import Undecided
from tools.linux.kernel import KernelLog, XidLine
from tools.rule import Cleared, Finding
from tools.rules import changes, regressions
from tools.sglang.log import read_log

SINCE, BUILD, DRAFTS = changes.RULES


def log_of(*parts: list[str]) -> ServerLog:
    return read_log("\n".join(line for part in parts for line in part))


def one(step_ms: float, seed: int, began: float = 60, lines: int = 100) -> list[str]:
    return decode(lines, lambda _: Line(step_ms=step_ms), seed, began=began, noise=0.02)


SLOWER = (start(0), one(38.5, 1), one(46.0, 2, began=460))


def test_a_change_without_anything_in_the_log_points_outside(judged: Judged) -> None:
    with pytest.raises(Undecided) as why:
        judged(SINCE, log_of(*SLOWER))
    assert why.value.why.startswith("since 13:07 on 2026-09-02 (13:07 to 13:0")
    assert "each decode step takes 1" in why.value.why
    assert "nothing else in this log changed then: look outside" in why.value.why
    assert "nvidia-smi" in why.value.settle
    assert why.value.suspicion >= 0.4


def test_a_rate_that_is_remembered_is_found_in_the_log_before_the_change(judged: Judged) -> None:
    with pytest.raises(
        Undecided, match=r"ran at 7[12] tok/s, since then at 60: the 70 that are remembered"
    ):
        judged(SINCE, log_of(*SLOWER), Claim(before_tok_s=70.0, now_tok_s=60.0))
    with pytest.raises(Undecided, match=r"ran at 7[12] tok/s, since then at 60\.$"):
        judged(SINCE, log_of(*SLOWER), Claim(before_tok_s=90.0))


def test_other_arguments_at_a_restart_are_named_as_the_cause(judged: Judged) -> None:
    log = log_of(start(0), one(20, 1), start(500, backend="triton"), one(23.6, 2, began=560))
    found = judged(SINCE, log)
    assert isinstance(found, Finding)
    assert "restarted with --attention-backend triton instead of fa3" in found.statement
    assert found.remedy == (
        "Start once more with what the run before had: --attention-backend fa3.",
    )
    assert found.effect.decode_pct is not None
    assert (
        -17
        < found.effect.decode_pct[0]
        <= found.effect.decode_pct[1]
        <= found.effect.decode_pct[2]
        < -13
    )
    assert judged(BUILD, log) is None
    assert isinstance(judged(regressions.slower_than_the_run_before, log), Cleared)


def test_a_restart_with_the_same_arguments_is_no_proof(judged: Judged) -> None:
    with pytest.raises(
        Undecided, match="restarted with the same arguments, as far as both are told"
    ):
        judged(SINCE, log_of(start(0), one(20, 1), start(500), one(23.6, 2, began=560)))


def test_another_version_with_the_same_arguments_is_a_regression(judged: Judged) -> None:
    log = log_of(start(0), one(20, 1), start(500), one(23.6, 2, began=560))
    old = log.earlier[0].model_copy(update={"version": "0.5.5"})
    log = log.model_copy(update={"version": "0.5.9", "earlier": (old,)})
    found = judged(BUILD, log)
    assert isinstance(found, Finding)
    assert "started with 0.5.9 instead of 0.5.5" in found.statement
    assert isinstance(judged(SINCE, log), Cleared)


def test_drafts_that_are_accepted_less_since_a_time_are_told_as_that(judged: Judged) -> None:
    def text(at: int) -> Line:
        return Line(accept=2.9 if at < 120 else 2.2)

    log = log_of(start(0), decode(240, text, 1))
    found = judged(DRAFTS, log)
    assert isinstance(found, Finding)
    assert "the accept length is 24 % lower" in found.statement
    assert "while a step takes as long as before" in found.statement
    assert isinstance(judged(SINCE, log), Cleared)


def test_an_xid_at_that_time_makes_it_the_hardware(judged: Judged) -> None:
    def kernel(at: str) -> KernelLog:
        return KernelLog(xids=(XidLine(bdf="0000:9c:00.0", code=63, text="", at=at),))

    found = judged(SINCE, log_of(*SLOWER), kernel("Sep  2 13:07:10"))
    assert isinstance(found, Finding)
    assert found.category == "hardware"
    assert "Xid 63 on 0000:9c:00.0" in found.statement
    with pytest.raises(Undecided):
        judged(SINCE, log_of(*SLOWER), kernel("Sep  2 11:07:10"))


def test_a_steady_log_excludes_it_and_says_what_it_never_reached(judged: Judged) -> None:
    steady = log_of(decode(200, load("daily", 1, 200), 1))
    excluded = judged(SINCE, steady, Claim(before_tok_s=9000.0))
    assert isinstance(excluded, Cleared)
    assert "200 decode lines" in excluded.why
    assert "nowhere in this log are 9000 tok/s reached" in excluded.why
    assert judged(BUILD, steady) is None
    assert judged(DRAFTS, steady) is None


def test_what_is_over_is_told_as_over(judged: Judged) -> None:
    course = [*one(20, 1, lines=150), *one(26, 2, began=660), *one(20, 3, began=1060, lines=150)]
    with pytest.raises(
        Undecided, match=r"from 13:11 to 13:1\d each decode step takes .* and that is over"
    ) as why:
        judged(SINCE, log_of(course))
    assert why.value.suspicion < 0.2


def test_too_short_a_log_and_two_servers_in_one_are_not_judged(judged: Judged) -> None:
    with pytest.raises(Undecided, match="too few"):
        judged(SINCE, log_of(one(20, 1, lines=27)))
    mixed = log_of(one(20, 1)).model_copy(update={"servers": 2})
    with pytest.raises(Undecided, match="same time"):
        judged(SINCE, mixed)


def test_longer_prompts_are_no_slower_steps(judged: Judged) -> None:
    def longer(at: int) -> Line:
        return replace(Line(running=8), context=1000 if at < 100 else 20_000)

    assert isinstance(judged(SINCE, log_of(decode(200, longer, 1))), Cleared)
