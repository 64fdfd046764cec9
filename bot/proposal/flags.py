"""How the installed version spells its flags: by its own source, or else by what is known of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Protocol

from tools.change.change import Value
from tools.engine.launch import EngineName
from tools.knowledge.fields import Field, sglang_fields, vllm_fields
from tools.knowledge.traps import removed_by
from tools.provenance.flags import Flag
from tools.provenance.proposed import proposed

_TAKES: dict[str, int | None] = {"nothing": 0, "a value": 1, "values": None}
_KINDS: dict[str, int | None] = {"s": 0, "v": 1, "l": None, "x": 1}
# One meaning under several names over the versions (tools/knowledge/fields.txt has the ranges).
_RENAMED: tuple[tuple[str, ...], ...] = (
    ("cuda_graph_max_bs", "cuda_graph_max_bs_decode"),
    ("disable_cuda_graph", "disable_decode_cuda_graph"),
    ("mamba_scheduler_strategy", "mamba_radix_cache_strategy"),
    ("tp_size", "tensor_parallel_size", "tp"),
    ("dp_size", "data_parallel_size", "dp"),
)


@dataclass(frozen=True)
class Spelled:
    """One flag. `takes` counts its values, None: all up to the next flag; `names` begin with dashes."""

    dest: str
    names: tuple[str, ...]
    takes: int | None
    choices: tuple[str, ...] = ()
    type: str | None = None  # int, float or str
    instead: str = ""  # what to use in place of a deprecated one
    deprecated: bool = False

    @property
    def name(self) -> str:
        """Return the name that is written."""
        return self.names[0]

    @property
    def negation(self) -> str | None:
        """Return the name that switches it off, where it has one."""
        return next((one for one in self.names[1:] if one.startswith("--no-")), None)


class Flags(Protocol):
    """The flags of one version. `known_by` completes "checked against ..."; `exact`: its own source."""

    known_by: str
    exact: bool
    all: tuple[Spelled, ...]

    def refused(self, kept: Mapping[str, Value], out: Sequence[str]) -> str:
        """Return what the installed source itself would refuse of a change; empty: nothing."""

    def instead(self, name: str) -> str:
        """Return what takes the place of a flag that this version no longer has; empty: not known."""

    def find(self, name: str) -> Spelled | None:
        """Return the flag that a field, a flag or one of its other names means."""

    def alike(self, name: str) -> tuple[str, ...]:
        """Return fields that somebody may have meant."""


class Spellings:
    """The flags of a version, in a list. `find` knows names of other versions too."""

    def __init__(
        self,
        flags: Sequence[Spelled],
        known_by: str,
        *,
        exact: bool,
        version: str = "",
        source: Sequence[Flag] = (),
    ) -> None:
        self.known_by, self.exact = known_by, exact
        self._version, self._source = version, source
        self.all = tuple(flags)
        self._by_name = {name: one for one in flags for name in one.names}
        self._by_dest = {one.dest: one for one in reversed(flags)}

    def refused(self, kept: Mapping[str, Value], out: Sequence[str]) -> str:
        """Return what the installed source itself would refuse of a change; empty: nothing."""
        if not self._source:
            return ""
        several = {one.dest for one in self.all if one.takes is None}
        sets = {
            name: str(value).replace(",", " ").split() if name in several else value
            for name, value in kept.items()
        }
        found = proposed(self._source, sets, out, self._version)
        return next((one.text for one in found.troubles if one.refuses), "")

    def instead(self, name: str) -> str:
        """Return what takes the place of a flag that this version no longer has; empty: not known."""
        return removed_by(name, self._version) or ""

    def find(self, name: str) -> Spelled | None:
        """Return the flag that a field, a flag or one of its other names means."""
        for one in (name, *_other_names(name)):
            word = one.lstrip("-")
            found = self._by_dest.get(word.replace("-", "_")) or self._by_name.get(
                f"--{word.replace('_', '-')}"
            )
            if found is not None:
                return found
        return None

    def alike(self, name: str) -> tuple[str, ...]:
        """Return fields that somebody may have meant."""
        word = name.lstrip("-").replace("-", "_")
        return tuple(get_close_matches(word, list(self._by_dest), n=3, cutoff=0.7))


def of_source(flags: Sequence[Flag], version: str | None) -> Flags:
    """Return the flags that the installed source declares."""
    spelled = [
        Spelled(
            one.dest,
            tuple(name for name in one.names if name.startswith("-")),
            _TAKES[one.takes],
            tuple(map(str, one.choices)),
            one.type,
            one.instead,
            deprecated=one.deprecated,
        )
        for one in flags
        if any(name.startswith("--") for name in one.names)
    ]
    what = f"the installed source{f' of {version}' if version else ''}"
    return Spellings(spelled, what, exact=True, version=version or "", source=flags)


def of_version(engine: EngineName | None, version: str | None) -> Flags:
    """Return the flags that are known of a version, where its source cannot be read."""
    fields = vllm_fields() if engine == "vllm" else sglang_fields()
    lives = [one for one in fields.values() if one.kind != "d" and _lives(one, version)]
    spelled = [Spelled(one.name, _names(one), _KINDS[one.kind]) for one in lives]
    what = f"{'vLLM' if engine == 'vllm' else 'SGLang'}{f' {version}' if version else ''}"
    return Spellings(
        spelled, f"what is known of {what}, not its source", exact=False, version=version or ""
    )


def _lives(field: Field, version: str | None) -> bool:
    if not version or not field.first:
        return True
    at = _parts(version)
    return _parts(field.first) <= at and (_parts(field.last) >= at or field.last == _newest())


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def _newest() -> str:
    return max((one.last for one in sglang_fields().values()), key=_parts)


def _names(field: Field) -> tuple[str, ...]:
    return tuple(f"--{one.replace('_', '-')}" for one in (field.name, *field.aliases))


def _other_names(name: str) -> tuple[str, ...]:
    word = name.lstrip("-").replace("-", "_")
    return next((tuple(n for n in group if n != word) for group in _RENAMED if word in group), ())
