"""A wish to try something, read from words: "set chunked prefill to 4096 and measure", "try it", "put it back"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from pydantic import ValidationError

from bot.proposal.wanted import Wanted
from tools.change import Change
from tools.change.change import Value
from tools.change.keep_rule import Goal
from tools.knowledge.fields import sglang_fields

_POLITE = (
    r"(?:(?:ok(?:ay)?|yes|please|pls|now|then|so|and|let'?s|(?:can|could|would|will) you"
    r"|go ahead(?: and)?)[\s,]+)*"
)
_TRY_IT = re.compile(
    rf"{_POLITE}(?:try|test|do|apply|propose)(?: (?:it|this|that|the (?:fix|change|remedy)))(?: out)?"
    r"(?: (?:please|now|then|and measure|on \S+))*[.!]?",
    re.IGNORECASE,
)
_PUT_BACK = re.compile(
    rf"{_POLITE}(?:(?:put|take|change|turn|switch) (?:it|this|that|the change) back|(?:undo|revert|roll back)"
    r"(?: (?:it|this|that|the change))?)(?: (?:please|now|on \S+))*[.!]?",
    re.IGNORECASE,
)
_WISH = re.compile(
    rf"^\W*{_POLITE}(?:try|test|set|use|run|start|restart|change|raise|lower|increase|decrease|unset|remove|drop|disable"
    r"|enable|turn|switch|measure)\b",
    re.IGNORECASE,
)
_CLEARLY = re.compile(
    rf"^{_POLITE}(?:try|test|measure)\b|\band (?:measure|test)(?: (?:it|again))?[.!]?$",
    re.IGNORECASE,
)
_FLAG = re.compile(
    r"(?P<out>\b(?:without|no|remove|drop|unset|minus|take out)\s+)?--(?P<name>[a-z][a-z0-9-]{1,60})"
    r"(?:(?:\s*=\s*|\s+(?:to\s+)?)(?P<value>(?!-)[\w.:/+-]*\w))?",
    re.IGNORECASE,
)
_VARIABLE = re.compile(
    r"(?P<out>\b(?:without|no|remove|drop|unset)\s+)?\b(?P<name>[A-Z][A-Z0-9]*_[A-Z0-9_]+)\b(?:=(?P<value>[\w.,:/+-]*))?"
)
_SPOKEN = re.compile(
    r"\b(?P<name>[a-z][a-z0-9_]*(?:[ -][a-z0-9_]+){0,4}?)\s+(?:to|=|of|at)\s+"
    r"(?P<value>-?\d+(?:\.\d+)?k?|true|false|on|off)\b",
    re.IGNORECASE,
)
_WITH = re.compile(  # "restart it with chunked prefill 4096"
    r"\b(?:with|and|,)\s+(?:an? |the )?(?P<name>[a-z][a-z0-9_]*(?:[ -][a-z0-9_]+){1,4}?)\s+"
    r"(?P<value>\d+(?:\.\d+)?k?)\b",
    re.IGNORECASE,
)
_AND_THEN = re.compile(r"^(?:and|measure|on|please|then|to|for|with|without|is|it)$", re.IGNORECASE)
# What people call a switch of the engine, which is named for what it takes away.
_SWITCHES: tuple[tuple[str, str], ...] = (
    (r"(?:cuda[ -]?)graphs?", "disable_cuda_graph"),
    (r"(?:radix|prefix)(?:[ -]cach(?:e|ing))?", "disable_radix_cache"),
    (r"custom[ -]all[ -]?reduce", "disable_custom_all_reduce"),
    (r"overlap(?:[ -]schedul(?:e|er|ing))?", "disable_overlap_schedule"),
)
_TURNED = (
    (re.compile(r"\b(?:enable|turn on|switch on|with) (?:the )?$", re.IGNORECASE), True),
    (re.compile(r"\b(?:disable|turn off|switch off|without|no) (?:the )?$", re.IGNORECASE), False),
)
_AFTER = re.compile(
    r"^ (?P<on>on|off)(?=\s*(?:$|[.,;!]|\b(?:and|please|now|for|to)\b| on\b))", re.IGNORECASE
)
_GOALS: tuple[tuple[str, Goal], ...] = (
    (r"\bttft\b|first token", "ttft"),
    (r"\bprefill\b(?! size)(?=.*\b(?:faster|better|speed))|long prompts", "prefill"),
    (r"\bthroughput\b", "throughput"),
    (r"\bdecod", "decode"),
)


def asks_to_try(text: str) -> bool:
    """Say whether the remedy of a verdict is to be tried."""
    return _TRY_IT.fullmatch(text.strip()) is not None


def asks_to_put_back(text: str) -> bool:
    """Say whether a change that was kept is to be taken back."""
    return _PUT_BACK.fullmatch(text.strip()) is not None


def clearly_asks(text: str) -> bool:
    """Say whether a wish is meant for who measures, and is not said by one person to another."""
    return _CLEARLY.search(text.strip()) is not None


def read(text: str) -> Wanted | None:
    """Return the change that a sentence wishes for; None where it wishes for none."""
    if not _WISH.search(text):
        return None
    sets: dict[str, Value] = {}
    out: dict[str, None] = {}
    _flags(text, sets, out)
    env, gone = _variables(text)
    _spoken(_FLAG.sub(" ", text), sets)
    _switched(_FLAG.sub(" ", text), sets, out)
    kept = {name: value for name, value in sets.items() if name not in out}
    try:
        change = Change(set=kept, unset=tuple(out), env=env, unset_env=tuple(gone))
    except ValidationError:
        return None
    return Wanted(change=change, goal=goal(text))


def goal(text: str) -> Goal | None:
    """Return what is to become better, where a sentence says so."""
    return next((name for form, name in _GOALS if re.search(form, text, re.IGNORECASE)), None)


def typed(text: str) -> Value:
    """Return a word as the value that it is."""
    low = text.lower()
    if low in ("true", "on", "false", "off"):
        return low in ("true", "on")
    if re.fullmatch(r"-?\d{1,15}k?", low):
        return int(low.removesuffix("k")) * (1024 if low.endswith("k") else 1)
    return float(text) if re.fullmatch(r"-?\d{1,15}\.\d{1,9}", text) else text


def _flags(text: str, sets: dict[str, Value], out: dict[str, None]) -> None:
    for found in _FLAG.finditer(text):
        name, value = found["name"].lower().replace("-", "_"), found["value"]
        if found["out"]:
            out[name] = None
        else:
            sets[name] = True if value is None or _AND_THEN.match(value) else typed(value)


def _variables(text: str) -> tuple[dict[str, str], dict[str, None]]:
    env: dict[str, str] = {}
    gone: dict[str, None] = {}
    for found in _VARIABLE.finditer(text):
        if found["out"]:
            gone[found["name"]] = None
        elif found["value"] is not None:
            env[found["name"]] = found["value"]
    return env, gone


def _spoken(text: str, sets: dict[str, Value]) -> None:
    """Read "chunked prefill to 4096": the longest end of the words that names one field."""
    for found in (*_SPOKEN.finditer(text), *_WITH.finditer(text)):
        words = re.split(r"[ _-]+", found["name"].lower())
        name = next((one for at in range(len(words)) if (one := _field("_".join(words[at:])))), "")
        if name:
            sets.setdefault(name, typed(found["value"]))


def _switched(text: str, sets: dict[str, Value], out: dict[str, None]) -> None:
    for words, name in _SWITCHES:
        for found in re.finditer(words, text, re.IGNORECASE):
            on = next(iter(_turns(text, found)), None)
            if on is True:
                out[name] = None
            elif on is False:
                sets[name] = True


def _turns(text: str, found: re.Match[str]) -> Iterator[bool]:
    if after := _AFTER.match(text[found.end() :]):
        yield after["on"].lower() == "on"
    yield from (on for form, on in _TURNED if form.search(text[: found.start()]))


@cache
def _field(spoken: str) -> str:
    """Return the field that spoken words name: itself, or the only or shortest one that begins with them."""
    fields = {name: one for name, one in sglang_fields().items() if one.kind in ("v", "s")}
    if spoken in fields:
        return spoken
    if len(spoken) < 6:
        return {"tp": "tp_size", "dp": "dp_size"}.get(spoken, "")
    begun = sorted((name for name in fields if name.startswith(f"{spoken}_")), key=len)
    return begun[0] if begun and (len(begun) == 1 or len(begun[0]) < len(begun[1])) else ""
