"""A trial: the same thing measured with one knob on different sides, as the person who did it wrote it down."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from tools.probe import Facts

RATES = ("tok/s", "req/s", "GB/s", "x", "%")  # more is better; the last is a change of the rate


class Figure(BaseModel):
    """One quantity of one run. Rates in tok/s, req/s, GB/s or relative (x); times in ms; a change in %.

    `of` says of what where it was said ("ttft", "itl", "prefill", "decode", "total", "load",
    "kernel", each with ",tail" for the slowest of many); `spread` is half of what repeated runs
    differ by, or the deviation that was told.
    """

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)

    value: float
    unit: str
    of: str = ""
    runs: int = 1
    spread: float | None = None


class Arm(BaseModel):
    """One side of a comparison, by the words of its label; `at` is the condition it was measured under."""

    model_config = ConfigDict(frozen=True)

    label: str
    at: str = ""
    figures: tuple[Figure, ...] = ()
    works: bool | None = None  # good or bad, where somebody said only that
    line: str = ""  # as it was typed


class Trial(BaseModel):
    """Runs that were written down together, under one heading."""

    model_config = ConfigDict(frozen=True)

    title: str = ""
    arms: tuple[Arm, ...]
    remarks: tuple[str, ...] = ()  # lines that are neither heading nor run


class Together(BaseModel):
    """Copies between GPUs that ran at the same time, and the sum of their rates in GB/s."""

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)

    pairs: tuple[tuple[int, int], ...]  # from where to where
    gb_s: float
    reads: bool = False


class Trials(Facts):
    """What somebody tried and wrote down. It is testimony: nobody else saw these figures."""

    trials: tuple[Trial, ...] = ()
    together: tuple[Together, ...] = ()
