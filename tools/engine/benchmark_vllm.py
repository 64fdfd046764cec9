"""The closing lines of `vllm bench throughput` and `vllm bench latency`, 0.5 to 0.32.

Sources: vllm/benchmarks/throughput.py, which says "total" since 0.6.4, and latency.py, which tells
the time of a whole batch; its rate follows from the arguments that stand above.
"""

from __future__ import annotations

import re
from typing import Any

Told = dict[str, Any]
_N = r"\d{1,12}(?:\.\d{1,9})?"
_REQUESTS = re.compile(
    rf"^Throughput: {_N} requests/s, (?P<total>{_N}) (?:total )?tokens/s(?:, (?P<out>{_N}) output tokens/s)?",
    re.MULTILINE,
)
_TOKENS = re.compile(r"^Total num (prompt|output) tokens: +(\d{1,15})", re.MULTILINE)
_LATENCY = re.compile(r"^Avg latency: (\d{1,9}(?:\.\d{1,20})?) seconds", re.MULTILINE)
_SIZE = re.compile(r"\b(batch_size|output_len)=(\d{1,7})\b")


def is_vllm_bench(text: str) -> bool:
    """Say whether a text holds such lines."""
    return bool(_REQUESTS.search(text) or _LATENCY.search(text))


def read_vllm_bench(text: str) -> Told:
    """Return the facts of the last run in a text."""
    requests, latency = _last(_REQUESTS, text), _last(_LATENCY, text)
    return _throughput(requests, text) if requests else _latency(latency, text) if latency else {}


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    found = None
    for found in pattern.finditer(text):  # noqa: B007 - the last one is wanted
        pass
    return found


def _throughput(found: re.Match[str], text: str) -> Told:
    tokens = {name: int(count) for name, count in _TOKENS.findall(text)}
    return {
        "tool": "vllm bench throughput",
        "rates_tok_s": {"input and output": float(found["total"])},
        "output_tok_s": float(found["out"]) if found["out"] else None,
        "input_tokens": tokens.get("prompt"),
        "output_tokens": tokens.get("output"),
    }


def _latency(found: re.Match[str], text: str) -> Told:
    took_s, asked = float(found[1]), dict(_SIZE.findall(text))
    told: Told = {"tool": "vllm bench latency", "latency_mean_ms": took_s * 1000}
    batch, tokens = asked.get("batch_size"), asked.get("output_len")
    if batch and tokens and took_s > 0:
        told |= {"concurrency": int(batch), "output_tok_s": int(batch) * int(tokens) / took_s}
    return told
