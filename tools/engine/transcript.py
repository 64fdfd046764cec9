"""A pasted terminal: each result belongs to the commands that were typed since the last one.

Also the tables of two profiles or copies tests under a heading each, which nobody labels line by line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tools.engine.note_lines import outcome
from tools.engine.typed_figures import figures
from tools.engine.typed_line import TypedLine

_PROMPT = re.compile(
    r"^\s{0,8}(?:\([\w.-]{1,30}\) )?(?:[\w.-]{1,40}@[\w.-]{1,60}:?[^\s#$]{0,80}[$#]|\$) (?=\S)"
)
_FEW = 12  # lines that name a run, and runs of a terminal
_TOLD = 300  # characters of the commands that name a run
# nsys stats -r cuda_gpu_kern_sum (2023 to 2025): "Time (%)  Total Time (ns)  Instances  Avg (ns) ..  Name".
_KERNELS = re.compile(r"Time \(%\).{1,10}Total Time \(ns\).{1,10}Instances.{1,10}Avg \(ns\)")
_KERNEL = re.compile(
    r"^\s{0,12}(?P<share>\d{1,3}\.\d)\s+[\d,]{1,20}\s+[\d,]{1,12}\s+(?P<avg_ns>[\d,]{1,16}\.\d)\s+"
    r"(?:[\d,.]{1,20}\s+){0,4}(?P<name>[A-Za-z_].{1,120})$"
)
_WORTH = 5.0  # % of the time; a smaller kernel moves nothing
# nccl-tests, common.cu (2.13 to 2.17) ends a run with it, in GB/s.
_BUS = re.compile(r"^#?\s*Avg bus bandwidth\s*:\s*(?P<gb_s>\d{1,5}(?:\.\d{1,6})?)\s*$")
_NCCL_ROW = re.compile(r"^\s*\d+\s+\d+\s+\w+\s+(?:\w+|-)\s+-?\d+\s+[\d.]+\s+[\d.]+\s+[\d.]+")
_NCCL_REST = re.compile(
    r"^#\s*(?:$|nThread|Using devices|Rank |size\b|\(B\)|out-of-place|Out of bounds|Collective test|nccl-tests)"
)


def results_of(lines: Sequence[TypedLine]) -> list[TypedLine]:
    """Return the lines of a note, with those of terminals, profiles and copies under what they belong to."""
    if sum(bool(_PROMPT.match(one.text)) for one in lines) > 1:
        return _plain_ones(list(_by_commands(lines)))
    if sum(bool(_KERNELS.search(one.text) or _BUS.match(one.text)) for one in lines) > 1:
        return list(_by_headings(lines))
    return list(lines)


def _by_commands(lines: Sequence[TypedLine]) -> Iterator[TypedLine]:
    told: list[str] = []  # since the last result
    run = ""
    for one in lines:
        prompt = _PROMPT.match(one.text)
        text = one.text[prompt.end() :].strip() if prompt else one.text.strip()
        if not prompt and not told and not run:
            yield one
        elif not prompt and (result := _result(text)):
            run = _named(told) or run
            yield TypedLine(result, one.line, run)
            told = []
        elif (prompt or told or text.startswith("#") or text.endswith(":")) and _names(text, told):
            told.append(text[:_TOLD])


def _result(text: str) -> str:
    if bus := _BUS.match(text):
        return f"busbw {bus['gb_s']} GB/s"
    return text if figures(text) or outcome(text) is not None else ""


def _names(text: str, told: Sequence[str]) -> bool:
    """Say whether a line may name the run: tables of nccl-tests and the rest of a long output do not."""
    return bool(text) and len(told) < _FEW and not (_NCCL_ROW.match(text) or _NCCL_REST.match(text))


def _plain_ones(lines: Sequence[TypedLine]) -> list[TypedLine]:
    """Mark the run whose command is that of another with words left out: it is the one without them."""
    words = {one.label: set(one.label.split()) for one in lines if one.label}
    least = {
        label
        for label, said in words.items()
        if len(words) <= _FEW and any(said < other for other in words.values())
    }
    return [
        one._replace(label=f"{one.label} (plain)") if one.label in least else one for one in lines
    ]


def _named(told: Sequence[str]) -> str:
    return ", ".join(told)[-_TOLD:]


def _by_headings(lines: Sequence[TypedLine]) -> Iterator[TypedLine]:
    heading = ""
    for one in lines:
        if bus := _BUS.match(one.text):
            yield TypedLine(f"busbw {bus['gb_s']} GB/s", one.line, heading)
        elif kernel := _KERNEL.match(one.text):
            if float(kernel["share"]) >= _WORTH:
                avg_ms = float(kernel["avg_ns"].replace(",", "")) / 1e6
                yield TypedLine(
                    f"kernel {avg_ms:.6f} ms", one.line, heading, kernel["name"].strip()
                )
        elif _KERNELS.search(one.text) or _NCCL_ROW.match(one.text) or _NCCL_REST.match(one.text):
            continue
        elif one.text.strip(" \t=-#") and not figures(one.text):
            heading = one.text.strip(" \t=#")[:_TOLD]
