"""A dry run of the resolution beside the reading of it: what was written settles what could not be read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tools.engine.argument_trace import ArgumentTrace, TracedWrite
from tools.provenance.answer import FlagAnswer, SiteAnswer, sentence
from tools.provenance.explanation import Explanation
from tools.secrets import DROPPED

_HERE, _NOT_HERE = "the dry run wrote it here", "the dry run did not write it here"
_DECLARING = ("declare_resolution", "override")  # they carry out what their caller decided
_CALL_LINES = 40  # that a call with keywords may go over
_Wrote = tuple[TracedWrite, list[SiteAnswer]]  # a write, and the sites that it is
LATER = "later, in "  # how a site after the resolution is told of: a dry run never comes to it


def settled(explanation: Explanation, flag: str, trace: ArgumentTrace) -> FlagAnswer:
    """Return the answer for a flag with its sites settled; as it was read where the dry run tells nothing.

    A dry run that stopped early still shows what fired, but not what did not; so does one that had no
    answer to a question and went on, unless it ends with what the server says it has. One that ends with
    another value was led astray by what it could not see: it settles nothing, and that is said.
    """
    read = explanation.one(flag)
    name = read.flag
    said, ended = explanation.given.resolved or {}, trace.resolved.get(name)
    if trace.stopped is None and name in said and _differ(said[name], ended):
        note = f" A dry run ended with {ended}, which the server does not have: it settles nothing."
        return replace(read, sentence=read.sentence + note)
    confirmed = trace.stopped is None and name in said
    sound = len(trace.writes) if confirmed or trace.sound is None else trace.sound
    rows = [row for row in trace.writes[:sound] if row.name == name]
    whole = confirmed or (trace.stopped is None and trace.sound is None)
    return _settled(explanation, read, rows, trace, whole=whole) if rows or whole else read


def _settled(
    explanation: Explanation,
    read: FlagAnswer,
    rows: list[TracedWrite],
    trace: ArgumentTrace,
    *,
    whole: bool,
) -> FlagAnswer:
    asked, ended = trace.asked.get(read.flag), trace.resolved.get(read.flag)
    # A default of the declaration, which nobody wrote: the dry run says nothing of where it stands.
    fell_back = _differ(asked, ended) and not any(map(_changes, rows))
    wrote = [(row, _written(row, read.sites)) for row in rows]
    sites = [_site(site, wrote, whole=whole and not fell_back) for site in read.sites]
    sites += dict.fromkeys(_seen(row) for row, places in wrote if _changes(row) and not places)
    order = {id(site): n for n, site in enumerate(sites)}
    sites.sort(key=lambda site: _last(read.sites, order[id(site)], site, wrote))
    overridden, resolved = read.overridden, read.resolved
    if overridden is None and whole and DROPPED not in (asked, ended):
        overridden = _differ(asked, ended)
        resolved = ended if resolved is None else resolved
    answer = replace(read, overridden=overridden, resolved=resolved, sites=sites)
    passed = read.flag in explanation.resolution.passed
    if (sites, overridden) != (read.sites, read.overridden):
        bare = [replace(one, condition=one.condition.removesuffix(f"; {_HERE}")) for one in sites]
        text = sentence(
            replace(answer, sites=bare),
            passed=passed,
            settled=True,
            lies={},
            doubt="how the launch ends",
        )
        answer.sentence = f"{text} Seen in a dry run."
    return answer


def _written(row: TracedWrite, sites: list[SiteAnswer]) -> list[SiteAnswer]:
    """Return the sites that a write is: by its line, else by its declared name and what is nearest below its line.

    A decision that is given as keywords stands on the lines of these, a little below the call. Of several
    lines of one function that gives a mapping back, those that were read as fired are meant.
    """
    exact = [one for one in sites if (one.file, one.line) in {place[:2] for place in row.places}]
    if exact or row.source is None:
        return exact
    named = [one for one in sites if one.source == row.source]
    below = [
        (one.line - line, one)
        for one in named
        for file, line, _ in row.places
        if one.file == file and 0 <= one.line - line <= _CALL_LINES
    ]
    if below:
        return [min(below, key=lambda pair: pair[0])[1]]
    return named if len(named) == 1 else [one for one in named if one.state == "fired"]


def _site(site: SiteAnswer, wrote: list[_Wrote], *, whole: bool) -> SiteAnswer:
    hits = [row for row, places in wrote if site in places]
    if any(map(_changes, hits)):
        if site.state == "fired":
            return site
        return replace(site, state="fired", condition=_said(site.condition, _HERE))
    later = site.condition.startswith(LATER)
    open_ended = any(row.source == site.source and not places for row, places in wrote)
    if not whole or later or site.state == "not_fired" or (site.source and open_ended):
        return site
    if site.state == "fired" and (hits or _leads(site, wrote)):
        return site
    return replace(site, state="not_fired", condition=_said(site.condition, _NOT_HERE))


def _leads(site: SiteAnswer, wrote: list[_Wrote]) -> bool:
    """Whether a site is the entry of a table whose loop, in the same file, wrote the field."""
    near = [row for row, _ in wrote if _changes(row) and site.file in {p[0] for p in row.places}]
    return bool(near) and 'rule "' in site.condition


def _last(
    read: list[SiteAnswer], number: int, site: SiteAnswer, wrote: list[_Wrote]
) -> tuple[int, int]:
    """Say when a site wrote last, so that the last of those that fired is the last writer."""
    if number >= len(read):
        mine = [n for n, (row, places) in enumerate(wrote) if not places and _seen(row) == site]
    else:
        mine = [n for n, (_, places) in enumerate(wrote) if read[number] in places]
    return max(mine, default=-1), number


def _said(condition: str, what: str) -> str:
    return f"{condition.partition('; not known')[0]}; {what}"


def _seen(row: TracedWrite) -> SiteAnswer:
    """Return the site of a write that reading did not find."""
    file, line, function = next(
        (place for place in row.places if place[2] not in _DECLARING), ("", 0, "")
    )
    return SiteAnswer(file, line, row.source, "fired", f"in {function}(); {_HERE}", None)


def _changes(row: TracedWrite) -> bool:
    return row.new == DROPPED or _differ(row.old, row.new)


def _differ(one: Any, other: Any) -> bool:
    """Whether two values surely differ; of one that stayed on the host nobody here knows."""
    return DROPPED not in (one, other) and bool(one != other)
