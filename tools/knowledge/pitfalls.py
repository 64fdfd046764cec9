"""Pitfalls: what is known to go wrong when a flag or variable is changed; data: pitfalls.yaml."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict

Turn = Literal["set", "unset", "up", "down"]

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Pitfall(BaseModel):
    """One pitfall. `only` is the kind of server it waits for; versions are those of SGLang, both included."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    flag: str
    when: Literal["set", "unset", "up", "down", "any"]
    text: str
    source: str
    only: Literal["speculative", "multimodal", "hybrid", "several"] | None = None
    since: str | None = None
    until: str | None = None

    def waits(
        self, flag: str, turns: Collection[Turn], kinds: Collection[str], version: str | None
    ) -> bool:
        """Say whether a change of this flag, turned so, meets it on such a server."""
        return (
            self.flag == flag
            and (self.when == "any" or self.when in turns)
            and (self.only is None or self.only in kinds)
            and self._in(version)
        )

    def _in(self, version: str | None) -> bool:
        """Say whether it is in a version; one that is not known may have it."""
        if version is None:
            return True
        at = _parts(version)
        return not (self.since and at < _parts(self.since)) and not (
            self.until and at > _parts(self.until)
        )


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d{1,9}", version)[:3])


@cache
def all_pitfalls() -> tuple[Pitfall, ...]:
    """Return every pitfall that is known."""
    text = (files(__package__) / "pitfalls.yaml").read_text(encoding="utf-8")
    told: list[dict[str, Any]] = yaml.load(text, Loader=_LOADER)  # noqa: S506 - a safe loader, in C where there is one
    return tuple(Pitfall.model_validate(entry) for entry in told)
