"""The object that our burst script prints, read: raw token times become steps, rates and waiting times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import mean, median
from typing import Any

from pydantic import ValidationError

from tools.engine.burst import Burst, BurstDecode
from tools.errors import Absent, Unreadable

_TICKS = 1e4  # chunk times are in 0.1 ms
_FEWEST = 4  # tokens between two moments; fewer tell of chunks, not of steps
_CACHED = 0.1  # of a prompt; more, and it was not cold
_OWN = 1.05  # the server counts a token or two more than its clients see
_P99 = 0.99
_TOGETHER = 0.8  # of its time that a request runs beside all others of its round

Told = Mapping[str, Any]


def read_burst(said: Told) -> Burst:
    """Return the figures of a burst; raise Absent where it brought none, Unreadable where it is none."""
    try:
        found = _figures(said["burst"])
    except (ValidationError, TypeError, ValueError, LookupError, AttributeError) as why:
        raise Unreadable(f"the burst is not in its form: {type(why).__name__}") from None
    if not found.decode and found.prefill_tok_s is None:
        raise Absent(f"the burst measured nothing: {found.stopped or 'no request of it ended'}")
    return found


def _figures(burst: Told) -> Burst:
    requests = [Request(one) for one in burst["requests"]]
    stopped = str(burst.get("stopped") or "")[:300]
    host, counters = burst["host"], burst.get("counters") or {}
    cold = next((one for one in requests if one.kind == "cold" and one.cold), None)
    again = next((one for one in requests if one.kind == "again" and one.done), None)
    group = host.get("cgroup") or {}
    return Burst(
        version=burst.get("version"),
        took_s=burst.get("took_s"),
        stopped=stopped,
        decode=tuple(_decode([one for one in requests if not (stopped and one.ended == "cut")])),
        prefill_tok_s=cold and cold.prompt / cold.first_s,
        prefill_tokens=cold and cold.prompt,
        cold_ttft_ms=cold and cold.first_s * 1e3,
        again_tok_s=again and again.prompt / again.first_s,
        graph=_graph(counters),
        foreign_tokens=_foreign(counters, sum(one.tokens for one in requests)),
        unwatched=str(burst.get("gpus") or "")[:300],
        port_errors={
            str(name): int(count) for name, count in (host.get("pcie_errors") or {}).items()
        },
        ports_counted=int(host.get("pcie_counted") or 0),
        busiest_core_pct=_busiest(burst.get("cores") or []),
        server_pct=_processes(host.get("processes") or []),
        throttled=group.get("nr_throttled"),
        throttled_ms=group["throttled_usec"] / 1e3 if "throttled_usec" in group else None,
    )


class Request:
    """One request of the burst. Times in seconds; `at` and `count` are its chunks."""

    def __init__(self, told: Told) -> None:
        self.kind, self.streams = str(told["kind"]), int(told["streams"])
        self.ended, self.meta = str(told["ended"]), told["meta"]
        self.sent_s = float(told["sent_s"])
        self.at = [self.sent_s + float(at) / _TICKS for at, _ in told["chunks"]]
        self.count = [int(count) for _, count in told["chunks"]]
        self.tokens = self.count[-1] if self.count else 0
        self.prompt = int(self.meta.get("prompt_tokens") or 0)
        seen = self.at[0] - self.sent_s if self.at else 0.0
        own = float(self.meta.get("first_token_latency") or 0.0)  # the engine's clock, since 0.5.21
        self.first_s = own if 0 < own < seen else seen  # who waits for a core sees it late

    @property
    def cold(self) -> bool:
        """Say whether its prompt was read whole, without help of a cache."""
        return self.done and (self.meta.get("cached_tokens") or 0) <= _CACHED * self.prompt

    @property
    def done(self) -> bool:
        """Say whether it was answered whole, and when its first token came is known."""
        return bool(self.ended == "done" and self.first_s)

    @property
    def verifies(self) -> int | None:
        """Return its verify steps, where the server speculates."""
        return self.meta.get("spec_verify_ct") or None

    @property
    def decode_s(self) -> float | None:
        """Return the seconds from first to last token by the engine's own clock, where it tells them.

        A client that waits for a core sees tokens late and in heaps.
        """
        whole, first = self.meta.get("e2e_latency"), self.meta.get("first_token_latency")  # 0.5.21
        if whole and first:
            return float(whole - first)
        rate = self.meta.get("decode_throughput")  # 0.5.5
        return (self.tokens - 1) / rate if rate else None

    def between(self, start: float, end: float) -> tuple[int, float]:
        """Return the tokens that came between two moments, and the seconds between first and last."""
        inside = [place for place, at in enumerate(self.at) if start <= at <= end]
        if len(inside) < 2:
            return 0, 0.0
        first, last = inside[0], inside[-1]
        return self.count[last] - self.count[first], self.at[last] - self.at[first]

    def gaps(self) -> Iterator[float]:
        """Give the seconds before each token but the first; tokens of one chunk share its gap."""
        for place in range(1, len(self.at)):
            tokens = self.count[place] - self.count[place - 1]
            yield from [(self.at[place] - self.at[place - 1]) / max(tokens, 1)] * min(tokens, 64)


def _decode(requests: Sequence[Request]) -> Iterator[BurstDecode]:
    rounds: dict[int, list[Request]] = {}
    for one in requests:
        if one.kind == "decode" and len(one.at) > 1 and one.streams > 0:
            rounds.setdefault(one.streams, []).append(one)
    speculates = any(one.verifies for one in requests)
    for streams, some in sorted(rounds.items()):
        yield _at(streams, some, speculates=speculates)


def _at(streams: int, some: Sequence[Request], *, speculates: bool) -> BurstDecode:
    steps: list[float] = []
    together: list[float] = []
    for group in _groups(streams, some):
        start, end = max(one.at[0] for one in group), min(one.at[-1] for one in group)
        own = [_rate(one, start, end) for one in group]
        if end - start > _TOGETHER * max(one.at[-1] - one.at[0] for one in group):
            own = [_told(one) or rate for one, rate in zip(group, own, strict=True)]
        found = [rate for rate in own if rate]
        if len(found) == streams:
            together.append(sum(found))
        for one, rate in zip(group, own, strict=True):
            made = (one.tokens - 1) / one.verifies if one.verifies else None
            if rate and (made or not speculates):
                steps.append((made or 1.0) / rate * 1e3)
    gaps = sorted(gap for one in some for gap in one.gaps())
    return BurstDecode(
        streams=streams,
        step_ms=median(steps) if steps else None,
        tok_s=median(together) if together else None,
        accept_len=_accept_len(some),
        ttft_ms=median(one.first_s for one in some) * 1e3,
        itl_ms=median(gaps) * 1e3 if gaps else None,
        itl_p99_ms=gaps[int((len(gaps) - 1) * _P99)] * 1e3 if gaps else None,
        context=mean(one.prompt + one.tokens / 2 for one in some),
        tokens=sum(one.tokens for one in some),
    )


def _groups(streams: int, some: Sequence[Request]) -> Iterator[Sequence[Request]]:
    """Give the requests that ran together: as they were sent, so many at a time."""
    for place in range(0, len(some) - streams + 1, streams):
        yield some[place : place + streams]


def _rate(one: Request, start: float, end: float) -> float | None:
    tokens, seconds = one.between(start, end)
    return tokens / seconds if tokens >= _FEWEST and seconds > 0 else None


def _accept_len(some: Sequence[Request]) -> float | None:
    """Return tokens for each verify step as the engine counts them, the one of prefill included."""
    told = [(one.tokens, one.verifies) for one in some if one.verifies]
    return sum(tokens for tokens, _ in told) / sum(steps for _, steps in told) if told else None


def _told(one: Request) -> float | None:
    return (one.tokens - 1) / one.decode_s if one.ended == "done" and one.decode_s else None


def _graph(counters: Told) -> bool | None:
    told = [counters.get(f"cuda_graph_passes_total/decode_{how}") for how in ("cuda_graph", "none")]
    if not any(told):
        return None
    return (told[0] or 0) > (told[1] or 0)


def _foreign(counters: Told, own: int) -> int:
    generated = counters.get("generation_tokens_total")
    return int(generated - own) if generated and generated > own * _OWN + 2 else 0


def _busiest(rows: Sequence[Sequence[float]]) -> float | None:
    cores = list(zip(*(row[1:] for row in rows), strict=False))
    return max(mean(core) for core in cores) if cores else None


def _processes(told: Sequence[Sequence[Any]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, share in told:
        found[str(name)[:40]] = found.get(str(name)[:40], 0.0) + float(share)
    return found
