"""What was measured under our own load, in words and small tables; and whether two sets of runs differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import exp, log
from statistics import mean, stdev

from bot.narrator.briefs import brief
from bot.narrator.line import Line, Part, Table
from tools.engine import Benchmark, Burst, BurstDecode
from tools.evidence import Evidence
from tools.measure.difference import MISTAKEN, MOST_RUNS, SOUGHT_PCT, Difference, runs_needed
from tools.measure.runs import figures


@brief.register
def _(facts: Burst) -> str:
    first = facts.decode[0] if facts.decode else None
    step = (
        f"step {first.step_ms:.1f} ms with {_streams(first.streams)}"
        if first and first.step_ms
        else ""
    )
    cold = f"cold prefill {facts.prefill_tok_s:,.0f} tok/s" if facts.prefill_tok_s else ""
    return ", ".join(part for part in (step, cold) if part)


def of_burst(burst: Burst) -> Iterator[Part]:
    """Tell what a burst measured."""
    head = (
        "",
        "step ms",
        "tok/s",
        "accept length",
        "first token ms",
        "token after token ms",
        "its p99",
    )
    if burst.decode:
        yield Table(head, tuple(_row(one) for one in burst.decode))
    if burst.prefill_tok_s and burst.prefill_tokens:
        yield Line(
            "text",
            f"A cold prompt of {burst.prefill_tokens:,} tokens was read at {burst.prefill_tok_s:,.0f} tok/s"
            f" ({burst.cold_ttft_ms or 0:,.0f} ms to the first token).",
        )
    yield from (Line("text", text) for text in _machine(burst))
    if burst.foreign_tokens:
        yield Line("trouble", f"{burst.foreign_tokens} tokens were generated for others meanwhile.")
    if burst.stopped:
        yield Line("trouble", f"It ended early: {burst.stopped}.")


def of_run(number: int, of: int, run: Benchmark, took_s: float) -> Iterator[Part]:
    """Tell one run of the engine's benchmark as it comes."""
    parts = [run.rate]
    parts += [f"first token {run.ttft_median_ms:.0f} ms"] if run.ttft_median_ms else []
    parts += [f"then {run.tpot_median_ms:.1f} ms a token"] if run.tpot_median_ms else []
    parts += [f"accept length {run.accept_len:.2f}"] if run.accept_len else []
    yield Line(
        "look", f"run {number} of {of}: {', '.join(part for part in parts if part)}", took_s=took_s
    )


def of_runs(looks: Sequence[Evidence]) -> Iterator[Part]:
    """Tell what several runs together are worth."""
    rows = []
    found = figures(looks)
    for name, values in found.items():
        if len(values) < 2:
            continue
        logs = [log(value) for value in values]
        needed = runs_needed(stdev(logs), len(logs) - 1, MISTAKEN / len(found))
        rows.append(
            (
                name,
                f"{exp(mean(logs)):,.1f}",
                f"{(exp(stdev(logs)) - 1) * 100:.1f} %",
                _needed(needed),
            )
        )
    if rows:
        yield Table(("", "mean", "spread", f"runs to show {SOUGHT_PCT:.0f} %"), tuple(rows))
        yield Line(
            "text", "Keep them with --save, and set two sets beside each other with --compare."
        )
    elif looks:
        yield Line(
            "text", "One run tells no spread: with --runs 5 a change can be told from noise."
        )


def of_differences(a: str, b: str, found: Sequence[Difference]) -> Iterator[Part]:
    """Tell whether two sets of runs differ."""
    runs = f"{a} in {found[0].runs[0]} runs, {b} in {found[0].runs[1]}"
    differing = [one for one in found if one.differs]
    if differing:
        words = "; ".join(f"{_named(one)} {one.change_pct:+.1f} %" for one in differing)
        yield Line("lead", f"They differ: {words} from A to B.")
    else:
        yield Line("lead", "No difference is shown: what there is, chance can make.")
    yield Line("text", f"A is {runs.replace(', ', '; B is ', 1)}.")
    head = (
        "",
        "A",
        "B",
        "change",
        "true change within",
        "would show",
        f"runs to show {SOUGHT_PCT:.0f} %",
    )
    yield Table(head, tuple(_beside(one) for one in found))
    yield Line(
        "text",
        f"Of alike sets {MISTAKEN:.0%} are called different by any of these figures. Runs that alternate"
        " (A, B, A, B) share what drifts; of sets that were run one after the other, drift counts as a change.",
    )


def _beside(one: Difference) -> tuple[str, ...]:
    return (
        one.name,
        f"{one.a:,.1f}",
        f"{one.b:,.1f}",
        f"{one.change_pct:+.1f} %{' differs' if one.differs else ''}",
        f"{one.low_pct:+.1f} to {one.high_pct:+.1f} %",
        f"{one.smallest_pct:.1f} %",
        _needed(one.runs_for_5_pct),
    )


def _row(one: BurstDecode) -> tuple[str, ...]:
    figures_told = (one.step_ms, one.tok_s, one.accept_len, one.ttft_ms, one.itl_ms, one.itl_p99_ms)
    shown = (
        "–" if value is None else f"{value:.2f}" if value < 10 else f"{value:.1f}"
        for value in figures_told
    )
    return (_streams(one.streams), *shown)


def _machine(burst: Burst) -> Iterator[str]:
    for link in burst.links:
        if link.gen and link.width:
            most = (
                f" of Gen{link.gen_possible} x{link.width_possible or '?'}"
                if link.gen_possible
                else ""
            )
            yield f"GPU {link.gpu} at work: PCIe Gen{link.gen} x{link.width}{most} ({link.samples} samples)."
    if burst.unwatched:
        yield f"No GPU was watched: {burst.unwatched}."
    errors = sum(burst.port_errors.values()) + sum(burst.replays.values())
    if errors:
        yield f"{errors} PCIe errors and replays were counted meanwhile."
    if burst.busiest_core_pct is not None:
        yield f"The busiest core was at {burst.busiest_core_pct:.0f} %."
    if burst.throttled:
        yield f"The CPU quota held the server back in {burst.throttled} periods of 0.1 s."


def _named(one: Difference) -> str:
    return one.name.partition(",")[0]


def _streams(count: int) -> str:
    return "one stream" if count == 1 else f"{count} streams"


def _needed(runs: int | None) -> str:
    return f"over {MOST_RUNS}" if runs is None else str(runs)
