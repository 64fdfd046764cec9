"""What is to be different about a server: flags and variables, and the edits of its command line."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Value = str | int | float | bool
_NAME = r"^[A-Za-z][A-Za-z0-9_]{0,99}$"
_VARIABLE = r"^[A-Z][A-Z0-9_]{0,99}$"
_MOST = 12  # changes at once; more than one or two cannot be told apart anyway


class Change(BaseModel):
    """The wish, by the engine's names of fields (`chunked_prefill_size`), before it is validated.

    `set` gives flags a value (a switch: True), `unset` takes flags out of the command line, so that
    the engine's default holds; `env` gives variables of the server a value, `unset_env` removes them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    set: dict[str, Value] = Field(default_factory=dict)
    unset: tuple[str, ...] = ()
    env: dict[str, str] = Field(default_factory=dict)
    unset_env: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        named = [*self.set, *self.unset, *self.env, *self.unset_env]
        if not named:
            raise ValueError("nothing is to be changed: name a flag or a variable")
        if len(named) > _MOST:
            raise ValueError(f"at most {_MOST} changes at once")
        if twice := {name for name in named if named.count(name) > 1}:
            raise ValueError(f"{', '.join(sorted(twice))} is named twice")
        return self


class Edit(BaseModel):
    """One edit of a command line, carried out where the whole of it is: on the host.

    `drop` names every spelling of the flag that is taken out where it stands ("--tp", "--tp-size"),
    with its values (`takes`: how many words follow, None: all up to the next flag); `add` is what
    goes to the end in its place.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    drop: tuple[str, ...] = ()
    takes: int | None = 1
    add: tuple[str, ...] = ()
