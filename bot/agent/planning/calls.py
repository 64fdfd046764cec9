"""What a model asked for, validated: probes and thoughts that may be done, and why the rest is not.

Nothing that a model writes goes further than this file unless it validated as the fields of a class
that it was offered.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ValidationError

from bot.agent.asking.reply import Call, Reply
from bot.agent.planning.thinking import THOUGHTS, Finish, Thought
from bot.agent.planning.toolbox import fields_of, offered
from tools.evidence import AnyProbe

CERTAIN = (
    "stop",
    "tool_calls",
)  # how an answer ends whose calls are whole; others may be half a call
_WRAPPED = re.compile(r"(?s)\A(?:```(?:json)?\s*(.*?)\s*```|<tool_call>\s*(.*?)\s*</tool_call>)\Z")
_NAME_KEYS = ("name", "tool", "tool_name", "function")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input")
_LONGEST = 4000  # characters of a call that was written as text
_SHOWN = 40
_PLAIN = re.compile(r"[^\w .-]")


@dataclass(frozen=True)
class Wanted:
    """One answer of a model, sorted. `calls` are all of its calls, each with an id of its own.

    `probes` and `thoughts` go with the id of their call, and so does each of the `refusals`, whose
    sentence is told to the model.
    """

    calls: tuple[Call, ...] = ()
    probes: tuple[tuple[str, AnyProbe], ...] = ()
    thoughts: tuple[tuple[str, Thought], ...] = ()
    refusals: tuple[tuple[str, str], ...] = ()
    left: tuple[str, ...] = ()  # tools that the bound on calls kept from being used

    @property
    def finished(self) -> bool:
        """Say whether the model wants nothing more."""
        return any(isinstance(thought, Finish) for _, thought in self.thoughts)


@dataclass
class Done:
    """What was asked already: probes by their key, with the look that answers; thoughts as they are."""

    looks: dict[str, str] = field(default_factory=dict)
    thoughts: set[Thought] = field(default_factory=set)
    calls: int = 0  # that a model made, refused ones too


def read(reply: Reply, done: Done, scope: Mapping[str, Any], most: int) -> Wanted:
    """Sort the calls of a reply; `most` is how many a model may make in all. Changes nothing."""
    calls = _named(reply.calls or _written(reply), done.calls)
    if reply.finish not in CERTAIN:
        why = "Your answer was cut off, so none of its calls was made. Make fewer calls."
        return Wanted(calls, refusals=tuple((call.id, why) for call in calls))
    wanted, seen = Wanted(calls), Done(dict(done.looks), set(done.thoughts))
    for number, call in enumerate(calls, start=done.calls + 1):
        if number > most and call.name != "finish":
            wanted = _refused(wanted, call, "No calls are left. Call finish.")
            wanted = replace(wanted, left=(*wanted.left, _shown(call.name)))
        else:
            wanted = _sorted(wanted, call, seen, scope)
    return wanted


def _sorted(wanted: Wanted, call: Call, seen: Done, scope: Mapping[str, Any]) -> Wanted:
    try:
        made = _made(call, scope)
    except ValueError as why:
        return _refused(wanted, call, str(why))
    if isinstance(made, Thought):
        if made in seen.thoughts:
            return _refused(wanted, call, "You made this very call already.")
        seen.thoughts.add(made)
        return replace(wanted, thoughts=(*wanted.thoughts, (call.id, made)))
    if made.key in seen.looks:
        look = seen.looks[made.key]
        return _refused(wanted, call, f"This was looked at already{f': {look}' if look else ''}.")
    seen.looks[made.key] = ""
    return replace(wanted, probes=(*wanted.probes, (call.id, made)))


def _made(call: Call, scope: Mapping[str, Any]) -> AnyProbe | Thought:
    """Return what a call asks for; raise ValueError with a sentence for the model."""
    if not isinstance(call.args, dict):
        raise ValueError("The arguments must be one JSON object.")
    try:
        if call.name in THOUGHTS:
            return THOUGHTS[call.name].model_validate(call.args)
        return _probe(call.name, call.args, scope)
    except ValidationError as why:
        raise ValueError(_wrong(why)) from None


def _probe(name: str, args: dict[str, Any], scope: Mapping[str, Any]) -> AnyProbe:
    probe = offered(name)
    if probe is None:
        raise ValueError(f"There is no tool called {_shown(name)}.")
    if ours := [one for one in args if one not in fields_of(name)]:
        allowed = ", ".join(fields_of(name)) or "none"
        told = ", ".join(map(_shown, ours[:3]))
        raise ValueError(f"{name} does not take {told} from you; it takes: {allowed}.")
    known = {
        one: value
        for one, value in scope.items()
        if one in probe.model_fields and one not in fields_of(name) and value is not None
    }
    return probe.model_validate({**args, **known})


def _wrong(why: ValidationError) -> str:
    told = [
        f"{_shown('.'.join(map(str, one['loc'])))}: {one['msg'].removeprefix('Value error, ')[:120]}"
        for one in why.errors(include_input=False, include_url=False)[:3]
    ]
    return f"Not a valid call: {'; '.join(told)}."


def _refused(wanted: Wanted, call: Call, why: str) -> Wanted:
    return replace(wanted, refusals=(*wanted.refusals, (call.id, why)))


def _named(calls: Sequence[Call], before: int) -> tuple[Call, ...]:
    """Give an id to each call that has none, or one that another has: answers go by it."""
    taken: set[str] = set()
    named: list[Call] = []
    for number, call in enumerate(calls, start=before + 1):
        own = call.id if isinstance(call.id, str) and call.id and call.id not in taken else ""
        name = own or f"call{number:05d}"
        while name in taken:
            name += "0"
        taken.add(name)
        named.append(replace(call, id=name))
    return tuple(named)


def _written(reply: Reply) -> tuple[Call, ...]:
    """Return the call that a weak model wrote as its whole answer: of a read-only probe alone."""
    text = reply.text.strip()
    if reply.bad or len(text) > _LONGEST:
        return ()
    if wrapped := _WRAPPED.match(text):
        text = wrapped[1] or wrapped[2] or ""
    try:
        said = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return ()
    if not isinstance(said, dict):
        return ()
    name = next((said.pop(key) for key in _NAME_KEYS if key in said), None)
    args: Any = next((said.pop(key) for key in _ARGUMENT_KEYS if key in said), {})
    known = isinstance(name, str) and offered(name) is not None
    return (Call(str(name), args, ""),) if known and not said and isinstance(args, dict) else ()


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("a name that comes twice means two things")
    return dict(pairs)


def _shown(name: object) -> str:
    """Return what a model wrote as a name, fit to be told back and shown."""
    return _PLAIN.sub("", str(name))[:_SHOWN] or "nothing"
