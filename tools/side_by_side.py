"""Benchmarks given together that asked the same of the server: runs of one trial, named as their files are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePath

from tools.engine import Benchmark, Trials
from tools.engine.trial import Arm, Figure, Trial
from tools.evidence import Evidence

_FIGURES = (
    ("output_tok_s", "tok/s", "total"),
    ("ttft_mean_ms", "ms", "ttft"),
    ("ttft_p99_ms", "ms", "ttft,tail"),
    ("tpot_median_ms", "ms", "itl"),
    ("itl_median_ms", "ms", "itl"),
    ("itl_p99_ms", "ms", "itl,tail"),
)
_SIGNS = re.compile(r"[-_.]+")


def side_by_side(looks: Sequence[Evidence]) -> Trials | None:
    """Return the runs of benchmarks that differ in nothing told but their figures; None where there are none.

    What differs between them only the names of the files say, so it is testimony like a typed note.
    """
    groups: dict[tuple[int, int], list[Arm]] = {}
    for source, benchmark in _benchmarks(looks):
        if benchmark.concurrency is not None and benchmark.prompts is not None:
            arm = Arm(label=_named(source), figures=_figures(benchmark), line=source)
            groups.setdefault((benchmark.concurrency, benchmark.prompts), []).append(arm)
    trials = tuple(
        Trial(title=f"{prompts} requests, {at_once} at once", arms=tuple(arms))
        for (at_once, prompts), arms in groups.items()
        if len({arm.label for arm in arms}) > 1
    )
    return Trials(trials=trials) if trials else None


def _benchmarks(looks: Iterable[Evidence]) -> Iterable[tuple[str, Benchmark]]:
    return (
        (PurePath(one.source).name, one.facts) for one in looks if isinstance(one.facts, Benchmark)
    )


def _named(source: str) -> str:
    return _SIGNS.sub(" ", PurePath(source).stem).strip()


def _figures(benchmark: Benchmark) -> tuple[Figure, ...]:
    told = ((getattr(benchmark, name), unit, of) for name, unit, of in _FIGURES)
    figures = [Figure(value=value, unit=unit, of=of) for value, unit, of in told if value]
    if benchmark.duration_s:
        figures.append(Figure(value=benchmark.duration_s * 1e3, unit="ms", of="total"))
    return tuple(figures)
