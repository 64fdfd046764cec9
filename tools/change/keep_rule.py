"""When a change is kept: what must become better, by how much, and what may not become worse."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Goal = Literal["decode", "prefill", "ttft", "throughput"]


class KeepRule(BaseModel):
    """Kept when `goal` is better by more than max(`better_pct`, the interval), and there are no errors.

    Nothing else that was measured may be worse by more than max(`worse_pct`, its interval). `anyway`: it
    is kept whatever was measured, as long as nothing fails, for it takes an earlier change back.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    goal: Goal = "decode"
    better_pct: float = Field(3.0, ge=0, le=100)
    worse_pct: float = Field(3.0, ge=0, le=100)
    anyway: bool = False
