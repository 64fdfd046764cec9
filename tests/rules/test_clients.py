from __future__ import annotations

from collections.abc import Callable

import pytest

from tools.engine import (
    Benchmark,
    Claim,
    DecodeLine,
    Metrics,
    Notice,
    PrefillLine,
    Requests,
    ServerLog,
)
from tools.errors import Undecided
from tools.linux.machine import Process, Processes
from tools.nvidia.gpus import Gpus, GpuSample
from tools.rule import Cleared, Finding
from tools.rules import client, measurement, stalls, text_pipeline

Judged = Callable[..., object]


def load(*running: int, queued: int = 0, tok_s: float = 400.0, usage: float = 0.01) -> ServerLog:
    return ServerLog(
        decode=tuple(
            DecodeLine(running=n, queued=queued, tok_s=tok_s, usage=usage) for n in running
        )
    )


def test_a_client_that_queues_by_itself(judged: Judged) -> None:
    queue = client.client_queues_by_itself
    slow = Benchmark(ttft_mean_ms=33000, concurrency=4, prompts=20)
    assert isinstance(judged(queue, load(*[4] * 5), slow), Finding)
    assert isinstance(judged(queue, load(*[4] * 5, queued=3), slow), Cleared)
    assert isinstance(
        judged(queue, load(*[4] * 5), slow.model_copy(update={"ttft_mean_ms": 4999.0})), Cleared
    )
    with pytest.raises(Undecided):
        judged(queue, load(*[4] * 4), slow)
    with pytest.raises(Undecided):
        judged(queue, load(*[4] * 5), slow.model_copy(update={"prompts": 4}))


def test_a_server_that_is_starved_by_its_client(judged: Judged) -> None:
    starved = client.client_starves_the_server
    assert isinstance(judged(starved, load(812, 240, 9, 6, 7, 5, 7)), Finding)
    assert isinstance(judged(starved, load(812, 240, 9, 6, 7, 5, 7, usage=0.5)), Cleared)
    assert isinstance(judged(starved, load(812, 240, 9, 6, 7, 5, 7, queued=5)), Cleared)
    assert isinstance(judged(starved, load(31, 9, 1, 0, 1, 0, 1)), Cleared)
    with pytest.raises(Undecided):
        judged(starved, load(812, 240, 9, 7, 6, 5))


def test_a_claim_of_many_in_flight_makes_it_surer(judged: Judged) -> None:
    log = load(812, 240, 9, 6, 7, 5, 7)
    alone, claimed = (
        judged(client.client_starves_the_server, log, *more)
        for more in ((), (Benchmark(concurrency=1024),))
    )
    assert isinstance(alone, Finding)
    assert isinstance(claimed, Finding)
    assert claimed.confidence > alone.confidence


def test_a_server_faster_than_its_client_is_a_suspicion(judged: Judged) -> None:
    log = load(*[4] * 5)
    assert isinstance(
        judged(client.server_faster_than_client, log, Benchmark(output_tok_s=308, concurrency=4)),
        Cleared,
    )
    with pytest.raises(Undecided):
        judged(client.server_faster_than_client, log, Benchmark(output_tok_s=307, concurrency=4))


def engine(cpu: float, name: str = "sglang::detoken") -> Processes:
    return Processes(rows=(Process(pid=3001, name=name, cpu_pct=cpu),))


def test_a_detokenizer_at_a_full_core(judged: Judged) -> None:
    full = text_pipeline.detokenizer_full
    assert isinstance(judged(full, engine(95.0)), Finding)
    assert isinstance(judged(full, engine(94.9)), Cleared)
    assert isinstance(judged(full, engine(100.0, "sglang::schedul")), Cleared)


def test_clients_that_see_the_engine_s_own_gap_clear_the_detokenizer(judged: Judged) -> None:
    log = ServerLog(decode=tuple(DecodeLine(running=128, tok_s=3200.0) for _ in range(3)))  # 40 ms
    assert isinstance(
        judged(text_pipeline.detokenizer_full, engine(99.7), log, Benchmark(itl_median_ms=59)),
        Cleared,
    )
    assert isinstance(
        judged(text_pipeline.detokenizer_full, engine(99.7), log, Benchmark(itl_median_ms=60)),
        Finding,
    )


def test_a_slow_tokenizer_alone_is_a_suspicion(judged: Judged) -> None:
    log = ServerLog(notices=(Notice(kind="slow_tokenizer", text="Using a slow tokenizer."),))
    with pytest.raises(Undecided):
        judged(text_pipeline.tokenizer_is_slow, log)
    assert isinstance(judged(text_pipeline.tokenizer_is_slow, ServerLog()), Cleared)


def test_utilisation_never_proves_that_the_host_is_the_limit(judged: Judged) -> None:
    host = text_pipeline.host_cannot_feed_the_gpu

    def gpu(util: float, watts: float = 150) -> Gpus:
        return Gpus(samples=(GpuSample(index=0, util_pct=util, power_w=watts, power_limit_w=450),))

    with pytest.raises(Undecided):
        judged(host, engine(310, "sglang-omni"), gpu(83))
    assert isinstance(judged(host, engine(310, "sglang-omni"), gpu(91)), Cleared)
    assert isinstance(judged(host, engine(310, "sglang-omni"), gpu(83, 300)), Cleared)
    assert isinstance(
        judged(host, engine(100, "sglang::schedul"), gpu(83), ServerLog(started=True)), Cleared
    )


def test_a_gpu_that_idles_between_steps_waits_for_the_host(judged: Judged) -> None:
    host = text_pipeline.host_cannot_feed_the_gpu
    log = ServerLog(decode=(DecodeLine(running=80, tok_s=250.0),) * 4)

    def gpus(*utils: float) -> Gpus:
        return Gpus(samples=tuple(GpuSample(index=n, util_pct=u) for n, u in enumerate(utils)))

    found = judged(host, engine(100, "sglang::schedul"), gpus(4, 4), log)
    assert isinstance(found, Finding)
    assert "80 request(s) are decoded" in found.statement
    assert isinstance(judged(host, engine(100, "sglang::schedul"), gpus(0, 0), log), Cleared)
    assert isinstance(judged(host, engine(100, "sglang::schedul"), gpus(96, 1, 1), log), Cleared)
    assert isinstance(judged(host, engine(100, "sglang::schedul"), gpus(4, 4)), Cleared)


def gaps(first: float, rest: float = 84.0) -> ServerLog:
    line = DecodeLine(running=1, tok_s=rest)
    return ServerLog(decode=(DecodeLine(running=1, tok_s=first, after_gap=True), line, line))


def test_a_low_rate_after_a_gap_is_no_fault(judged: Judged) -> None:
    found = judged(measurement.rate_over_an_idle_gap, gaps(41.9))
    assert isinstance(found, Finding)
    assert found.benign
    assert isinstance(judged(measurement.rate_over_an_idle_gap, gaps(42.0)), Cleared)


def test_one_gap_in_a_long_log_is_not_what_a_person_sees(judged: Judged) -> None:
    line = DecodeLine(running=1, tok_s=84.0)
    gap = DecodeLine(running=1, tok_s=3.0, after_gap=True)
    assert isinstance(
        judged(measurement.rate_over_an_idle_gap, ServerLog(decode=(gap, *[line] * 5))), Finding
    )
    assert isinstance(
        judged(measurement.rate_over_an_idle_gap, ServerLog(decode=(gap, *[line] * 6))), Cleared
    )


def test_a_rate_that_is_low_elsewhere_too_is_not_explained_by_gaps(judged: Judged) -> None:
    slow = (DecodeLine(running=1, tok_s=20.0),)
    log = gaps(3.0).model_copy(update={"decode": gaps(3.0).decode + slow})
    assert isinstance(judged(measurement.rate_over_an_idle_gap, log), Cleared)


def test_a_stopwatch_counts_the_prompt_too(judged: Judged) -> None:
    log = gaps(80.0, 100.0).model_copy(
        update={"prefill": (PrefillLine(new_tokens=4000, cached_tokens=0),)}
    )
    assert isinstance(judged(measurement.rate_by_stopwatch, log, Claim(now_tok_s=84)), Finding)
    assert isinstance(judged(measurement.rate_by_stopwatch, log, Claim(now_tok_s=85)), Cleared)


def test_a_share_of_the_batch_is_not_the_total(judged: Judged) -> None:
    log = load(*[4] * 5)
    assert isinstance(
        judged(measurement.one_share_of_the_batch, log, Claim(now_tok_s=100)), Finding
    )
    assert isinstance(
        judged(measurement.one_share_of_the_batch, log, Claim(now_tok_s=300)), Cleared
    )
    assert isinstance(
        judged(measurement.one_share_of_the_batch, load(*[1] * 5), Claim(now_tok_s=400)), Cleared
    )


def test_reasoning_that_nobody_sees(judged: Judged) -> None:
    hidden = measurement.tokens_nobody_sees
    assert isinstance(judged(hidden, Requests(reasoning_tokens=50, completion_tokens=100)), Finding)
    assert isinstance(judged(hidden, Requests(reasoning_tokens=49, completion_tokens=100)), Cleared)


def test_a_tail_far_above_the_median_is_another_s_prompt(judged: Judged) -> None:
    tail = stalls.tail_from_long_prompts
    shape = Benchmark(itl_median_ms=15, itl_p99_ms=300, concurrency=8)
    assert isinstance(judged(tail, shape), Finding)
    assert isinstance(judged(tail, shape.model_copy(update={"itl_p99_ms": 299.0})), Cleared)
    assert isinstance(judged(tail, shape.model_copy(update={"concurrency": 1})), Cleared)
    hot = Gpus(
        samples=(GpuSample(index=0, util_pct=98, reasons=frozenset({"sw_thermal_slowdown"})),)
    )
    with pytest.raises(Undecided):
        judged(tail, shape, hot)


def test_rates_of_one_request_are_taken_from_all_lines_of_a_changing_load(judged: Judged) -> None:
    lines = tuple(DecodeLine(running=n, tok_s=46.0 * n) for n in (33, 34, 35, 36))
    share = measurement.one_share_of_the_batch
    found = judged(share, ServerLog(decode=lines), Claim(now_tok_s=46))
    assert isinstance(found, Finding)
    assert "46 tok/s for each" in found.statement
    known = Claim(now_tok_s=46, for_each=True)
    assert isinstance(judged(share, ServerLog(decode=lines), known), Cleared)


def test_a_rate_that_the_log_itself_shows_is_no_stopwatch_s(judged: Judged) -> None:
    falling = tuple(DecodeLine(running=1, tok_s=rate) for rate in (84.0, 80.0, 60.0, 44.0))
    log = ServerLog(decode=falling, prefill=(PrefillLine(new_tokens=9000),))
    assert isinstance(judged(measurement.rate_by_stopwatch, log, Claim(now_tok_s=44)), Cleared)
    assert isinstance(judged(measurement.rate_by_stopwatch, log, Claim(now_tok_s=30)), Finding)


def test_the_median_is_that_of_lines_with_as_many_requests(judged: Judged) -> None:
    two = DecodeLine(running=2, tok_s=143.0)
    log = gaps(0.7, 75.0).model_copy(update={"decode": (*gaps(0.7, 75.0).decode, two)})
    found = judged(measurement.rate_over_an_idle_gap, log)
    assert isinstance(found, Finding)
    assert "the 2 other lines with #running-req: 1 show 75.0 tok/s" in found.statement


def test_probes_of_health_alone_are_no_traffic(judged: Judged) -> None:
    found = judged(measurement.rate_over_an_idle_gap, ServerLog(health_prefills=3))
    assert isinstance(found, Finding)
    assert found.benign
    assert isinstance(
        judged(measurement.rate_over_an_idle_gap, ServerLog(health_prefills=2)), Cleared
    )


def test_a_load_that_stays_far_below_what_is_said_to_be_sent(judged: Judged) -> None:
    starved, log = client.client_starves_the_server, load(*[8] * 10)
    assert isinstance(judged(starved, log, Claim(in_parallel=32)), Finding)
    assert isinstance(judged(starved, log, Claim(in_parallel=31)), Cleared)
    assert isinstance(judged(starved, load(*[8] * 9), Claim(in_parallel=256)), Cleared)
    queued = load(*[8] * 10, queued=1)
    assert isinstance(judged(starved, queued, Claim(in_parallel=256)), Cleared)


def counted(mean_s: float, count: float) -> dict[str, float]:
    return {
        "time_to_first_token_seconds_sum": mean_s * count,
        "time_to_first_token_seconds_count": count,
    }


def test_a_wait_that_the_server_does_not_count_is_the_clients(judged: Judged) -> None:
    waits = client.client_waits_before_the_server
    slow = Benchmark(ttft_mean_ms=12_000, prompts=100)
    own = judged(waits, slow, Metrics(deltas=counted(0.4, 100), window_s=60.0))
    assert isinstance(own, Finding)
    assert "The client counts 12.0 s to the first token, the server 0.40 s" in own.statement
    assert isinstance(judged(waits, slow, Metrics(deltas=counted(9.0, 100))), Cleared)
    fast = slow.model_copy(update={"ttft_mean_ms": 300.0})
    assert isinstance(judged(waits, fast, Metrics(totals=counted(0.1, 100))), Cleared)


def test_counters_of_other_traffic_say_nothing_of_a_run(judged: Judged) -> None:
    slow = Benchmark(ttft_mean_ms=12_000, prompts=100)
    with pytest.raises(Undecided, match=r"^$"):
        judged(client.client_waits_before_the_server, slow, Metrics(totals=counted(0.4, 90_000)))
