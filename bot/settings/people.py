"""Who may ask and who may approve, and how much at once."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from bot.settings.words import SlackId

_Count = Annotated[int, Field(ge=1, le=100_000)]


class Access(BaseModel):
    """Slack ids of users, user groups and channels.

    `ask` is None where everybody of the workspace may ask; nobody may approve who is not named.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    ask: tuple[SlackId, ...] | None = None
    approve: tuple[SlackId, ...] = ()


class Limits(BaseModel):
    """How many investigations may be open at once, for one person, in one channel, and for all.

    `at_once` run at the same time; the others wait their turn. `per_hour` is for one person.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    open_per_user: _Count = 10
    open_per_channel: _Count = 40
    per_hour: _Count = 120
    at_once: _Count = 20
