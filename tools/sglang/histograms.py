"""Histograms of a Prometheus page: how long half of all requests took at most, and 99 of 100.

Buckets are cumulative and wide, so a quantile is interpolated inside its bucket, as Prometheus itself
does; what lies above the last bucket is given as its lower bound. Labels are folded: the histograms
that are read are kept by the front, once for each model and for streaming or not, and are added.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

# sglang 0.4.0 to 0.5.23 metrics collectors; vllm/v1/metrics/loggers.py
TIMES = (
    "time_to_first_token_seconds", "inter_token_latency_seconds", "time_per_output_token_seconds",
    "request_time_per_output_token_seconds", "e2e_request_latency_seconds", "queue_time_seconds",
    "request_queue_time_seconds",
)  # fmt: skip
SHARES = (("p50", 0.50), ("p99", 0.99))
Buckets = dict[float, float]
_LINE = re.compile(r"(?:sglang|vllm)[:_](\w{1,80})_bucket\{([^}\n]{0,2000})\}\s+([\d.eE+]{1,40})")
_EDGE = re.compile(r'\ble="([^"]{1,24})"')
_MOST = 200  # edges of one histogram


def read_buckets(page: str) -> dict[str, Buckets]:
    """Return the count of requests up to each edge in seconds, by the name of the histogram."""
    found: dict[str, Buckets] = {}
    for line in page.splitlines():
        match = _LINE.match(line) if "_bucket{" in line else None
        edge = _EDGE.search(match[2]) if match and match[1] in TIMES else None
        if match is None or edge is None:
            continue
        at, count = _number(edge[1]), _number(match[3])
        buckets = found.setdefault(match[1], {})
        if at is not None and count is not None and (at in buckets or len(buckets) < _MOST):
            buckets[at] = buckets.get(at, 0.0) + count
    return found


def since(before: Mapping[str, Buckets], now: Mapping[str, Buckets]) -> dict[str, Buckets]:
    """Return what was counted between two pages; none of a histogram that was reset."""
    grown = {
        name: {at: count - before[name].get(at, 0.0) for at, count in buckets.items()}
        for name, buckets in now.items()
        if name in before
    }
    return {name: one for name, one in grown.items() if all(count >= 0 for count in one.values())}


def quantiles(histograms: Mapping[str, Buckets]) -> dict[str, float]:
    """Return seconds by name and share, "time_to_first_token_seconds p50"."""
    return {
        f"{name} {label}": value
        for name, buckets in histograms.items()
        for label, share in SHARES
        if (value := _quantile(buckets, share)) is not None
    }


def _quantile(buckets: Buckets, share: float) -> float | None:
    total = buckets.get(math.inf, 0.0)
    if total <= 0 or math.isinf(total) or -math.inf in buckets:
        return None
    lower, below = 0.0, 0.0
    for edge, count in sorted(buckets.items()):
        if count >= share * total and count > below:
            inside = (share * total - below) / (count - below)
            return lower if math.isinf(edge) else lower + (edge - lower) * max(0.0, inside)
        lower, below = edge, count
    return None


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return None if math.isnan(value) else value
