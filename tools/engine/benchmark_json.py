"""Results of benchmarks as JSON: a line each, or one object over many lines; figures alone go through.

Such a result also holds the server's arguments with its keys, prompts, answers and headers, so what
is kept is an allow-list. Keys as written by sglang 0.4.0 to 0.5.23 (bench_serving,
bench_offline_throughput, bench_one_batch, bench_one_batch_server), vllm/benchmarks to 0.32 (serve,
latency, throughput), genai-perf 0.0.16 and aiperf 0.13 (a mapping of statistics for each metric).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tools.probe import JSON

Told = dict[str, Any]
MS = 1000.0
_BATCH = {"batch_size": ("concurrency", 1.0)}
_KINDS: tuple[tuple[str, frozenset[str], dict[str, tuple[str, float]]], ...] = (
    ("bench_one_batch", frozenset({"batch_size", "prefill_throughput"}), _BATCH | {
        "prefill_throughput": ("input_tok_s", 1.0), "prefill_latency": ("ttft_mean_ms", MS),
        "median_decode_throughput": ("output_tok_s", 1.0), "median_decode_latency": ("tpot_median_ms", MS),
        "total_latency": ("latency_mean_ms", MS),
    }),
    ("bench_one_batch_server", frozenset({"batch_size", "latency", "output_throughput"}), _BATCH | {
        "input_throughput": ("input_tok_s", 1.0), "output_throughput": ("output_tok_s", 1.0),
        "latency": ("latency_mean_ms", MS), "last_ttft": ("ttft_mean_ms", MS), "acc_length": ("accept_len", 1.0),
        "cache_hit_rate": ("cache_hit_rate", 1.0),
    }),
    ("bench_offline_throughput", frozenset({"successful_requests", "total_latency"}), {
        "successful_requests": ("prompts", 1.0), "total_latency": ("duration_s", 1.0),
        "total_input_tokens": ("input_tokens", 1.0), "total_output_tokens": ("output_tokens", 1.0),
        "input_throughput": ("input_tok_s", 1.0), "output_throughput": ("output_tok_s", 1.0),
    }),
    ("vllm bench throughput", frozenset({"elapsed_time", "requests_per_second", "tokens_per_second"}), {
        "elapsed_time": ("duration_s", 1.0), "num_requests": ("prompts", 1.0),
        "tokens_per_second": ("total_tok_s", 1.0),
    }),
    ("vllm bench latency", frozenset({"avg_latency", "percentiles"}), {"avg_latency": ("latency_mean_ms", MS)}),
)  # fmt: skip
_SERVING = {
    "max_concurrency": "concurrency", "completed": "prompts", "failed": "failed", "duration": "duration_s",
    "total_input_tokens": "input_tokens", "total_output_tokens": "output_tokens", "input_throughput": "input_tok_s",
    "output_throughput": "output_tok_s", "concurrency": "concurrency_mean", "accept_length": "accept_len",
    "spec_decode_acceptance_length": "accept_len", "mean_ttft_ms": "ttft_mean_ms", "median_ttft_ms": "ttft_median_ms",
    "p99_ttft_ms": "ttft_p99_ms", "mean_tpot_ms": "tpot_mean_ms", "median_tpot_ms": "tpot_median_ms",
    "mean_itl_ms": "itl_mean_ms", "median_itl_ms": "itl_median_ms", "p99_itl_ms": "itl_p99_ms",
    "max_itl_ms": "itl_max_ms", "mean_e2e_latency_ms": "latency_mean_ms", "mean_e2el_ms": "latency_mean_ms",
}  # fmt: skip
_SERVING_SIGNS = ({"duration", "completed"}, {"mean_ttft_ms", "output_throughput"})
_CACHED, _CACHED_PCT = "cache_report", "cache_hit_rate_pct"
_WORDS = ("backend", "endpoint_type", "dataset_name", "request_rate", "tag", "date")
SERVED = frozenset({*_SERVING, *_WORDS})  # what may be printed of a serving benchmark's line
_STATS = ("unit", "avg", "p50", "p99", "max")
_PERF = {  # of genai-perf and aiperf: metric, statistic -> field
    ("time_to_first_token", "avg"): "ttft_mean_ms", ("time_to_first_token", "p50"): "ttft_median_ms",
    ("time_to_first_token", "p99"): "ttft_p99_ms", ("inter_token_latency", "avg"): "itl_mean_ms",
    ("inter_token_latency", "p50"): "itl_median_ms", ("inter_token_latency", "p99"): "itl_p99_ms",
    ("inter_token_latency", "max"): "itl_max_ms", ("request_latency", "avg"): "latency_mean_ms",
    ("output_token_throughput", "avg"): "output_tok_s", ("request_count", "avg"): "prompts",
    ("error_request_count", "avg"): "failed",
}  # fmt: skip
_PERF_NAMES = frozenset(name for name, _ in _PERF)
_PERF_SIGNS = ("output_token_throughput", "request_throughput")
_SECONDS = frozenset({"s", "sec", "seconds"})
COUNTS = frozenset({"concurrency", "prompts", "failed", "input_tokens", "output_tokens"})
_KEPT = (*_SERVING, *dict.fromkeys(key for _, _, names in _KINDS for key in names))
_SIGNS = tuple(sorted({key for _, signs, _ in _KINDS for key in signs} - set(_KEPT)))
_OPENS = re.compile(r"\s{0,1000}(?:\{|\[\s{0,1000}\{)")
_LONGEST = 100  # characters of a word that is kept


def results(text: str) -> list[Told]:
    """Return the results that a text holds as JSON, cut down to what may be kept."""
    return [slim(said) for said in _objects(text) if is_result(said)]


def is_json(text: str) -> bool:
    """Say whether a text begins as an object of JSON, or as a list of them."""
    return _OPENS.match(text) is not None


def holds_result(text: str) -> bool:
    """Say whether a text that is JSON holds a result: its first line, or the whole of many lines.

    A log in JSON is long, and known by its first line to be none.
    """
    first = _decoded(text.lstrip().partition("\n")[0])
    return bool(results(text)) if first is None else any(is_result(one) for one in first)


def is_result(said: Told) -> bool:
    """Say whether an object is what a benchmark wrote."""
    return _kind(said) is not None or _serves(said) or _is_perf(said)


def slim(said: Told) -> Told:
    """Return the figures of a result, without keys, prompts, answers and lists."""
    kept = {key: said[key] for key in _KEPT if isinstance(said.get(key), int | float)}
    kept |= {key: said[key] for key in _WORDS if isinstance(said.get(key), int | float)}
    kept |= {key: said[key][:_LONGEST] for key in _WORDS if isinstance(said.get(key), str)}
    kept |= {key: None for key in _SIGNS if key in said}  # by which its kind is known
    report = said.get(_CACHED)
    if isinstance(report, dict) and isinstance(report.get(_CACHED_PCT), int | float):
        kept[_CACHED] = {_CACHED_PCT: report[_CACHED_PCT]}
    if _is_perf(said):
        kept |= {
            name: {stat: value for stat in _STATS if _plain(value := said[name].get(stat))}
            for name in (*_PERF_NAMES, *_PERF_SIGNS)
            if isinstance(said.get(name), dict)
        }
    return kept


def printed(found: Sequence[Told]) -> str:
    """Return results as lines of JSON."""
    return "\n".join(json.dumps(one) for one in found)


def read_results(found: Sequence[Told]) -> Told:
    """Return the facts of the last result; rates by concurrency where several were measured."""
    facts: Told = {}
    rates: dict[str, float] = {}
    for one in found:
        facts = _figures(one)
        if facts.get("concurrency") and facts.get("output_tok_s"):
            rates[f"concurrency {facts['concurrency']}"] = facts["output_tok_s"]
    total = facts.pop("total_tok_s", None)
    if len(rates) > 1:
        facts["rates_tok_s"] = rates
    elif total is not None:
        facts["rates_tok_s"] = {"input and output": total}
    return facts


def perf_figures(metrics: Mapping[str, Mapping[str, Any]]) -> Told:
    """Return facts from statistics by metric, as genai-perf and aiperf print and write them."""
    facts: Told = {}
    for (name, stat), field in _PERF.items():
        metric = metrics.get(name, {})
        value = metric.get(stat)
        if isinstance(value, int | float):
            scale = (
                MS if field.endswith("_ms") and str(metric.get("unit")).lower() in _SECONDS else 1
            )
            facts[field] = int(value) if field in COUNTS else value * scale
    return facts


def _objects(text: str) -> Iterator[Told]:
    """Give the objects of a text that is JSON as a whole, else those that stand on one line."""
    if is_json(text):
        whole = _decoded(text.strip())
        if whole is not None:
            yield from whole
            return
    for line in text.split("\n"):
        if line.startswith("{"):
            yield from _decoded(line) or ()


def _decoded(text: str) -> list[Told] | None:
    try:
        said = JSON.decode(text)
    except (ValueError, RecursionError):
        return None
    return [one for one in (said if isinstance(said, list) else [said]) if isinstance(one, dict)]


def _plain(value: object) -> bool:
    return isinstance(value, int | float) or (isinstance(value, str) and len(value) < _LONGEST)


def _kind(said: Told) -> tuple[str, dict[str, tuple[str, float]]] | None:
    return next(((tool, names) for tool, signs, names in _KINDS if signs <= said.keys()), None)


def _serves(said: Told) -> bool:
    return any(signs <= said.keys() for signs in _SERVING_SIGNS)


def _is_perf(said: Told) -> bool:
    return any(
        isinstance(metric := said.get(name), dict) and "avg" in metric for name in _PERF_SIGNS
    )


def _figures(said: Told) -> Told:
    kind = None if _serves(said) else _kind(said)
    if kind is not None:
        tool, names = kind
    elif _serves(said):
        tool, names = _served_by(said), {key: (field, 1.0) for key, field in _SERVING.items()}
    else:
        return {"tool": "genai-perf or aiperf"} | perf_figures(
            {name: metric for name, metric in said.items() if isinstance(metric, dict)}
        )
    facts: Told = {"tool": tool}
    for key, (field, factor) in names.items():
        if isinstance(said.get(key), int | float):
            facts[field] = int(said[key]) if field in COUNTS else float(said[key]) * factor
    if _CACHED in said:
        facts["cache_hit_rate"] = said[_CACHED][_CACHED_PCT] / 100
    return facts


def _served_by(said: Told) -> str:
    """Name the program: vLLM's writes an endpoint type, or counts failures, which SGLang's does not."""
    by_vllm = "failed" in said or "endpoint_type" in said
    backend = said.get("backend", said.get("endpoint_type", "unknown"))
    return f"{'vllm bench serve' if by_vllm else 'bench_serving'} ({backend})"[:60]
