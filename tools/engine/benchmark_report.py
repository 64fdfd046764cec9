"""What benchmarks of servers print: the tables of bench_serving and vllm bench, JSON lines, summaries."""

from __future__ import annotations

import json
import re
from typing import Any

from tools.engine.benchmark import Benchmark
from tools.probe import JSON

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
}  # fmt: skip
_KEYS = {
    "max_concurrency": "concurrency", "completed": "prompts", "failed": "failed", "duration": "duration_s",
    "total_input_tokens": "input_tokens", "total_output_tokens": "output_tokens", "input_throughput": "input_tok_s",
    "output_throughput": "output_tok_s", "concurrency": "concurrency_mean", "accept_length": "accept_len",
    "mean_ttft_ms": "ttft_mean_ms", "median_ttft_ms": "ttft_median_ms", "p99_ttft_ms": "ttft_p99_ms",
    "mean_tpot_ms": "tpot_mean_ms", "median_tpot_ms": "tpot_median_ms", "mean_itl_ms": "itl_mean_ms",
    "median_itl_ms": "itl_median_ms", "p99_itl_ms": "itl_p99_ms", "max_itl_ms": "itl_max_ms",
}  # fmt: skip
_MORE_KEYS = (
    "backend",
    "endpoint_type",
    "dataset_name",
    "request_rate",
    "tag",
    "date",
    "num_prompts",
)
_COUNTS = frozenset({"concurrency", "prompts", "failed", "input_tokens", "output_tokens"})
_ROW = re.compile(
    r"^ {0,4}([A-Za-z#][^:\n|=]{2,48}): {0,40}(-?\d[\d,]*(?:\.\d+)?)(?: ?(s|ms|%|tok(?:en)?s?/s))? *$",
    re.MULTILINE,
)
_BACKEND = re.compile(r"^Backend: +(\S+)", re.MULTILINE)
_BATCH = re.compile(
    r"^(Prefill|Decode)\. {1,4}(?:median )?latency: +[\d.]+ s, +(?:median )?throughput: +([\d.]+) token/s",
    re.MULTILINE,
)
_SUMMARY = re.compile(r"^=== ?(.{1,80}?) ?===$", re.MULTILINE)
_WALL = re.compile(
    r"(?:^|(?<=\s))(?:(\w[\w-]*) )?wall_TPS +(?:mean= *)?(\d+(?:\.\d+)?)", re.MULTILINE
)
_FIRST = re.compile(r"^ *TTFT +mean= *(\d+(?:\.\d+)?) ?ms", re.MULTILINE)
_TABLE = re.compile(  # a heading that names the rate, then a label and one to four figures a row
    r"^(?:#[^\n]{0,100}|[^\n\d]{0,60})\btok/s(?P<columns>[^\n]{0,40})\n"
    r"(?P<rows>(?:[ \t]*[^\s:]{1,40}(?:[ \t]+\d+(?:\.\d+)?){1,4}[ \t]*(?:\n|$))+)",
    re.MULTILINE,
)
_TRIAD = re.compile(r"^Triad: +(\d+(?:\.\d+)?) ", re.MULTILINE)  # stream.c 5.10, MB/s of 10^6
_CLIENT = re.compile(
    r"\b(?:bench_serving|bench_one_batch\w*|bench_offline_throughput|bench_multiturn|bench_sglang\w*|benchmark_serving"
    r"|vllm bench serve|sglang\.benchmark\.serving|genai-perf|aiperf)\b[^\n]{0,2000}"
)
_OPTION = re.compile(
    r"--(max-concurrency|parallel|num-prompts|num-questions|num-clients)[ =](\d{1,7})\b"
)
_SERVE_LOG = ("server_args=", "Decode batch", "Prefill batch", "Avg prompt throughput")
_TOOLS = (
    ("Maximum request concurrency:", "vllm bench serve"),
    ("Serving Benchmark Result", "bench_serving"),
    ("Offline Throughput", "bench_offline_throughput"),
)


def read_benchmark(text: str) -> Benchmark | None:
    """Return the last run that a text reports, or None; what a client's command line asks for comes first."""
    facts: Told = {}
    for reading in (_command, _rows, _batch, _walls, _table, _json_lines):
        facts |= {name: value for name, value in reading(text).items() if value is not None}
    if (triad := _TRIAD.search(text)) is not None:
        facts["stream_triad_gb_s"] = round(float(triad[1]) / 1000, 1)
    if not facts:
        return None
    backend = _BACKEND.search(text)
    tool = next((tool for sign, tool in _TOOLS if sign in text), None)
    facts.setdefault("tool", f"{tool} ({backend[1]})" if tool and backend else tool)
    return Benchmark(**facts)


def without_secrets(text: str) -> str:
    """Drop what a result holds beside its figures: the server's arguments, prompts, headers."""
    kept = []
    for line in text.split("\n"):
        if line.startswith("{") and (said := _object(line)) is not None and _is_result(said):
            kept.append(
                json.dumps({key: said[key] for key in (*_KEYS, *_MORE_KEYS) if key in said})
            )
        elif line.startswith(("benchmark_args=", "Namespace(")):
            kept.append(line.split("(")[0] + "(<dropped>)")
        else:
            kept.append(line)
    return "\n".join(kept)


def is_benchmark(text: str) -> bool:
    """Say whether a text reports a benchmark, or shows the command that ran one."""
    if text.lstrip()[:1] == "{":
        first = _object(text.lstrip().split("\n")[0])
        return first is not None and _is_result(first)
    if any(word in text for word in _SERVE_LOG):
        return "Serving Benchmark Result" in text
    forms = (_TRIAD, _WALL, _BATCH, _TABLE, _CLIENT)
    return any(form.search(text) for form in forms) or bool(_labels(text))


def _object(line: str) -> Told | None:
    try:
        said = JSON.decode(line)
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) else None


def _is_result(said: Told) -> bool:
    return {"duration", "completed"} <= said.keys() or {
        "mean_ttft_ms",
        "output_throughput",
    } <= said.keys()


def _labels(text: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for label, value, unit in _ROW.findall(text):
        name = _LABELS.get(label.strip())
        if name is not None:
            number = float(value.replace(",", ""))
            found[name] = number / 100 if unit == "%" else number
    return found


def _rows(text: str) -> Told:
    return {name: int(value) if name in _COUNTS else value for name, value in _labels(text).items()}


def _command(text: str) -> Told:
    found = _CLIENT.search(text)
    if found is None:
        return {}
    asked = dict(_OPTION.findall(found[0]))
    limit = asked.get("max-concurrency", asked.get("parallel", asked.get("num-clients")))
    prompts = asked.get("num-prompts", asked.get("num-questions"))
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


def _json_lines(text: str) -> Told:
    facts: Told = {}
    for line in text.split("\n"):
        if line.startswith("{") and (said := _object(line)) is not None and _is_result(said):
            facts = {
                name: said[key]
                for key, name in _KEYS.items()
                if isinstance(said.get(key), int | float)
            }
            facts = {
                name: int(value) if name in _COUNTS else float(value)
                for name, value in facts.items()
            }
            facts["tool"] = (
                f"bench_serving ({said.get('backend', said.get('endpoint_type', 'unknown'))})"[:60]
            )
    return facts
