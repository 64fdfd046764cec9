"""What somebody wants tried, before the host was asked whether it can be."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from tools.change import Change, Predicted
from tools.change.keep_rule import Goal
from tools.errors import ToolsError


class NotPossible(ToolsError):
    """It cannot be tried by us: the sentence says why, `steps` what a person can do instead."""

    def __init__(self, why: str, steps: tuple[str, ...] = ()) -> None:
        super().__init__(why)
        self.steps = steps


class Wanted(BaseModel):
    """A change and what it is to make better.

    `predicted` is what a finding says of it, where it is the remedy of one; `why` says which. `back`
    says that it takes a kept change back, so that it need not be better.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    change: Change
    goal: Goal | None = None
    predicted: Predicted | None = None
    why: str = ""
    back: bool = False
