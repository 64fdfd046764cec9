"""How long each part of a change may take before the old server comes back."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Bounds(BaseModel):
    """Seconds. `drain_s` waits for requests that run, 0: none; `stop_s` lies between TERM and KILL.

    `ready_s` is what the new server may take to answer. `silence_s` is the dead-man: when the bot has
    not been heard of for so long, the host brings the old server back by itself. `whole_s` bounds the
    whole change, however often the bot speaks.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    drain_s: float = Field(120.0, ge=0, le=3600)
    stop_s: float = Field(60.0, gt=0, le=600)
    ready_s: float = Field(900.0, gt=0, le=7200)
    silence_s: float = Field(300.0, gt=0, le=3600)
    whole_s: float = Field(7200.0, gt=0, le=86400)
