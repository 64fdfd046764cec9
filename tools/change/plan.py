"""A few changes that are tried one after the other, approved as one: all of it is in the digest they approve."""

from __future__ import annotations

import hashlib
import json
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from tools.change.keep_rule import Goal
from tools.change.proposal import Proposal


class Plan(BaseModel):
    """What would be tried on one server, in this order, within `budget_s` seconds.

    `proposals` are as the server is now; each later one is made anew when its turn comes, on what the
    one before left. `sources` says of each why it is predicted to help; `left_out` are changes that
    are not tried, each with the reason.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    goal: Goal
    budget_s: float = Field(gt=0, le=86400)
    proposals: tuple[Proposal, ...] = Field(min_length=1)
    sources: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...] = ()

    @model_validator(mode="after")
    def _is_of_one_server(self) -> Self:
        if len({(one.host, one.port) for one in self.proposals}) > 1:
            raise ValueError("a plan is for one server")
        if len(self.sources) != len(self.proposals):
            raise ValueError("each change of a plan has a source")
        return self

    @property
    def host(self) -> str:
        """Return the host of its server."""
        return self.proposals[0].host

    @property
    def port(self) -> int:
        """Return the port of its server."""
        return self.proposals[0].port

    @property
    def digest(self) -> str:
        """Return the SHA-256 of everything above, in hex; an approval is bound to it."""
        whole = json.dumps(self.model_dump(mode="json"), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(whole.encode()).hexdigest()
