"""Regular expressions of the source, those aside that could be slow on purpose."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tools.provenance.language import plain
from tools.provenance.operators import ERRORS
from tools.provenance.understood import known
from tools.provenance.values import (
    Class,
    Instance,
    Native,
    Record,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from tools.provenance.machine import Machine


_QUANTIFIED_GROUP = re.compile(r"\)[*+{]|\\[1-9]")


def _matching(name: str) -> None:
    """Answer patterns that cannot be slow on purpose: no group in them is repeated."""

    def call(_machine: Machine, args: list[Value], _named: Record) -> Value:
        pattern, *rest = [plain(a) for a in args]
        pattern = getattr(pattern, "pattern", pattern)
        texts = [pattern, *rest]
        if not all(isinstance(t, (str, int)) for t in texts) or _QUANTIFIED_GROUP.search(pattern):
            return Unknown(("whether a pattern matches",))
        try:
            return getattr(re, name)(
                pattern, *(t[:1000] if isinstance(t, str) else t for t in rest)
            )
        except (re.error, *ERRORS):
            return Unknown(("whether a pattern matches",))

    known(f"re.{name}", lenient=False)(call)


for _name in ("match", "fullmatch", "search", "sub", "findall", "split"):
    _matching(_name)


@known("re.compile", lenient=False)
def _compiled(_machine: Machine, args: list[Value], _named: Record) -> Value:
    pattern = args[0]
    if not isinstance(pattern, str) or _QUANTIFIED_GROUP.search(pattern):
        return Unknown(("a pattern",))
    made = Instance(_REGEX)
    made.attrs["pattern"] = pattern
    return made


_REGEX = Class("Pattern", (), {}, "Pattern")
for _name in ("match", "fullmatch", "search", "findall"):
    _REGEX.attrs[_name] = Native(
        f"re.{_name}",
        lambda machine, args, named, name=_name: machine.outside.call(
            f"re.{name}", [args[0].attrs["pattern"], *args[1:]], named
        ),
    )
