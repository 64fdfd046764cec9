"""Known traps of SGLang's flags, what proves that a flag took effect, and flags that are gone; data: traps.yaml."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

# Words that a trap may need; who knows a deployment says of each whether it holds.
Need = Literal[
    "eagle",  # speculation by EAGLE, EAGLE3, NEXTN or MTP
    "speculation",  # by any algorithm
    "multimodal",
    "hybrid",  # a model with mamba or linear attention layers beside attention
    "pcie_pair",  # two GPUs with no NVLink between them
    "several_gpus",
    "radix_cache",
    "torch_native",  # the attention backend in use
    "not_sm90_sm100",  # compute capability other than 9.0 and 10.x
]


class Cited(BaseModel):
    """A text of the engine's source, and the line it stands on in each release."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str  # below the package sglang
    text: str
    lines: Mapping[str, int]

    def where(self, version: str) -> str | None:
        """Return file:line below site-packages in a release (a post-release is another one); None if not read."""
        line = self.lines.get(version.removeprefix("v"))
        return f"sglang/{self.path}:{line}" if line else None


class _Lived(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    since: str
    until: str | None
    flags: tuple[str, ...]
    sources: tuple[Cited, ...]

    def holds_in(self, version: str) -> bool:
        """Whether a release has it; later ones than were read are taken to be like the last."""
        here = _order(version)
        return _order(self.since) <= here and (self.until is None or here <= _order(self.until))

    def where(self, version: str) -> tuple[str, ...]:
        """Return file:line of what shows it in a release; none where that release was not read."""
        return tuple(at for cited in self.sources if (at := cited.where(version)))


class Trap(_Lived):
    """A flag that does not do what it says, or a remedy that is none."""

    needs: tuple[Need, ...]
    happens: str
    remedy: str
    proof: str | None

    def open(self, conditions: Mapping[str, bool]) -> tuple[str, ...]:
        """Return the conditions that it needs and of which nothing is known."""
        return tuple(need for need in self.needs if need not in conditions)


class Proof(_Lived):
    """What shows that a flag took effect: a pattern of a log line, or a path of the server's answer."""

    where_seen: Literal["log", "server_info"]
    pattern: str
    means: str

    def in_log(self, line: str) -> re.Match[str] | None:
        """Return the match in a log line, with the value in its group; None for other lines."""
        return re.search(self.pattern, line) if self.where_seen == "log" else None


class _Removed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    flags: tuple[str, ...]
    last: str
    instead: str


@cache
def _data() -> dict[str, list[dict[str, Any]]]:
    text = (files(__package__) / "traps.yaml").read_text(encoding="utf-8")
    told: dict[str, list[dict[str, Any]]] = yaml.load(text, Loader=_LOADER)  # noqa: S506 - a safe loader, in C where there is one
    return told


@cache
def all_traps() -> tuple[Trap, ...]:
    """Return every known trap."""
    return tuple(Trap.model_validate(entry) for entry in _data()["traps"])


@cache
def all_proofs() -> tuple[Proof, ...]:
    """Return everything that is known to prove a flag."""
    return tuple(Proof.model_validate(entry) for entry in _data()["proofs"])


@cache
def _removed() -> tuple[_Removed, ...]:
    return tuple(_Removed.model_validate(entry) for entry in _data()["removed"])


def traps_for(
    flags: Iterable[str], version: str, conditions: Mapping[str, bool] | None = None
) -> tuple[Trap, ...]:
    """Return the traps of these fields in a release, those out of the question left out.

    `conditions` says of the words of Need whether they hold; a word that is not in it is not known, and
    the traps that need it are returned: Trap.open() tells.
    """
    known = conditions or {}
    wanted = {field(flag) for flag in flags}
    return tuple(
        trap
        for trap in all_traps()
        if wanted.intersection(trap.flags)
        and trap.holds_in(version)
        and all(known.get(need, True) for need in trap.needs)
    )


def proof_of(flag: str, version: str) -> tuple[Proof, ...]:
    """Return what proves in a release that a flag took effect, the surest first; none where none is known."""
    name = field(flag)
    return tuple(p for p in all_proofs() if name in p.flags and p.holds_in(version))


def removed_by(flag: str, version: str) -> str | None:
    """Return what takes the place of a flag that a release no longer has; None where it is not told."""
    name = field(flag)
    gone = (one for one in _removed() if name in one.flags and version)
    return next((one.instead for one in gone if _order(version) > _order(one.last)), None)


def field(flag: str) -> str:
    """Return the field that a flag's own name tells."""
    return flag.lstrip("-").replace("-", "_")


def _release(version: str) -> str:
    found = re.match(r"v?(\d+\.\d+\.\d+)", version)
    return found[1] if found else version


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in _release(version).split(".") if part.isdigit())
