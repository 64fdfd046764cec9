"""Token times of a burst, read: steps, rates and what is left out of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.measure.told import burst, request
from tools.engine import Burst
from tools.errors import Absent, Unreadable
from tools.probes.burst import ReadBurst


def read(*requests: dict[str, Any], **more: Any) -> Burst:
    return ReadBurst().parse(json.dumps({"burst": burst(*requests, **more)}))


def test_a_step_is_decode_seconds_by_verify_steps() -> None:
    one = request(
        1, step_ms=50, steps=100, accept=3, spec={"spec_verify_ct": 100, "spec_accept_length": 3.01}
    )
    (told,) = read(one).decode
    assert told.step_ms == pytest.approx(50, rel=0.01)
    assert told.accept_len == pytest.approx(3.01)
    assert told.tok_s == pytest.approx(60, rel=0.01)


def test_the_accept_length_is_that_of_all_steps_together() -> None:
    many = request(1, step_ms=50, steps=300, accept=1, spec={"spec_verify_ct": 300})
    few = request(1, step_ms=50, steps=100, accept=3, spec={"spec_verify_ct": 100})
    assert read(many, few).decode[0].accept_len == pytest.approx(602 / 400)


def test_the_engines_own_clock_goes_before_that_of_a_client_who_waits() -> None:
    late = {"e2e_latency": 6.03, "first_token_latency": 0.03}
    told = read(request(1, step_ms=2, steps=100, first_ms=5830, spec=late)).decode[0]
    assert told.step_ms == pytest.approx(60)
    assert told.ttft_ms == pytest.approx(30)
    older = read(request(1, step_ms=2, steps=100, spec={"decode_throughput": 50.0})).decode[0]
    assert older.step_ms == pytest.approx(20)


def test_without_speculation_a_step_is_a_token() -> None:
    (told,) = read(request(1, step_ms=20, steps=60)).decode
    assert told.step_ms == pytest.approx(20, rel=0.01)
    assert told.accept_len is None
    assert told.itl_ms == pytest.approx(20, rel=0.01)


def test_only_the_time_in_which_all_streams_run_counts() -> None:
    """The first is alone for a second at 10 ms; together they take 40 ms."""
    alone = request(2, step_ms=10, steps=100)
    at = alone["chunks"][-1][0]
    alone["chunks"] += [[at + 400 * n, alone["chunks"][-1][1] + n] for n in range(1, 60)]
    late = request(2, step_ms=40, steps=50, sent_s=1.0)
    (told,) = read(alone, late).decode
    assert told.step_ms == pytest.approx(40, rel=0.02)
    assert told.tok_s == pytest.approx(50, rel=0.02)


def test_a_cut_request_of_a_server_that_speculates_tells_no_step() -> None:
    whole = request(1, step_ms=50, steps=100, accept=3, spec={"spec_verify_ct": 100})
    cut = request(4, step_ms=70, steps=30, accept=3, ended="cut")
    told = read(whole, *[cut] * 4)
    assert told.at(4) is not None
    assert told.at(4).step_ms is None  # type: ignore[union-attr]
    assert told.at(4).tok_s == pytest.approx(4 * 3 / 0.07, rel=0.02)  # type: ignore[union-attr]


def test_a_prompt_that_a_cache_knew_is_no_cold_one() -> None:
    cold = request(1, kind="cold", step_ms=1, steps=0, first_ms=2000, prompt=8000)
    step = request(1, step_ms=20, steps=60)
    assert read(step, cold).prefill_tok_s == pytest.approx(4000)
    cold["meta"]["cached_tokens"] = 4000
    assert read(step, cold).prefill_tok_s is None


def test_the_servers_own_counters_tell_of_graphs_and_of_others() -> None:
    step = request(1, step_ms=20, steps=60)
    counters = {"cuda_graph_passes_total/decode_cuda_graph": 60.0, "generation_tokens_total": 61.0}
    told = read(step, counters=counters)
    assert told.graph is True
    assert told.foreign_tokens == 0
    told = read(
        step,
        counters={"cuda_graph_passes_total/decode_none": 60.0, "generation_tokens_total": 161.0},
    )
    assert told.graph is False
    assert told.foreign_tokens == 100


def test_the_busiest_core_and_the_quota_are_told() -> None:
    cores = [[0.5, 10, 90], [1.0, 20, 100]]
    told = read(
        request(1, step_ms=20, steps=60),
        cores=cores,
        cgroup={"nr_throttled": 7, "throttled_usec": 3100},
    )
    assert told.busiest_core_pct == 95
    assert (told.throttled, told.throttled_ms) == (7, 3.1)


def test_a_burst_that_measured_nothing_says_why() -> None:
    with pytest.raises(Absent, match="the server turned busy"):
        read(stopped="the server turned busy: 3 requests of others")


def test_two_bursts_are_not_mixed() -> None:
    first, second = read(request(1, step_ms=20, steps=60)), read(request(1, step_ms=30, steps=60))
    assert first.merged(second) == second


@pytest.mark.parametrize(
    "said",
    [
        "{}",
        '{"burst": 3}',
        '{"burst": {"requests": [{}], "host": {}}}',
        '{"burst": {"requests": [{"kind": "decode", "streams": 1, "ended": "done", "meta": null, "sent_s": 0, "chunks": [[1, 1]]}], "host": {}}}',
        '{"burst": {"requests": [{"kind": "decode", "streams": 1, "ended": "done", "meta": {}, "sent_s": "x", "chunks": []}], "host": {}}}',
        '{"burst": {"requests": [], "host": [], "counters": 5}}',
    ],
)
def test_what_is_not_in_its_form_is_unreadable(said: str) -> None:
    with pytest.raises((Unreadable, Absent)):
        ReadBurst().parse(said)
