"""The stats lines of vLLM, one every ten seconds: rates are means over them, the rest is the end."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tools.engine.gathered import count, number
from tools.engine.log import DecodeLine

_STATS = re.compile(
    r"(?:Engine (?P<engine>\d{1,5}): |\d{1,5} Engines Aggregated: )?"
    r"Avg prompt throughput: (?P<prompt>[\d.]{1,20}) tokens/s, "
    r"Avg generation throughput: (?P<tok_s>[\d.]{1,20}) tokens/s"
    r"(?P<rest>.{0,600})"
)
_USAGE = re.compile(r"(GPU|CPU) KV cache usage: ([\d.]{1,12})%")
_SPEC = re.compile(r"(?:SpecDecoding|Speculative) metrics: (.{1,800})")
_RATES = {
    "Mean acceptance length": "accept_len",
    "Avg Draft acceptance rate": "accept_rate",
    "Draft acceptance rate": "accept_rate",
}


def stats_of(message: str, at: str | None) -> dict[str, Any] | None:
    """Return the fields of a DecodeLine from a stats line, else None."""
    found = _STATS.match(message)
    if found is None:
        return None
    rest = found["rest"]

    def requests(name: str) -> int | None:
        hit = re.search(name + r": (\d{1,9}) reqs", rest)
        return count(hit[1]) if hit else None

    usages = {kind: number(percent) for kind, percent in _USAGE.findall(rest)}
    usage = max((share for share in usages.values() if share is not None), default=None)
    hit = re.search(r"Prefix cache hit rate: (?:GPU: )?([\d.]{1,12})%", rest)
    waiting, swapped = requests("(?:Waiting|Pending)"), requests("Swapped")
    return {
        "at": at,
        "rank": f"DP{int(found['engine'])}" if found["engine"] else "",
        "running": requests("Running"),
        "queued": waiting if swapped is None or waiting is None else waiting + swapped,
        "usage": round(usage / 100, 5) if usage is not None else None,
        "tok_s": number(found["tok_s"]) if rest else None,
        "prompt_tok_s": number(found["prompt"]),
        "cache_hit": round((number(hit[1]) or 0.0) / 100, 5) if hit else None,
    }


def speculation_of(message: str) -> dict[str, float] | None:
    """Return accept length and rate of a speculation line, else None."""
    found = _SPEC.match(message)
    if found is None:
        return None
    said: dict[str, float] = {}
    for part in found[1].split(", "):
        name, _, value = part.partition(": ")
        read = number(value.rstrip("%"))
        if name in _RATES and read is not None:
            said[_RATES[name]] = round(read / 100, 5) if value.endswith("%") else read
    return said


def built(rows: Sequence[dict[str, Any]]) -> tuple[DecodeLine, ...]:
    """Return the lines; the first and the last interval of a burst are partly idle and marked."""
    engines = {row["rank"] for row in rows}
    latest: dict[str, dict[str, Any]] = {}
    for row in rows:
        before = latest.get(row["rank"])
        row["after_gap"] = not row["running"] or (before is not None and not before["running"])
        latest[row["rank"]] = row
        row["rank"] = "" if engines <= {"", "DP0"} else row["rank"]
    return tuple(DecodeLine(**row) for row in rows)
