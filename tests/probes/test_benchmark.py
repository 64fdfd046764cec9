"""Benchmarks: secrets go, figures stay, serve logs are none."""

import json
from contextlib import suppress
from pathlib import Path

import pytest

from tests.hostile_texts import ANYWHERE
from tools.errors import ProbeError
from tools.probes.benchmark import ReadBenchmark

GOLDEN = Path(__file__).parent.parent / "golden" / "ReadBenchmark"


def test_what_the_server_was_started_with_is_dropped_before_anything_is_kept() -> None:
    line = {
        "duration": 2.0,
        "completed": 3,
        "server_info": {"api_key": "hunter2"},
        "generated_texts": ["my secret"],
        "label": "of my secret",
        "tag": None,
    }
    text = json.dumps(line) + "\nbenchmark_args=Namespace(header=['X: hunter2'])\n"
    kept = ReadBenchmark().clean(text)
    assert "hunter2" not in kept
    assert "my secret" not in kept
    assert ReadBenchmark().parse(kept).duration_s == 2.0


def test_the_last_of_several_runs_counts() -> None:
    runs = "\n".join(json.dumps({"duration": n, "completed": n}) for n in (1, 2, 3))
    assert ReadBenchmark().parse(runs).prompts == 3


@pytest.mark.parametrize("text", [
    "[2026-07-04 20:59:20 TP0] Decode batch, gen throughput (token/s): 55.0\nAccept length: 3\n",
    "gpu, tok/s\n", "throughput is 5 tok/s\nnot 6\n", '{"model": "x", "duration": 3}\n', "Benchmarking is fun: 5\n",
])  # fmt: skip
def test_other_texts_are_none(text: str) -> None:
    assert not ReadBenchmark().recognises(text)


def test_a_path_may_not_look_like_an_option() -> None:
    with pytest.raises(ValueError, match="path"):
        ReadBenchmark(path="-x")


PRETTY = (GOLDEN / "sglang_0_5_23_with_details_pretty.out").read_text("utf-8")


@pytest.mark.parametrize(
    "text", [PRETTY, f"[\n{PRETTY},\n{PRETTY}]", json.dumps(json.loads(PRETTY))]
)
def test_a_result_over_many_lines_keeps_figures_alone(text: str) -> None:
    probe = ReadBenchmark()
    assert probe.recognises(text)
    kept = probe.clean(text)
    for secret in ("sk-live-topsecret", "Mr Miller", "4711", "model_path"):
        assert secret in text
        assert secret not in kept
    found = probe.parse(kept)
    assert (found.accept_len, found.cache_hit_rate, found.concurrency) == (2.91, 0.6256, 8)


def test_a_result_that_counts_failures_is_no_refusal_of_our_script() -> None:
    kept = ReadBenchmark().clean('{"failed": 2, "duration": 3.0, "completed": 4}')
    assert ReadBenchmark().parse(kept).failed == 2


def test_of_the_arguments_of_a_client_sizes_are_kept() -> None:
    line = "benchmark_args=Namespace(backend='sglang', api_key='hunter2', num_prompts=200, header=['a'])"
    assert (
        ReadBenchmark().clean(line) == "benchmark_args=Namespace(backend='sglang', num_prompts=200)"
    )


def test_figures_of_an_earlier_result_are_not_mixed_into_a_later_one() -> None:
    table = "\n============ Serving Benchmark Result ============\nSuccessful requests:     {n}\n"
    text = table.format(n=5) + "Accept length:      3.10\n" + table.format(n=9)
    found = ReadBenchmark().parse(text)
    assert (found.prompts, found.accept_len) == (9, None)


def test_a_batch_size_alone_is_no_benchmark() -> None:
    assert not ReadBenchmark().recognises("batch size: 16\nlatency: 3 s\n")


def test_an_export_of_aiperf_as_csv_and_json_is_read_as_its_table() -> None:
    csv = (
        "Metric,avg,min,max,p99,p90,p50,std\n"
        "Time to First Token (ms),347.97,150.11,812.55,800.02,610.10,310.20,140.22\n"
        'Request Latency (ms),"4,100.02","3,900.10","4,900.99","4,890.20","4,500.10","4,050.10",201.10\n'
        "\nMetric,Value\nOutput Token Throughput (tokens/sec),1042.10\n"
    )
    told = {
        "input_config": {"endpoint": {"api_key": "hunter2", "urls": ["http://h"]}},
        "time_to_first_token": {"unit": "sec", "avg": 0.34797, "p50": 0.3102, "p99": 0.80002},
        "request_latency": {"unit": "ms", "avg": 4100.02},
        "output_token_throughput": {"unit": "tokens/sec", "avg": 1042.1},
    }
    text = json.dumps(told, indent=2)
    assert "hunter2" not in ReadBenchmark().clean(text)
    for one in (csv, text):
        assert ReadBenchmark().recognises(one)
        found = ReadBenchmark().parse(ReadBenchmark().clean(one))
        assert found.ttft_mean_ms == pytest.approx(347.97)
        assert (found.latency_mean_ms, found.output_tok_s) == (4100.02, 1042.1)


@pytest.mark.parametrize("name", sorted(ANYWHERE))
@pytest.mark.parametrize(
    "head", ["", "Metric,avg\n", "| batch size | output throughput (tok/s) |\n", "{", "[{"]
)
def test_hostile_text_is_read_or_refused(name: str, head: str) -> None:
    text = head + ANYWHERE[name].text()
    ReadBenchmark().recognises(text)
    with suppress(ProbeError):
        ReadBenchmark().parse(ReadBenchmark().clean(text))
