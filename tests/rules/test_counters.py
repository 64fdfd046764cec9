from __future__ import annotations

from collections.abc import Callable

import pytest

from tools.engine import Metrics, ServerInfo
from tools.errors import Undecided
from tools.rule import Cleared, Finding
from tools.rules import counters

Judged = Callable[..., object]


def passes(inside: float, outside: float, *, window_s: float | None = 5.0) -> Metrics:
    counted = {counters.WITH: inside, counters.WITHOUT: outside}
    return Metrics(totals=counted, deltas=counted if window_s else {}, window_s=window_s)


def test_passes_outside_a_graph_prove_it_as_a_change_or_as_a_large_total(judged: Judged) -> None:
    rule = counters.passes_without_a_graph
    assert isinstance(judged(rule, passes(1, 19)), Finding)
    assert isinstance(judged(rule, passes(2, 18)), Cleared)
    assert isinstance(judged(rule, passes(0, 1000, window_s=None)), Finding)
    with pytest.raises(Undecided):
        judged(rule, passes(0, 999, window_s=None))


def test_on_a_cpu_no_pass_runs_in_a_graph(judged: Judged) -> None:
    info = ServerInfo(resolved={"device": "cpu"})
    assert isinstance(judged(counters.passes_without_a_graph, passes(0, 962), info), Cleared)


def test_requests_taken_back_count_as_a_change_only(judged: Judged) -> None:
    taken = {"num_retracted_requests_total": 3.0}
    rule = counters.requests_taken_back
    assert isinstance(judged(rule, Metrics(totals=taken, deltas=taken, window_s=5.0)), Finding)
    assert isinstance(judged(rule, Metrics(totals=taken, deltas={"x": 1.0}, window_s=5.0)), Cleared)
    with pytest.raises(Undecided):
        judged(rule, Metrics(totals=taken))


def test_a_full_cache_needs_a_queue(judged: Judged) -> None:
    rule = counters.requests_taken_back

    def gauges(usage: float, queue: float) -> Metrics:
        return Metrics(gauges={"token_usage": usage, "num_queue_reqs": queue}, window_s=5.0)

    assert isinstance(judged(rule, gauges(0.95, 1)), Finding)
    assert isinstance(judged(rule, gauges(0.94, 1)), Cleared)
    assert isinstance(judged(rule, gauges(0.95, 0)), Cleared)
