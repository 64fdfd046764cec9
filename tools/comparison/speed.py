"""What both sides measured of their speed, side by side: decode at the same load, cold prompts, clients."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tools.comparison.decode import Decode
from tools.comparison.rate import Rate, spread
from tools.comparison.side import Side
from tools.engine import Benchmark, Metrics, ServerLog
from tools.engine.traffic import ENOUGH, Traffic
from tools.physics.interval import Interval
from tools.physics.measured import cold_prefill_rates

# Shares by which two runs of one server differ by themselves: decode lines of one prompt within
# 1 %, accept lengths with the wording of prompts, cold chunks with what else the host does.
DECODE_FLOOR, ACCEPT_FLOOR, PREFILL_FLOOR = 0.01, 0.02, 0.03
_CLIENT_FLOOR = 0.05
_ALIKE = 0.1  # share by which the tokens of two benchmarks may differ
_ROWS = 3  # numbers of requests that are told
_POINTS = 10.0  # percent points of waiting or cached that are worth a word

Pair = tuple[Decode, Decode]


def common(here: dict[int, Decode], there: dict[int, Decode]) -> list[Pair]:
    """Return what both measured at the same number of requests, the best known first."""
    both = here.keys() & there.keys()
    pairs = [(here[running], there[running]) for running in both]
    return sorted(pairs, key=lambda pair: (-min(one.lines for one in pair), pair[0].running))


def speeds(here: Side, there: Side, pairs: list[Pair]) -> Iterator[Rate]:
    """Yield what was measured; the first is decode where both measured it at the same load."""
    looks = (_of_log(here), _of_log(there))
    for one, other in pairs[:_ROWS]:
        name = f"decode, {one.running} running"
        yield Rate(name, "tok/s", one.tok_s, other.tok_s, DECODE_FLOOR, looks=looks)
    rates = [spread([[one] for one in _cold(side)]) for side in (here, there)]
    if any(rates):
        yield Rate("prefill, cold prompts", "tok/s", rates[0], rates[1], PREFILL_FLOOR, looks=looks)
    yield from _clients(here, there)
    yield from _first_tokens(here, there)
    yield from _shares(here, there, looks)


def _of_log(side: Side) -> tuple[str, ...]:
    return side.looks([side.log]) if side.log else ()


def _cold(side: Side) -> list[float]:
    rates = cold_prefill_rates(side.log) if side.log else []
    return rates if len(rates) >= ENOUGH else []


def _clients(here: Side, there: Side) -> Iterator[Rate]:
    """Yield what benchmarks of both say, where they asked for the same."""
    one, other = here.known.get(Benchmark), there.known.get(Benchmark)
    if one is None or other is None:
        return
    looks = (here.looks([one]), there.looks([other]))
    apart = _other_load(one, other)
    figures: tuple[tuple[str, str, float | None, float | None, bool], ...] = (
        ("benchmark, output", "tok/s", one.output_tok_s, other.output_tok_s, False),
        ("benchmark, first token", "ms", one.ttft_median_ms, other.ttft_median_ms, True),
        ("benchmark, between tokens", "ms", one.itl_median_ms, other.itl_median_ms, True),
    )
    for name, unit, mine, theirs, time in figures:
        if mine and theirs:
            ends = (Interval.exactly(mine), Interval.exactly(theirs))
            yield Rate(name, unit, *ends, _CLIENT_FLOOR, time=time, incomparable=apart, looks=looks)


def _other_load(one: Benchmark, other: Benchmark) -> str:
    if one.concurrency != other.concurrency:
        return (
            f"{one.concurrency or 'unknown'} and {other.concurrency or 'unknown'} requests at once"
        )
    pairs = ((one.input_tokens, other.input_tokens), (one.output_tokens, other.output_tokens))
    for mine, theirs in pairs:
        if mine and theirs and abs(mine - theirs) > _ALIKE * max(mine, theirs):
            return f"{mine:,} and {theirs:,} tokens"
    return ""


def _first_tokens(here: Side, there: Side) -> Iterator[Rate]:
    """Yield the mean time to the first token of the seconds that were watched; prompts differ, so no more."""
    means = [_mean_ms(side) for side in (here, there)]
    if all(means):
        looks = (_of_metrics(here), _of_metrics(there))
        yield Rate(
            "first token while watched", "ms", means[0], means[1], 0.0,
            time=True, incomparable="the prompts may differ", looks=looks,
        )  # fmt: skip


def _mean_ms(side: Side) -> Interval | None:
    metrics = side.known.get(Metrics)
    deltas = metrics.deltas if metrics else {}
    total = deltas.get("time_to_first_token_seconds_sum", 0.0)
    count = deltas.get("time_to_first_token_seconds_count", 0.0)
    return Interval.exactly(total / count * 1e3) if count >= ENOUGH else None


def _of_metrics(side: Side) -> tuple[str, ...]:
    metrics = side.known.get(Metrics)
    return side.looks([metrics]) if metrics else ()


def _shares(
    here: Side, there: Side, looks: tuple[tuple[str, ...], tuple[str, ...]]
) -> Iterator[Rate]:
    """Yield what the load was like, where the two were loaded in different ways."""
    shares: tuple[tuple[str, str, Callable[[ServerLog], float | None]], ...] = (
        ("lines with requests waiting", "the load is another", lambda log: Traffic(log).queued_pct),
        ("prompt tokens from the cache", "the prompts are others, or the cache is", _cached_pct),
    )
    for name, why, read in shares:
        told = [read(side.log) if side.log and side.log.decode else None for side in (here, there)]
        if told[0] is not None and told[1] is not None and abs(told[0] - told[1]) >= _POINTS:
            ends = (Interval.exactly(told[0]), Interval.exactly(told[1]))
            yield Rate(name, "%", *ends, 0.0, incomparable=why, looks=looks)


def _cached_pct(log: ServerLog) -> float | None:
    lines = [line for line in log.prefill if line.cached_tokens is not None]
    cached = sum(line.cached_tokens or 0 for line in lines)
    whole = cached + sum(line.new_tokens or 0 for line in lines)
    return 100 * cached / whole if whole and len(lines) >= ENOUGH else None
