"""What benchmarks of servers print: the figures of bench_serving and vllm bench, lines, summaries."""

from __future__ import annotations

import re
from typing import Any

from tools.engine.benchmark import Benchmark
from tools.engine.benchmark_json import (
    COUNTS,
    holds_result,
    is_json,
    printed,
    read_results,
    results,
)
from tools.engine.benchmark_network import is_network_test, read_network_test
from tools.engine.benchmark_tables import is_table, read_tables
from tools.engine.benchmark_vllm import is_vllm_bench, read_vllm_bench

Told = dict[str, Any]
# sglang/bench_serving.py 0.3 to 0.5.23 ("reqeuest" is its own, 0.3.5 to 0.4.6), vllm/benchmarks/serve.py
_LABELS = {
    "Max request concurrency": "concurrency", "Max reqeuest concurrency": "concurrency",
    "Maximum request concurrency": "concurrency", "Successful requests": "prompts", "#Requests": "prompts",
    "Total requests": "prompts", "Failed requests": "failed", "Benchmark duration (s)": "duration_s",
    "Total latency": "duration_s", "Average Latency": "duration_s", "Total input tokens": "input_tokens",
    "Total generated tokens": "output_tokens", "Input token throughput (tok/s)": "input_tok_s",
    "Output token throughput (tok/s)": "output_tok_s", "Average Output throughput": "output_tok_s",
    "Output throughput": "output_tok_s", "Input throughput": "input_tok_s", "input throughput": "input_tok_s",
    "output throughput": "output_tok_s", "Concurrency": "concurrency_mean", "Accept length": "accept_len",
    "Average Accept length": "accept_len", "Acceptance length": "accept_len", "acc_length": "accept_len",
    "Cache Hit Rate": "cache_hit_rate", "Cache hit rate": "cache_hit_rate", "Mean TTFT (ms)": "ttft_mean_ms",
    "Median TTFT (ms)": "ttft_median_ms", "P99 TTFT (ms)": "ttft_p99_ms", "Mean TPOT (ms)": "tpot_mean_ms",
    "Median TPOT (ms)": "tpot_median_ms", "Mean ITL (ms)": "itl_mean_ms", "Median ITL (ms)": "itl_median_ms",
    "P99 ITL (ms)": "itl_p99_ms", "Max ITL (ms)": "itl_max_ms",
    "Mean E2E Latency (ms)": "latency_mean_ms", "Mean E2EL (ms)": "latency_mean_ms",
}  # fmt: skip
# What bench_one_batch_server prints of one batch, in seconds; too common to know a benchmark by.
_OF_ONE_BATCH = {
    "batch size": "concurrency", "latency": "latency_mean_ms", "ttft": "ttft_mean_ms", "last_ttft": "ttft_mean_ms",
}  # fmt: skip
_BATCH_SIGNS = ("input_len", "(input + output) throughput")
_ROW = re.compile(
    r"^ {0,4}([A-Za-z#][^:\n|=]{2,48}): {0,40}(-?\d[\d,]{0,30}(?:\.\d+)?)(?: ?(s|ms|%|tok(?:en)?s?/s))? *$",
    re.MULTILINE,
)
_BACKEND = re.compile(r"^Backend: +(\S+)", re.MULTILINE)
_BATCH = re.compile(
    r"^(Prefill|Decode)\. {1,4}(?:median )?latency: +[\d.]+ s, +(?:median )?throughput: +(\d{1,30}(?:\.\d+)?) token/s",
    re.MULTILINE,
)
_SUMMARY = re.compile(r"^=== ?(.{1,80}?) ?===$", re.MULTILINE)
_WALL = re.compile(
    r"(?:^|(?<=\s))(?:(\w[\w-]*) )?wall_TPS +(?:mean= *)?(\d{1,30}(?:\.\d+)?)", re.MULTILINE
)
_FIRST = re.compile(r"^ *TTFT +mean= *(\d{1,30}(?:\.\d+)?) ?ms", re.MULTILINE)
_TABLE = re.compile(  # a heading that names the rate, then a label and one to four figures a row
    r"^(?:#[^\n]{0,100}|[^\n\d]{0,60})\btok/s(?P<columns>[^\n]{0,40})\n"
    r"(?P<rows>(?:[ \t]*[^\s:]{1,40}(?:[ \t]+\d{1,30}(?:\.\d+)?){1,4}[ \t]*(?:\n|$))+)",
    re.MULTILINE,
)
_TRIAD = re.compile(r"^Triad: +(\d{1,30}(?:\.\d+)?) ", re.MULTILINE)  # stream.c 5.10, MB/s of 10^6
_CLIENT = re.compile(
    r"\b(?:bench_serving|bench_one_batch\w*|bench_offline_throughput|bench_multiturn|bench_sglang\w*|benchmark_serving"
    r"|vllm bench serve|sglang\.benchmark\.serving|genai-perf|aiperf)\b[^\n]{0,2000}"
)
_OPTION = re.compile(
    r"--(max-concurrency|concurrency|parallel|num-prompts|num-questions|num-clients|request-count)[ =](\d{1,7})\b"
)
_RESULT = re.compile(r"^=+ (?:Serving|Offline Throughput) Benchmark Result =+\s*$", re.MULTILINE)
_ARGUMENT = re.compile(
    r"\b(?:backend|dataset_name|num_prompts|max_concurrency|request_rate|batch_size|input_len|output_len"
    r"|random_input_len|random_output_len)=(?:'[\w-]{1,40}'|[\w.]{1,20})"
)
_SERVE_LOG = ("server_args=", "Decode batch", "Prefill batch", "Avg prompt throughput")
_TOOLS = (
    ("Maximum request concurrency:", "vllm bench serve"),
    ("Serving Benchmark Result", "bench_serving"),
    ("Offline Throughput Benchmark", "bench_offline_throughput"),
    ("NVIDIA GenAI-Perf |", "genai-perf"),
    ("NVIDIA AIPerf |", "aiperf"),
)


def read_benchmark(text: str) -> Benchmark | None:
    """Return the last run that a text reports, or None; what a client's command line asks for comes first."""
    facts: Told = {}
    for reading in (
        _command,
        _rows,
        _batch,
        _walls,
        _table,
        read_vllm_bench,
        _json,
        read_tables,
        read_network_test,
    ):
        facts |= {name: value for name, value in reading(text).items() if value is not None}
    if (triad := _TRIAD.search(text)) is not None:
        facts["stream_triad_gb_s"] = round(float(triad[1]) / 1000, 1)
    if not facts:
        return None
    backend = _BACKEND.search(text)
    tool = next((tool for sign, tool in _TOOLS if sign in text), None)
    if tool is not None:
        facts["tool"] = f"{tool} ({backend[1]})" if backend else tool
    return Benchmark(**facts)


def without_secrets(text: str) -> str:
    """Drop what a result holds beside its figures: the server's arguments, prompts, headers."""
    found = results(text)
    if found and is_json(text):
        return printed(found)
    kept = []
    for line in text.split("\n"):
        if line.startswith("{") and (said := results(line)):
            kept.append(printed(said))
        elif line.startswith(("benchmark_args=", "Namespace(")):
            kept.append(f"{line.split('(')[0]}({', '.join(_ARGUMENT.findall(line))})")
        else:
            kept.append(line)
    return "\n".join(kept)


def is_benchmark(text: str) -> bool:
    """Say whether a text reports a benchmark, or shows the command that ran one."""
    if is_json(text):
        return holds_result(text) or is_network_test(text)
    if _RESULT.search(text) or _BATCH.search(text) or is_vllm_bench(text):
        return True
    if any(word in text for word in _SERVE_LOG):
        return False
    forms = (_TRIAD, _WALL, _TABLE, _CLIENT)
    known = any(form.search(text) for form in forms) or bool(_labels(text, _LABELS))
    return known or is_table(text) or is_network_test(text)


def _labels(text: str, names: dict[str, str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for label, value, unit in _ROW.findall(text):
        name = names.get(label.strip())
        if name is not None:
            number = float(value.replace(",", ""))
            scale = 0.01 if unit == "%" else 1000.0 if unit == "s" and name.endswith("_ms") else 1.0
            found[name] = number * scale
    return found


def _rows(text: str) -> Told:
    """Take the figures of a result; of several in one text those of the last."""
    last = text[text.rindex("Benchmark Result =") :] if "Benchmark Result =" in text else text
    one_batch = any(f"\n{sign}: " in text for sign in _BATCH_SIGNS)
    found = _labels(last, _LABELS | _OF_ONE_BATCH if one_batch else _LABELS)
    told: Told = {name: int(value) if name in COUNTS else value for name, value in found.items()}
    return told | ({"tool": "bench_one_batch_server"} if one_batch and told else {})


def _command(text: str) -> Told:
    found = _CLIENT.search(text)
    if found is None:
        return {}
    asked = dict(_OPTION.findall(found[0]))
    limits = ("max-concurrency", "concurrency", "parallel", "num-clients")
    limit = next((asked[name] for name in limits if name in asked), None)
    counts = ("num-prompts", "num-questions", "request-count")
    prompts = next((asked[name] for name in counts if name in asked), None)
    return {
        "concurrency": int(limit) if limit else None,
        "prompts": int(prompts) if prompts else None,
    }


def _batch(text: str) -> Told:
    rates = dict(_BATCH.findall(text))
    if not rates:
        return {}
    names = {"Prefill": "input_tok_s", "Decode": "output_tok_s"}
    return {"tool": "bench_one_batch"} | {names[what]: float(rate) for what, rate in rates.items()}


def _walls(text: str) -> Told:
    """Rates of wall-clock summaries, each by the heading above it or the word before it."""
    heads = [(found.end(), found[1]) for found in _SUMMARY.finditer(text)]
    rates: dict[str, float] = {}
    for found in _WALL.finditer(text):
        head = next((title for end, title in reversed(heads) if end <= found.start()), "")
        inner = re.search(r"\[([\w -]+)\]", head)
        title = inner[1] if inner else head
        label = f"{title}: {found[1]}" if found[1] and title else found[1] or title
        rates.setdefault(label[:80], float(found[2]))
    first = _FIRST.search(text)
    return {
        "rates_tok_s": rates or None,
        "output_tok_s": next(iter(rates.values()), None),
        "ttft_mean_ms": float(first[1]) if first else None,
    }


def _table(text: str) -> Told:
    found = _TABLE.search(text)
    if found is None:
        return {}
    columns = re.findall(r"[\w.-]+", found["columns"])
    rates: dict[str, float] = {}
    for line in found["rows"].strip().split("\n")[:64]:
        label, *figures = line.split()
        named = (
            [f"{label} {column}" for column in columns]
            if len(columns) == len(figures) > 1
            else [label]
        )
        rates |= {name: float(figure) for name, figure in zip(named, figures, strict=False)}
    return {"rates_tok_s": rates}


def _json(text: str) -> Told:
    return read_results(results(text))
