"""The command: two things that a person names, set side by side, in a terminal or as one JSON object."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

from bot import narrator, settings
from bot.comparing.both import Looked, look_at_both
from bot.comparing.report import report
from bot.given import Given, given
from bot.narrator import Line
from bot.narrator.compared import compared
from bot.question import Question
from bot.terminal import Terminal
from tools.comparison import Side, compare
from tools.errors import HostError, ToolsError
from tools.probes import PROBES


def run(names: tuple[str, str], text: str, port: int | None, *, as_json: bool) -> None:
    """Compare two hosts, cases or sets of files; raise HostError where one of them cannot be asked."""
    known = settings.load()
    one, other = (given(name, known, PROBES) for name in names)
    pair = _told_apart(_at(one, port), _at(other, port), names)
    if port and not any(one.host for one in pair):
        raise ToolsError("--port goes with a host that is asked; these are files.")
    terminal = Terminal()
    if not as_json:
        about = narrator.understood(Question.of(text, known.hosts), " and ".join(_names(pair)))
        terminal.tell([about])
    terminal.wait(f"asking {' and '.join(one.name for one in pair if one.host)}, read-only")
    try:
        looked = look_at_both(pair, text, known)
    finally:
        terminal.rest()
    _tell(looked, text, terminal, as_json=as_json)
    if lost := [one for one in looked if one.trouble]:
        raise HostError(" ".join(_sentence(one.trouble) for one in lost))


def _tell(looked: tuple[Looked, Looked], text: str, terminal: Terminal, *, as_json: bool) -> None:
    sides = [
        Side(one.given.name, one.end.evidence, one.end.verdict) for one in looked if not one.trouble
    ]
    aspects = Question.of(text).interest.aspects
    told = compare(sides[0], sides[1], aspects) if len(sides) == 2 else None
    if as_json:
        said = report(looked, text, told)
        sys.stdout.write(json.dumps(said, ensure_ascii=False, indent=1) + "\n")
        return
    for one in looked:
        terminal.tell(_looks(one))
    if told is not None:
        terminal.tell(compared(told, linked=False))
        return
    for one in looked:
        if not one.trouble:
            there = next(other.given.name for other in looked if other is not one)
            why = f"{there} could not be asked, so there is no comparison. Of {one.given.name}:"
            terminal.tell([Line("lead", why)])
            terminal.tell(narrator.verdict(one.end.verdict))


def _looks(one: Looked) -> list[Line]:
    name, end = one.given.name, one.end
    if one.trouble:
        return [Line("trouble", name)]
    looks = [look for look in end.evidence if look.probe is not None]
    answered = sum(1 for look in looks if look.facts is not None)
    what = str(end.deployment) or "what is served there was not seen"
    took = f", {one.took_s:.0f} s" if one.took_s else ""
    said = f"{what} ({answered} of {len(looks)} looks told something{took})"
    return [Line("look", name), Line("said", said)]


def _at(one: Given, port: int | None) -> Given:
    return replace(one, port=one.port or port) if one.host else one


def _names(pair: tuple[Given, Given]) -> tuple[str, str]:
    return pair[0].name, pair[1].name


def _told_apart(one: Given, other: Given, names: tuple[str, str]) -> tuple[Given, Given]:
    """Give two cases of one host names of their own; one host twice is no comparison."""
    if one.name.lower() != other.name.lower():
        return one, other
    if one.host and other.host and one.port == other.port:
        raise ToolsError(
            f"{one.name} is named twice: compare it with another host, or with a case of it that capture kept."
        )
    called = [
        f"{given.name} ({'now' if given.host else Path(name).name})"
        for given, name in zip((one, other), names, strict=True)
    ]
    if called[0] == called[1]:
        called = [f"{given.name} ({name})" for given, name in zip((one, other), names, strict=True)]
    if called[0] == called[1]:
        raise ToolsError(f"{names[0]} is named twice: compare it with another.")
    return replace(one, name=called[0]), replace(other, name=called[1])


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."
