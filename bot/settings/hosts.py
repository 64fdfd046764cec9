"""What is known of one host: how it is reached, what serves there, and who may ask about it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from bot.settings.words import Absolute, Approver, Plain, SlackId


class HostSettings(BaseModel):
    """What is known of one host. Nothing is required: what is missing is discovered.

    `ssh` is an alias or an address as `ssh` takes it; `local = true` asks this machine itself;
    `case` names a case file whose answers stand for the host's. `ask` and `approve` narrow
    what [access] grants: users, user groups and channels by their Slack ids.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    ssh: Plain | None = None
    ssh_config: Path | None = None  # another file than ~/.ssh/config
    local: bool = False
    case: Path | None = None
    python: Plain = "python3"
    port: Annotated[int, Field(ge=1, le=65535)] | None = None  # of the server, if there are several
    log: Absolute | None = None
    source: Absolute | None = None
    groups: tuple[str, ...] = ()
    notes: str = ""
    ask: tuple[SlackId, ...] | None = None
    approve: tuple[Approver, ...] | None = None

    @model_validator(mode="after")
    def _reached_one_way(self) -> Self:
        ways = [name for name in ("ssh", "local", "case") if getattr(self, name)]
        if len(ways) > 1:
            raise ValueError(f"{' and '.join(ways)} exclude each other: a host is reached one way")
        return self

    def scope(self) -> dict[str, str | int | None]:
        """Return what probes may want to know."""
        return {"port": self.port, "log_path": self.log, "source_path": self.source}
