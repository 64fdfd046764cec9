"""The traffic lines of SGLang: one for each prefill batch, one for every 40 decode iterations.

Forms of 0.4.6 to 0.5.23 (scheduler.py, scheduler_metrics_mixin.py, metrics_reporter.py): fields are
`name: value`, parted by commas, and every version adds some; so they are read by name.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from tools.engine.gathered import NUMBER_CAP
from tools.engine.log import DecodeLine, PrefillLine
from tools.sglang.log_prefix import said

# `Decode batch. #`, `Decode batch, #`, `Decode batch [1234], #`
_BATCH = re.compile(r"([^'\"]{0,300}?)\b(Decode|Prefill) batch(?: \[[^\]]{0,40}\])?[.,]?(?:\s|$)")
# "cpu graph" is torch.compile on a CPU, and in 0.5.3 to 0.5.8 whatever is not CUDA: it tells nothing
# of device graphs, so it is not read.
_GRAPHS = ("cuda graph", "npu graph", "musa graph")
_LONGEST = 2000  # characters of fields; the longest real line has 500


class Batch(NamedTuple):
    """One traffic line: whose it is and its fields by name."""

    decode: bool
    at: str | None
    rank: str
    fields: dict[str, str]


def batch_of(line: str) -> Batch | None:
    """Return the traffic line that a line of the log is, or None."""
    found = _BATCH.match(line)
    if found is None or "obj=" in found[1]:
        return None
    prefix = said(found[1])
    fields: dict[str, str] = {}
    for part in line[found.end() : found.end() + _LONGEST].rstrip(" ,\r").split(", "):
        name, colon, value = part.partition(": ")
        if colon:
            fields[name] = value
    return Batch(found[2] == "Decode", prefix.at, prefix.rank, fields)


def _float(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        value = float(text[:24].rstrip("%"))
    except ValueError:
        return None
    return value if 0 <= value < NUMBER_CAP else None


def _int(text: str | None) -> int | None:
    value = _float(text)
    return None if value is None else int(value)


def _share(text: str | None) -> float | None:
    value = _float(text)
    return (
        value if value is not None and value <= 2 else None
    )  # above 1 a rounding, above 2 no share


def _graph(fields: dict[str, str]) -> bool | None:
    for name in _GRAPHS:
        if name in fields:
            value = fields[name].strip(" ,.")
            return True if value == "True" else False if value == "False" else None
    return None


def _usage(fields: dict[str, str]) -> float | None:
    return _share(fields.get("token usage") or fields.get("full token usage"))


def decode_line(batch: Batch) -> dict[str, Any]:
    """Return the fields of a DecodeLine."""
    get = batch.fields.get
    last = next(reversed(batch.fields), "")
    whole = "#queue-req" in batch.fields or last != "gen throughput (token/s)"
    return {
        "at": batch.at,
        "rank": batch.rank,
        "running": _int(get("#running-req")),
        "queued": _int(get("#queue-req")),
        "tokens": _int(get("#token") or get("#full token")),
        "usage": _usage(batch.fields),
        "swa_usage": _share(get("swa token usage")),
        "mamba_usage": _share(get("mamba usage")),
        "accept_len": _float(get("accept len")),
        "accept_rate": _float(get("accept rate")),
        "graph": _graph(batch.fields),
        # cut in the middle of the line the last figure is not whole; all forms end in the queue
        "tok_s": _float(get("gen throughput (token/s)")) if whole else None,
        "occupancy_pct": _float(get("fwd occupancy")),
        "prompt_tok_s": None,
        "cache_hit": None,
        "after_gap": False,
    }


def prefill_line(batch: Batch) -> PrefillLine:
    """Return a prefill batch."""
    get = batch.fields.get
    return PrefillLine.model_construct(
        at=batch.at,
        rank=batch.rank,
        new_seqs=_int(get("#new-seq")),
        new_tokens=_int(get("#new-token")),
        cached_tokens=_int(get("#cached-token")),
        usage=_usage(batch.fields),
        swa_usage=_share(get("swa token usage")),
        mamba_usage=_share(get("mamba usage")),
        running=_int(get("#running-req")),
        queued=_int(get("#queue-req")),
        pending=_int(get("#pending-token")),
        graph=_graph(batch.fields),
        tok_s=_float(get("input throughput (token/s)")),
    )


def is_health_probe(line: PrefillLine) -> bool:
    """Say whether a prefill is the one token that GET /health sends through the engine."""
    return line.new_seqs == 1 and line.new_tokens == 1 and line.cached_tokens == 0


def built(fields: dict[str, Any]) -> DecodeLine:
    """Return a DecodeLine without validating again what was read just now."""
    return DecodeLine.model_construct(**fields)
