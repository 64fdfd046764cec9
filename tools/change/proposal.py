"""A change as a person sees it before they approve it: all of it is in the digest they approve."""

from __future__ import annotations

import hashlib
import json
from typing import Literal

from pydantic import BaseModel, ConfigDict

from tools.change.bounds import Bounds
from tools.change.change import Change, Edit
from tools.change.held_by import HeldBy
from tools.change.identity import Identity
from tools.change.keep_rule import KeepRule

# A burst of our own; the same with its long prompt sent twice, so that a prefix cache shows; the engine's benchmark.
Load = Literal["burst", "repeated", "serving"]
LauncherKind = Literal["plain", "systemd", "docker", "compose"]


class Predicted(BaseModel):
    """What physics expects of it, as [lo, mid, hi] in percent of the rate; None: it cannot say."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    decode_pct: tuple[float, float, float] | None = None
    prefill_pct: tuple[float, float, float] | None = None
    why: str = ""


class Proposal(BaseModel):
    """What would be done to one server, how it is measured, when it is kept, and how it is undone.

    `old` and `new` are the command lines without secrets; `edits` turn the whole of the one into the
    other on the host. `traps` name what is known to go wrong with these flags in this version.
    `interrupts` is told in words: requests that run now, and how long the last start took. `proofs`
    are the lines or fields that show that a flag took effect, by the name of the flag. `held_by` has
    the names for a person who must do it by hand.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str
    port: int
    engine: str  # "sglang"
    version: str | None
    model: str | None  # as served
    change: Change
    identity: Identity
    launcher: LauncherKind
    held_by: HeldBy = HeldBy()
    old: tuple[str, ...]
    new: tuple[str, ...]
    edits: tuple[Edit, ...]
    traps: tuple[str, ...] = ()
    interrupts: tuple[str, ...] = ()
    predicted: Predicted = Predicted()
    proofs: dict[str, str] = {}
    load: Load = "burst"
    repeats: int = 5
    keep: KeepRule = KeepRule()
    bounds: Bounds = Bounds()
    undo: str = ""  # one sentence

    @property
    def digest(self) -> str:
        """Return the SHA-256 of everything above, in hex; an approval is bound to it."""
        whole = json.dumps(self.model_dump(mode="json"), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(whole.encode()).hexdigest()
