"""What the installed source makes of a changed launch: followed before anything is restarted."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from bot.proposal.edits import Checked
from bot.proposal.wanted import NotPossible
from bot.source.known import Known
from tools.change import Change
from tools.errors import Absent
from tools.knowledge.fields import public_names
from tools.provenance.answer import flag_of, plain
from tools.provenance.explanation import Explanation
from tools.provenance.given import Given
from tools.provenance.tree import Tree
from tools.provenance.values import Unknown

SHOWN = 5  # fields that change along; the rest is counted
_WHY_CHARS = 300
_LIST = 6  # values that are shown one by one
Ends = dict[str, Any]


def foreseen(tree: Tree, known: Known, change: Checked) -> tuple[str, ...]:
    """Return what is to be known of a change: what the engine makes of it, and what changes along.

    The resolver of the installed source is followed for the launch as it is and as it would be. Nothing
    is said where it cannot be followed for what runs, or where what runs contradicts it. Raises
    NotPossible where the engine would not start so, or would come to the very same arguments.
    """
    now = _followed(tree, replace(known, given=replace(known.given, resolved=None)))
    if isinstance(now, str) or now.resolution.refused:
        return ()
    put, out = _fields(now, change.change.set), _fields(now, change.change.unset)
    was = _ends(now)
    del now
    gc.collect()  # a followed launch holds 60 MB in circles, and a second one comes
    if _contradicted(was, known.given, (*put, *out)):
        return ()
    then = _followed(tree, _changed(known, change))
    refused = then if isinstance(then, str) else then.resolution.refused
    if isinstance(then, str) or refused:
        why = str(refused).rstrip(".")
        raise NotPossible(f"This version would not start with it: {_cut(why)}.")
    will, asked = _ends(then), (*put, *out)
    along = dict(_differences(was, will, [one for one in then.names() if one not in asked]))
    variables = change.change.env or change.change.unset_env
    same = asked and all(one in was and one in will and was[one] == will[one] for one in asked)
    if same and not along and not variables:
        raise NotPossible(f"It would change nothing: {_why(then, asked[0])}")
    return (*_undone(then, put, out), *_told(along, then, _named(change.change)))


def _ends(followed: Explanation) -> Ends:
    """Return what fields end as, those that are surely known."""
    found = followed.resolution.resolved
    return {name: plain(one) for name, one in found.items() if not isinstance(one, Unknown)}


def _fields(now: Explanation, names: Iterable[str]) -> tuple[str, ...]:
    return tuple(field for name in names if (field := now.field(name)))


def _followed(tree: Tree, known: Known) -> Explanation | str:
    """Follow one launch; a sentence where its command line is refused before anything is made of it."""
    try:
        return Explanation(tree, known.on(tree))
    except Absent as why:
        return str(why).partition(": ")[2] or str(why)


def _changed(known: Known, change: Checked) -> Known:
    wish, given = change.change, known.given
    environment = {
        name: value
        for name, value in {**given.environment, **wish.env}.items()
        if name not in wish.unset_env
    }
    gone = {name.replace("_", "-") for name in wish.unset}
    config = known.config and {k: v for k, v in known.config.items() if k not in gone}
    new = replace(given, argv=change.new, environment=environment, resolved=None)
    return replace(known, given=new, config=config)


def _contradicted(was: Ends, given: Given, asked: Iterable[str]) -> bool:
    """Whether the server runs with another value than reading says it does: then reading is no guide."""
    said = given.resolved or {}
    return any(one in was and one in said and was[one] != plain(said[one]) for one in asked)


def _why(then: Explanation, name: str) -> str:
    """Say why a field ends as it is: a line of the source, or that the engine chooses that anyway."""
    answer = then.brief(name)
    if answer.overridden:
        return _first(answer.sentence)
    return f"{flag_of(name)} is {_value(answer.resolved)} as it is."


def _undone(then: Explanation, put: Iterable[str], out: Iterable[str]) -> Iterator[str]:
    """Yield each flag that the engine does not leave as it is asked, and what takes one's place."""
    yield from (_first(one.sentence) for one in map(then.brief, put) if one.overridden)
    for name in out:
        answer = then.brief(name)
        if answer.resolved is not None:
            yield f"Without it, {flag_of(name)} is {_value(answer.resolved)}."


def _named(change: Change) -> str:
    """Name a change as what does something; a card of a plan shows what several do."""
    parts = [flag_of(name) for name in change.set]
    parts += [f"taking out {flag_of(name)}" for name in change.unset]
    parts += [*change.env, *(f"taking out {name}" for name in change.unset_env)]
    named = " and ".join(parts) if len(parts) < 3 else "all of it together"
    return named[:1].upper() + named[1:]


def _told(along: Mapping[str, tuple[Any, Any]], then: Explanation, what: str) -> Iterator[str]:
    for name, (old, new) in list(along.items())[:SHOWN]:
        fired = [one for one in then.brief(name.split(".", 1)[0]).sites if one.state == "fired"]
        where = f" ({fired[-1].file}:{fired[-1].line})" if fired else ""
        pair = f", from {_value(old)} to {_value(new)}" if _public(name) else ""
        yield f"{what} changes {name} as well{pair}{where}."
    if len(along) > SHOWN:
        yield f"{what} changes {len(along) - SHOWN} more of the engine's arguments as well."


def _differences(
    was: Ends, will: Ends, names: Iterable[str]
) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Yield what surely becomes another: a field, or a part of one that has parts."""
    for name in names:
        if name in was and name in will:
            before = dict(_parts(name, was[name]))
            for part, value in _parts(name, will[name]):
                if part in before and before[part] != value:
                    yield part, (before[part], value)


def _parts(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield a field, or the parts that have a value; one without may be a part that is not known."""
    if not isinstance(value, dict):
        yield name, value
        return
    for key, each in value.items():
        if each is not None:
            yield from _parts(f"{name}.{key}", each)


def _public(name: str) -> bool:
    return name.split(".", 1)[0] in public_names()


def _value(value: Any) -> str:
    """Write a value that may be shown; of many only the ends, where they have an order."""
    if value is None:
        return "not set"
    if isinstance(value, list) and len(value) > _LIST:
        ends = f" ({value[0]} to {value[-1]})" if _numbers(value) else ""
        return f"{len(value)} values{ends}"
    return _cut(str(value))


def _numbers(values: list[Any]) -> bool:
    return all(isinstance(one, (int, float)) for one in values)


def _first(sentence: str) -> str:
    """Return a sentence without what is said of the log."""
    return sentence.partition("; the log ")[0].rstrip(".") + "."


def _cut(text: str) -> str:
    return text if len(text) <= _WHY_CHARS else text[: _WHY_CHARS - 3] + "..."
