"""Who may ask and who may approve, and how much at once."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from bot.settings.words import Approver, SlackId

_Count = Annotated[int, Field(ge=1, le=100_000)]


class Access(BaseModel):
    """Slack ids of users, user groups and channels.

    `ask` is None where everybody of the workspace may ask; nobody may approve who is not named. From a
    terminal of the bot's machine `local:NAME` approves.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    ask: tuple[SlackId, ...] | None = None
    approve: tuple[Approver, ...] = ()


class Limits(BaseModel):
    """How many investigations may be open at once, for one person, in one channel, and for all.

    `at_once` run at the same time; the others wait their turn. `per_hour` is for one person. `per_jump`
    hosts are asked through one jump host at a time, by all replicas together: sshd drops connections
    by chance from its tenth unauthenticated one on (MaxStartups 10:30:100, sshd_config(5)).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    open_per_user: _Count = 10
    open_per_channel: _Count = 40
    per_hour: _Count = 120
    at_once: _Count = 20
    per_jump: _Count = 10
