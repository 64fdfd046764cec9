"""Who we are in a workspace, as auth.test tells it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Us:
    """Our ids in the workspace, and what we are allowed to do there."""

    team: str
    user: str  # U..., what people mention
    bot: str = ""  # B..., what our own messages carry
    name: str = "perfsleuth"
    workspace: str = ""
    enterprise: str = ""  # E..., of the organisation, where there is one
    scopes: frozenset[str] = frozenset()
