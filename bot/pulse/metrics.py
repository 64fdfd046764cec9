"""Metrics for Prometheus, counted when they are read; prometheus_client's only door."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from bot.store import StoreError
from bot.store.counts import Counted, Counts
from bot.tally import BOUNDS_S, TALLY, Tally

KIND = "text/plain; version=0.0.4; charset=utf-8"
_OPEN = ("waiting", "joined", "running")
_OF_ALL = "Of all replicas: take the max over them, not the sum."


class Metrics:
    """What the store counts is of all replicas and outlives them; looks and Slack are of this process."""

    def __init__(self, counts: Counts, tally: Tally = TALLY) -> None:
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(_Collector(counts, tally))

    def text(self) -> bytes:
        """Return them in Prometheus's text format."""
        return generate_latest(self._registry)


class _Collector(Collector):
    def __init__(self, counts: Counts, tally: Tally) -> None:
        self._counts, self._tally = counts, tally

    def collect(self) -> Iterable[Metric]:
        yield from _of_process(self._tally)
        up = GaugeMetricFamily("perfsleuth_store_up", "1 where the store answers.")
        try:
            counted = self._counts.now()
        except StoreError:
            up.add_metric([], 0)
            yield up
            return
        up.add_metric([], 1)
        yield up
        yield from _of_store(counted)


def _of_process(tally: Tally) -> Iterable[Metric]:
    looks = HistogramMetricFamily(
        "perfsleuth_look_seconds",
        "How long one batch of questions to a host took, in this process.",
        labels=["outcome"],
    )
    for outcome, times in tally.looks().items():
        bounds = [*(f"{bound:g}" for bound in BOUNDS_S), "+Inf"]
        buckets = [(bound, float(n)) for bound, n in zip(bounds, times.within, strict=True)]
        looks.add_metric([outcome], buckets, times.sum_s)
    yield looks
    yield _counter(
        "perfsleuth_slack_errors",
        "Calls of Slack's Web API that failed, in this process: throttled, away, refused.",
        "kind",
        tally.slack(),
    )


def _of_store(counted: Counted) -> Iterable[Metric]:
    ended = CounterMetricFamily(
        "perfsleuth_runs",
        f"Work that ended: investigations (host, files), follow-ups, changes, sweeps. {_OF_ALL}",
        labels=["kind", "state"],
    )
    waiting = GaugeMetricFamily(
        "perfsleuth_runs_open",
        f"Work that waits, joins or runs. {_OF_ALL}",
        labels=["kind", "state"],
    )
    for (kind, state), number in sorted(counted.runs.items()):
        (waiting if state in _OPEN else ended).add_metric([kind, state], number)
    yield ended
    yield waiting
    yield _counter("perfsleuth_verdicts", f"Verdicts. {_OF_ALL}", "category", counted.verdicts)
    yield _counter(
        "perfsleuth_experiments", f"Changes to hosts, by how they ended. {_OF_ALL}", "end", counted.experiments
    )  # fmt: skip
    yield CounterMetricFamily(
        "perfsleuth_model_tokens", f"Tokens that models took. {_OF_ALL}", value=counted.tokens
    )
    yield CounterMetricFamily(
        "perfsleuth_model_usd",
        f"Money that models cost, in US dollars. {_OF_ALL}",
        value=counted.usd,
    )
    yield GaugeMetricFamily(
        "perfsleuth_letters_open",
        f"Messages not delivered yet. {_OF_ALL}",
        value=counted.letters_open,
    )
    yield GaugeMetricFamily(
        "perfsleuth_oldest_waiting_seconds",
        f"For how long the oldest accepted work has waited to begin. {_OF_ALL}",
        value=counted.oldest_waiting_s,
    )
    yield GaugeMetricFamily(
        "perfsleuth_replicas", f"Replicas that live. {_OF_ALL}", value=counted.replicas
    )


def _counter(name: str, told: str, label: str, numbers: Mapping[str, int]) -> Metric:
    family = CounterMetricFamily(name, told, labels=[label])
    for value, number in sorted(numbers.items()):
        family.add_metric([value], number)
    return family
