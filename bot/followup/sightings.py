"""Where the looks speak of a word that no rule judges: arguments, variables, metrics, the log, the source."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.followup.flags import every_value
from bot.followup.shown import ids
from bot.investigate import Judged
from bot.narrator import Line
from bot.narrator.wording import some
from tools.engine import Environment, Launch, Metrics, ServerInfo, ServerLog, SourceLines
from tools.known import Known

_PARTS = re.compile(r"[a-z0-9]{2,40}")
_LEAST = 3  # letters of a word that is worth a search
_COMMON = re.compile(r"the|and|not|any|why|with|what|our|your|its|for|gpu|was|set|has")
_LINES_SHOWN = 3
_VALUE = 60  # characters of a value


def sightings(words: str, end: Judged) -> Iterator[Line]:
    """Yield what the looks hold of some words, each with the looks that hold it."""
    sought = [
        word
        for word in _PARTS.findall(words.lower())
        if len(word) >= _LEAST and not _COMMON.fullmatch(word)
    ]
    if not sought:
        return
    known = Known(end.evidence)
    yield from _arguments(sought, known, end)
    yield from _variables(sought, known, end)
    yield from _metrics(sought, known, end)
    yield from _log(sought, known, end)
    yield from _source(sought, known, end)


def _holds(text: str, sought: list[str]) -> bool:
    """Say whether all words stand in a text as words, whatever joins them."""
    parts = set(_PARTS.findall(text.lower()))
    return all(word in parts or f"{word}s" in parts for word in sought)


def _arguments(sought: list[str], known: Known, end: Judged) -> Iterator[Line]:
    values = {
        name: value
        for name, value in every_value(known)
        if value is not None and _holds(name, sought)
    }
    if values:
        told = some([f"{name} = {str(value)[:_VALUE]}" for name, value in values.items()])
        cited = (*ids(end.evidence, Launch), *ids(end.evidence, ServerInfo))
        yield Line("item", f"Arguments: {told}.", cited or ids(end.evidence, ServerLog))


def _variables(sought: list[str], known: Known, end: Judged) -> Iterator[Line]:
    environment = known.get(Environment)
    values = environment.values if environment else {}
    found = [f"{name}={value[:_VALUE]}" for name, value in values.items() if _holds(name, sought)]
    if found:
        yield Line("item", f"Variables: {some(found)}.", ids(end.evidence, Environment))


def _metrics(sought: list[str], known: Known, end: Judged) -> Iterator[Line]:
    metrics = known.get(Metrics)
    gauges = metrics.gauges if metrics else {}
    found = [f"{name} {value:g}" for name, value in gauges.items() if _holds(name, sought)]
    if found:
        yield Line("item", f"Metrics: {some(found)}.", ids(end.evidence, Metrics))


def _log(sought: list[str], known: Known, end: Judged) -> Iterator[Line]:
    log = known.get(ServerLog)
    if log is None:
        return
    said = [one.text for one in log.notices] + list(log.unexplained)
    found = [text for text in said if _holds(text, sought)]
    for text in found[:_LINES_SHOWN]:
        yield Line("said", text, ids(end.evidence, ServerLog))


def _source(sought: list[str], known: Known, end: Judged) -> Iterator[Line]:
    source = known.get(SourceLines)
    found = [one for one in source.found if _holds(one.text, sought)] if source else []
    if found:
        places = some([f"{one.path}:{one.line}" for one in found])
        yield Line(
            "item", f"The installed source names it: {places}.", ids(end.evidence, SourceLines)
        )
