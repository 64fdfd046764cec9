"""The Prometheus page of a server, SGLang's or vLLM's, reduced to numbers that can be judged.

Names lose the engine's prefix, which is "sglang:", or "sglang_" where a collector has rewritten the
colon. A text that tells the same series twice holds two pages, one read after the other. Labels that
name a process are folded: over ranks that report the same work (tp, pp, moe_ep) the largest counts;
over those that share the work (dp, vLLM's engines, priorities, streaming or not) counts and rates are
added, and of shares and lengths the largest is taken. A label that tells kinds apart stays in the
name: `cuda_graph_passes_total{mode=decode_none}`; the name alone is their sum. Of a histogram `_sum`
and `_count` are kept, and quantiles of those of times; `nan` says nothing.
"""

from __future__ import annotations

import math
import re

from tools.engine import Metrics
from tools.errors import Unreadable
from tools.sglang.histograms import quantiles, read_buckets, since

PAGE_CHARS = 4 << 20
_PREFIXES = ("sglang:", "vllm:", "sglang_", "vllm_")
_LINE = re.compile(r"(?:sglang|vllm)[:_]([a-zA-Z_]\w{0,100})(?:\{([^}\n]{0,2000})\})?\s+(\S{1,40})")
_LABEL = re.compile(r'(\w{1,40})="((?:[^"\\]|\\.){0,200})"')
_VLLM = re.compile(r"^vllm[:_]", re.MULTILINE)
_SLEEP = re.compile(r"\bsleep (\d{1,4}(?:\.\d{1,3})?)\b")
_TYPE = re.compile(r"# TYPE (?:sglang|vllm)[:_](\w{1,100}) (\w+)")
_SAME_WORK = frozenset({"tp_rank", "pp_rank", "moe_ep_rank", "moe_dp_rank", "attn_cp_rank", "pid"})
_KINDS = frozenset(
    {"mode", "phase", "kind", "category", "source", "reason", "finished_reason", "stage", "queue"}
)
_LONGEST = 3000
_SKIP = ("_bucket", "_created")
_NOISE = ("http_request", "routing_key", "process_cpu", "http_response")
_SHARE = re.compile(
    r"usage|ratio|rate$|util|perc|accept_length|occupancy|_len$|page_size|is_cuda_graph|max_|spec_num"
    r"|context|weight_memory|kv_cache_memory|startup|config_info|info$"
)


Series = tuple[str, str | None]  # name and labels, as they stand there
Place = tuple[str, str] | None  # the name with its kinds, and whose share it is; None: not read


def _numbers(text: str, places: dict[Series, Place]) -> dict[str, float]:
    """Return {name with its kinds: value} of one page; `places` are of series that were seen."""
    parts: dict[str, dict[str, float]] = {}
    for line in text[:PAGE_CHARS].splitlines():
        match = _LINE.match(line) if line.startswith(_PREFIXES) else None
        if not match:
            continue
        name, labels, told = match.groups()
        series = name, labels
        if series not in places:
            places[series] = _place(name, labels)
        place, value = places[series], _value(told)
        if place is None or value is None:
            continue
        share = parts.setdefault(place[0], {})
        share[place[1]] = max(share.get(place[1], value), value)
    return _folded(parts)


def _place(name: str, told: str | None) -> Place:
    if name.endswith(_SKIP) or name.startswith(_NOISE):
        return None
    labels = dict(_LABEL.findall(told)) if told else {}
    if "le" in labels:
        return None
    kinds = ",".join(f"{k}={v}" for k, v in sorted(labels.items()) if k in _KINDS)
    shared = ",".join(
        f"{k}={v}" for k, v in labels.items() if k not in _SAME_WORK and k not in _KINDS
    )
    return name + (f"{{{kinds}}}" if kinds else ""), shared


def _folded(parts: dict[str, dict[str, float]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, shares in parts.items():
        bare = name.partition("{")[0]
        largest = bool(_SHARE.search(bare)) and not bare.endswith(("_total", "_sum", "_count"))
        found[name] = max(shares.values()) if largest else sum(shares.values())
        if bare != name:
            found[bare] = found.get(bare, 0.0) + found[name]
    return found


def _value(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def is_page(text: str) -> bool:
    """Say whether a text holds a line of such a page, or its type."""
    head = "\n" + text
    if any(f"\n{engine}:" in head or f"TYPE {engine}:" in head for engine in ("sglang", "vllm")):
        return True
    if not any(f"\n{engine}_" in head for engine in ("sglang", "vllm")):
        return False
    return any(
        _LINE.match(line) and _value(line.split()[-1]) is not None
        for line in text[:PAGE_CHARS].splitlines()
        if line.startswith(_PREFIXES) and len(line) < _LONGEST
    )


def pages(text: str) -> tuple[str, str | None, float | None]:
    """Return the first page of a text, the last if there are several, and the seconds between two.

    They are known where the command that read them slept.
    """
    found: list[list[str]] = [[]]
    seen: set[str] = set()
    for line in text[:PAGE_CHARS].splitlines():
        if line.startswith(_PREFIXES) and len(line) < _LONGEST:
            series = line.rpartition("}")[0] or line.split()[0]
            if series in seen:
                found.append([])
                seen = set()
            seen.add(series)
        found[-1].append(line[:_LONGEST])
    slept = [float(seconds) for seconds in _SLEEP.findall(text[:PAGE_CHARS])]
    window = slept[0] if len(found) == 2 and len(slept) == 1 and slept[0] > 0 else None
    return "\n".join(found[0]), "\n".join(found[-1]) if len(found) > 1 else None, window


def read_metrics(first: str, second: str | None = None, window_s: float | None = None) -> Metrics:
    """Return one reading, or two with the change between them; raise Unreadable where none is."""
    places: dict[Series, Place] = {}
    before = _numbers(first, places)
    now = _numbers(second, places) if second else before
    if not now:
        raise Unreadable("no sglang: or vllm: line in the page")
    types = dict(_TYPE.findall((second or first)[:PAGE_CHARS]))
    totals = {name: value for name, value in now.items() if _counts(name, types)}
    deltas: dict[str, float] = {}
    counted = read_buckets((second or first)[:PAGE_CHARS])
    if second:
        # A counter that is lower than before was reset by a restart: its change is not known.
        deltas = {n: v - before[n] for n, v in totals.items() if n in before and v >= before[n]}
        counted |= {
            name: one
            for name, one in since(read_buckets(first[:PAGE_CHARS]), counted).items()
            if any(one.values())
        }
    return Metrics(
        engine="vllm" if _VLLM.search((second or first)[:PAGE_CHARS]) else "sglang",
        gauges={name: value for name, value in now.items() if name not in totals},
        totals=totals,
        deltas=deltas,
        window_s=window_s if deltas else None,
        quantiles_s=quantiles(counted),
    )


def _counts(name: str, types: dict[str, str]) -> bool:
    bare = name.partition("{")[0]
    if bare.endswith(("_total", "_sum", "_count")):
        return True
    return types.get(bare) == "counter"
