"""The runs in what was looked at: each serving benchmark and each burst is one, with its figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tools.engine import Benchmark, Burst
from tools.engine.benchmark_json import is_json, read_results, results
from tools.evidence import Evidence

# Of a benchmark, one figure for each thing that a user feels; by the first that is told.
_SERVED = (
    ("output rate, tok/s", ("output_tok_s",)),
    ("first token, ms", ("ttft_median_ms", "ttft_mean_ms")),
    ("token after token, ms", ("tpot_median_ms", "itl_median_ms", "tpot_mean_ms", "itl_mean_ms")),
)


def figures(looks: Iterable[Evidence]) -> dict[str, list[float]]:
    """Return the figures of all runs, by name; the unit is in the name."""
    found: dict[str, list[float]] = {}
    for look in looks:
        for run in _runs(look):
            for name, value in run.items():
                found.setdefault(name, []).append(value)
    return found


def _runs(look: Evidence) -> Iterator[dict[str, float]]:
    if isinstance(look.facts, Burst):
        yield _of_burst(look.facts)
    elif isinstance(look.facts, Benchmark):
        yield from map(_of_benchmark, _benchmarks(look, look.facts))


def _benchmarks(look: Evidence, last: Benchmark) -> list[Benchmark]:
    """Return every run of a file of results; its facts are those of the last."""
    text = look.output.stdout if look.output else ""
    told = results(text) if is_json(text) else []
    return [Benchmark(**read_results([one])) for one in told] or [last]


def _of_benchmark(run: Benchmark) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, fields in _SERVED:
        value = next((value for field in fields if (value := getattr(run, field))), None)
        if value and value > 0:
            found[name] = value
    return found


def _of_burst(burst: Burst) -> dict[str, float]:
    found = {
        f"step with {_streams(one.streams)}, ms": one.step_ms
        for one in burst.decode
        if one.step_ms and one.step_ms > 0
    }
    if burst.prefill_tok_s and burst.prefill_tok_s > 0:
        found["cold prefill, tok/s"] = burst.prefill_tok_s
    if burst.again_tok_s and burst.again_tok_s > 0:
        found["prefill of a repeated prompt, tok/s"] = burst.again_tok_s
    return found


def _streams(count: int) -> str:
    return "one stream" if count == 1 else f"{count} streams"
