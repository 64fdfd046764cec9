"""Which server was seen: so that a change meets exactly that one, or nobody."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Identity(BaseModel):
    """One process of one boot, and a digest of how it was started.

    `started_ticks` is field 22 of /proc/PID/stat. `digest` is the SHA-256, in hex, of the boot id and
    of the whole command line, environment, working directory and executable, made on the host: what
    is secret in them goes into the digest and nowhere else.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    pid: int = Field(gt=0)
    started_ticks: int = Field(ge=0)
    boot_id: str = Field(max_length=64)
    digest: str = Field(pattern=r"^[0-9a-f]{64}$")
