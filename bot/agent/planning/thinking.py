"""What a model may do besides looking: read a raw line again, work out a change, suppose, finish."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from bot.followup.flags import every_value
from bot.followup.intent import Intent
from bot.followup.source import flags_of_version, set_by_source
from bot.followup.what_if import what_if
from bot.followup.who_set import who_set
from bot.investigate import Judged
from bot.narrator import Line, Part
from bot.proposal.words import typed
from tools.change import Change
from tools.evidence import Evidence
from tools.known import Known

EXCERPT = 1000  # characters of raw text that one call brings
_AROUND = 2  # lines before and after a line that holds what is looked for
_NAMES = 8  # arguments that one call names
_NOTHING = "nothing"


class Thought(BaseModel):
    """One call of a thinking tool. The docstring and the fields are what a model is told of it."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Excerpt(Thought):
    """Read raw lines of a look that was taken, around a text or its two ends."""

    look: str = Field(pattern=r"^E\d{1,3}$", description="E5")
    around: str = Field("", max_length=120, description="text that the lines hold")


class WhatIf(Thought):
    """Work out what a change would give, by the step model."""

    change: str = Field(
        min_length=2,
        max_length=80,
        description="nvlink | link repaired | gen4 x16 | no p2p | tp 4 | accept length 3.75",
    )


class FindArgument(Thought):
    """Show an engine argument or variable as asked for, resolved and in effect."""

    text: str = Field(min_length=2, max_length=80, description="name or part of it")


class ExplainFlag(Thought):
    """Say which line of the engine's source set a flag, and why."""

    flag: str = Field(pattern=r"^(?:--)?[a-z][a-z0-9_-]{1,60}$", description="disable_cuda_graph")


class ListFlags(Thought):
    """List flags of the installed version that a text is in."""

    search: str = Field(min_length=2, max_length=60, description="graph")


class Suppose(Thought):
    """Note an unproven idea, with the test that would prove it."""

    hypothesis: str = Field(min_length=8, max_length=300)
    test: str = Field(min_length=8, max_length=300)
    looks: tuple[str, ...] = Field((), max_length=8, description="ids that suggest it")


class ProposeChange(Thought):
    """Propose one engine flag to try. A person decides; nothing is done."""

    flag: str = Field(pattern=r"^[a-z][a-z0-9_]{1,60}$", description="chunked_prefill_size")
    value: str = Field("", max_length=60, description="empty: take the flag out")

    @property
    def change(self) -> Change:
        """Return it as what may be proposed; whether the version has it is looked at then."""
        value = self.value.strip()
        return Change(set={self.flag: typed(value)}) if value else Change(unset=(self.flag,))


class Finish(Thought):
    """Nothing more is worth a look."""


# They are answered from the engine's source, and offered once the looks hold it.
OF_THE_SOURCE = frozenset({"explain_flag", "list_flags"})
THOUGHTS: dict[str, type[Thought]] = {
    "excerpt": Excerpt,
    "what_if": WhatIf,
    "find_argument": FindArgument,
    "explain_flag": ExplainFlag,
    "list_flags": ListFlags,
    "suppose": Suppose,
    "propose_change": ProposeChange,
    "finish": Finish,
}


def think(thought: Thought, end: Judged) -> str:
    """Return what a thought gives, as text from looks and our own arithmetic; it may be untrusted."""
    return _TELLERS[type(thought)](thought, end)


def computed(thought: Thought) -> bool:
    """Say whether what a thought gives was computed by us, and so may be stated."""
    return isinstance(thought, WhatIf | FindArgument | ExplainFlag | ListFlags)


def _excerpt(thought: Any, end: Judged) -> str:
    look = next((one for one in end.evidence if one.id == thought.look), None)
    if look is None:
        return f"There is no {thought.look}: the looks are {_ids(end.evidence)}."
    raw = look.output.stdout if look.output else ""
    lines = raw.splitlines()
    if not lines:
        return look.trouble or "It holds no text."
    if not thought.around:
        return _ends(raw)
    found = [at for at, line in enumerate(lines) if thought.around.lower() in line.lower()]
    if not found:
        return f"No line of {look.id} holds that text."
    return f"{len(found)} lines hold it.\n" + "\n".join(_near(lines, found, thought.around))


def _ends(raw: str) -> str:
    half = EXCERPT // 2
    return raw if len(raw) <= EXCERPT else f"{raw[:half]}\n[…]\n{raw[-half:]}"


def _near(lines: Sequence[str], found: Sequence[int], text: str) -> Iterable[str]:
    """Return the newest lines that hold it, with their neighbours; of a long line the part around."""
    left = EXCERPT
    wanted = {near for at in found[-20:] for near in range(at - _AROUND, at + _AROUND + 1)}
    shown: list[str] = []
    for at in sorted(wanted, reverse=True):
        if 0 <= at < len(lines):
            line = _part(lines[at], text)
            left -= len(line)
            if left < 0:
                break
            shown.append(line)
    return reversed(shown)


def _part(line: str, text: str) -> str:
    at = max(line.lower().find(text.lower()), 0)
    start = max(0, at - 120)
    return line[start : start + 320]


def _what_if(thought: Any, end: Judged) -> str:
    return _text(what_if(Intent("what_if", text=thought.change), end))


def _find(thought: Any, end: Judged) -> str:
    known = dict(every_value(Known(end.evidence)))
    part = thought.text.lower().lstrip("-").replace("-", "_")
    names = [name for name in known if part == name] or [name for name in known if part in name]
    if len(names) == 1 or not names:
        asked = names[0] if names else thought.text
        return _text(who_set(Intent("who_set", text=asked), end))
    told = [f"{name} = {known[name]}" for name in names[:_NAMES]]
    more = f"\nand {len(names) - _NAMES} more" if len(names) > _NAMES else ""
    return "\n".join(told) + more


def _explain(thought: Any, end: Judged) -> str:
    name = thought.flag.lstrip("-").replace("-", "_")
    return _text(set_by_source(name, end) or who_set(Intent("who_set", text=name), end))


def _list(thought: Any, end: Judged) -> str:
    return _text(flags_of_version(Intent("flags", text=thought.search), end))


def _noted(thought: Any, _: Judged) -> str:
    return f"Noted, as unproven. {'' if thought.looks else 'No look was named for it.'}".strip()


def _text(parts: Iterable[Part]) -> str:
    """Write the sentences as plain lines, with the ids that they cite; a table says the same at length."""
    lines = [part for part in parts if isinstance(part, Line)]
    return "\n".join(f"{one.text} {' '.join(one.cites)}".strip() for one in lines) or _NOTHING


def _ids(evidence: Sequence[Evidence]) -> str:
    return f"{evidence[0].id} to {evidence[-1].id}" if evidence else "none yet"


_TELLERS: dict[type[Thought], Callable[[Any, Judged], str]] = {
    Excerpt: _excerpt,
    WhatIf: _what_if,
    FindArgument: _find,
    ExplainFlag: _explain,
    ListFlags: _list,
    Suppose: _noted,
    ProposeChange: lambda _, __: (
        "It is put to a person after the verdict, if this version has the flag."
    ),
    Finish: lambda _, __: "",
}
