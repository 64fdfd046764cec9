from __future__ import annotations

from collections.abc import Callable

from tools.engine import DecodeLine, ServerLog
from tools.rule import Cleared, Finding
from tools.rules import switches

Judged = Callable[..., object]


def run(
    tok_s: float, *, accept: float | None = None, graph: bool = True, **resolved: object
) -> ServerLog:
    line = DecodeLine(running=8, tok_s=tok_s, accept_len=accept, graph=graph)
    return ServerLog(decode=(line,) * 10, resolved={"model_path": "m", **resolved})


def alone(first_ms: float, last_ms: float, backend: str, longest: int = 2000) -> ServerLog:
    steps = [first_ms + (last_ms - first_ms) * part / 11 for part in range(12)]
    tokens = [200 + (longest - 200) * part // 11 for part in range(12)]
    lines = tuple(
        DecodeLine(running=1, tokens=n, tok_s=1000 / ms)
        for n, ms in zip(tokens, steps, strict=True)
    )
    return ServerLog(decode=lines, resolved={"model_path": "m", "attention_backend": backend})


def after(old: ServerLog, new: ServerLog) -> ServerLog:
    return new.model_copy(update={"earlier": (old.as_earlier(),)})


def test_graphs_that_made_nothing_faster_are_not_missed(judged: Judged) -> None:
    tried = switches.graphs_were_tried
    assert isinstance(judged(tried, after(run(60), run(120, graph=False))), Cleared)
    assert isinstance(judged(tried, after(run(120, graph=False), run(60))), Cleared)
    assert judged(tried, after(run(120), run(60, graph=False))) is None
    assert judged(tried, run(60, graph=False)) is None


def test_a_switch_that_changes_what_is_accepted_is_a_fault_of_the_engine(judged: Judged) -> None:
    differs = switches.a_switch_changes_what_is_accepted
    off, on = (
        run(120, accept=3.6, disable_cuda_graph=True),
        run(60, accept=1.8, disable_cuda_graph=False),
    )
    for log in (after(off, on), after(on, off)):
        found = judged(differs, log)
        assert isinstance(found, Finding)
        assert found.category == "software_bug"
        assert "1.80 with disable_cuda_graph=False" in found.statement
    alike = run(120, accept=3.4, disable_cuda_graph=False)
    assert judged(differs, after(off, alike)) is None


def test_another_draft_may_be_accepted_less(judged: Judged) -> None:
    differs = switches.a_switch_changes_what_is_accepted
    one, other = (
        run(120, accept=3.6, speculative_num_steps=5),
        run(60, accept=1.8, speculative_num_steps=1),
    )
    assert judged(differs, after(one, other)) is None
    assert judged(differs, after(run(120, accept=3.6), run(60, accept=1.8))) is None


def test_of_two_backends_one_slows_with_the_length(judged: Judged) -> None:
    slows = switches.one_backend_slows_with_length
    found = judged(slows, after(alone(6.8, 7.9, "triton"), alone(6.9, 6.95, "flashinfer")))
    assert isinstance(found, Finding)
    assert found.statement.startswith("With triton")
    assert found.remedy == ("--attention-backend flashinfer.",)
    alike = after(alone(6.8, 7.9, "triton"), alone(6.9, 7.9, "flashinfer"))
    assert isinstance(judged(slows, alike), Cleared)
    assert judged(slows, alone(6.8, 7.9, "triton")) is None
    short = after(alone(6.8, 7.9, "triton", 400), alone(6.9, 6.9, "flashinfer", 400))
    assert judged(slows, short) is None
