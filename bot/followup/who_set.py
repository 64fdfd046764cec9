"""Who set a flag: what was asked, what the engine made of it, what runs, and the lines that name it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from bot.followup.flags import every_value, field_of, is_field, is_variable
from bot.followup.intent import Intent
from bot.followup.shown import ids, ordered, short
from bot.followup.sightings import sightings
from bot.followup.source import NOT_GIVEN, set_by_source
from bot.investigate import Judged
from bot.narrator import Line
from bot.narrator.wording import spaced
from tools.engine import (
    Arguments,
    Environment,
    Launch,
    ServerInfo,
    ServerLog,
    SourceLine,
    SourceLines,
)
from tools.evidence import Evidence
from tools.known import Known
from tools.sglang.overrides import override_of

_LINES_SHOWN = 6
_CONDITIONS_SHOWN = 3


def who_set(intent: Intent, end: Judged) -> Iterator[Line]:
    """Tell the three values of a flag, and who it was: the command line, the engine, nobody."""
    known = Known(end.evidence)
    name = field_of(intent, known)
    if not name:
        yield Line(
            "text",
            f"I know no argument called {short(intent.text)}. Name it as the engine does: disable_radix_cache.",
        )
    elif is_variable(name):
        yield from _variable(name, end, known)
    elif not is_field(name) and name not in dict(every_value(known)):
        yield Line("text", f"No version that I know has an argument called {name}.")
        yield from sightings(name, end)
        yield from _source(name, end)
    else:
        yield from _argument(name, end, known)


def _argument(name: str, end: Judged, known: Known) -> Iterator[Line]:
    launch, info, log = known.get(Launch), known.get(ServerInfo), known.get(ServerLog)
    values = Arguments(launch, info, log)
    cited = ordered(
        look for kind in (Launch, ServerInfo, ServerLog) for look in ids(end.evidence, kind)
    )
    asked = _typed(values, name)
    parts = [
        f"asked for: {asked}",
        f"resolved by the engine: {_shown(values.resolved(name), seen=values.dumped)}",
        f"in effect: {_effective(name, info)}",
    ]
    yield Line("text", f"{name} · {' · '.join(parts)}.", cited)
    yield Line("text", _who(name, values, launch, _default(name, end)))
    yield from _findings(name, end)
    if by_source := set_by_source(name, end):
        yield from by_source
        return
    yield from _known_terms(name, values)
    if not values.was_asked(name):
        yield from _source(name, end)


def _typed(values: Arguments, name: str) -> str:
    if not values.seen:
        return "not known, the command line was not seen"
    return ", ".join(values.flags(name)) or "no"


def _shown(value: object, *, seen: bool) -> str:
    if value is None:
        return "nothing" if seen else "not seen"
    return str(value)[:80]


def _effective(name: str, info: ServerInfo | None) -> str:
    if info is None or not info.effective:
        return "not seen"
    told = [rank.get(name) for rank in info.effective]
    same = all(one == told[0] for one in told)
    return _shown(told[0], seen=True) if same else ", ".join(_shown(one, seen=True) for one in told)


def _who(name: str, values: Arguments, launch: Launch | None, default: str | None) -> str:
    if values.was_asked(name):
        where = "the --config file" if launch and name in launch.from_config else "the command line"
        changed = values.resolved(name)
        if changed is not None and str(changed) != str(values.asked(name)):
            return f"Who started the server asked for it, in {where}, and the engine made {str(changed)[:80]} of it."
        return f"Who started the server asked for it, in {where}."
    if not values.seen:
        return "Who asked for it cannot be told without the command line."
    if values.value(name) is None:
        return "Nobody asked for it, and it is not set."
    return _of_itself(str(values.value(name)), default)


def _of_itself(value: str, default: str | None) -> str:
    if default is None:
        return "Nobody asked for it: it is the engine's default, or the engine decided so itself."
    if default == value:
        return "Nobody asked for it: it is the default."
    return f"Nobody asked for it, and the default is {default}: the engine decided otherwise by itself."


def _findings(name: str, end: Judged) -> Iterator[Line]:
    """Tell what the rules made of it."""
    flag = name.replace("_", "-")
    for one in (*end.verdict.findings, *end.verdict.asides):
        said = " ".join((one.finding.statement, *one.finding.quotes))
        if name in said or f"--{flag}" in said:
            yield Line("item", f"{spaced(one.finding.statement.rstrip('.'))}.", one.evidence)


def _known_terms(name: str, values: Arguments) -> Iterator[Line]:
    """Tell on what terms the engine of this version sets it, where its source was read for that."""
    if values.engine != "sglang" or values.version is None or values.was_asked(name):
        return
    version = ".".join(map(str, values.version))
    terms = [(one.where(version), one.condition) for one in override_of(name, version)]
    if 0 < len(terms) <= _CONDITIONS_SHOWN:
        told = "; ".join(f"{where} ({condition})" for where, condition in terms)
        yield Line("item", f"SGLang {version} sets it itself at {told}.")


def _source(name: str, end: Judged) -> Iterator[Line]:
    """Tell the lines of the installed source that set it, else those that name it."""
    look = _searched(name, end)
    if look is None:
        yield Line("said", NOT_GIVEN)
        return
    if not isinstance(look.facts, SourceLines):
        why = f"The installed source could not be searched: {look.trouble.rstrip('.')}."
        yield Line("said", why, (look.id,))
        return
    found = look.facts.found
    setting = re.compile(rf"\b{re.escape(name)}\s*=(?!=)")
    sets = sorted((one for one in found if setting.search(one.text)), key=_told_by(end))
    shown = sets or list(found)
    if not shown:
        yield Line("text", "The installed source does not name it.", (look.id,))
        return
    what = f"sets it in {len(sets)}" if sets else f"names it in {len(found)}"
    more = f", {_LINES_SHOWN} of them" if len(shown) > _LINES_SHOWN else ""
    places = "places" if len(shown) > 1 else "place"
    yield Line("text", f"The installed source {what} {places}{more}:", (look.id,))
    for one in shown[:_LINES_SHOWN]:
        yield Line("said", f"{one.path}:{one.line}  {one.text.strip()}")


def _told_by(end: Judged) -> Callable[[SourceLine], bool]:
    """Order lines that a finding names before the others."""
    said = " ".join(one.finding.statement for one in (*end.verdict.findings, *end.verdict.asides))
    return lambda one: f"{one.path}:{one.line}" not in said


def _default(name: str, end: Judged) -> str | None:
    """Return the default of a field by the installed source: "name: bool = False"."""
    look = _searched(name, end)
    found = look.facts.found if look and isinstance(look.facts, SourceLines) else ()
    form = re.compile(rf"\s*{re.escape(name)}\s*:[^=]{{1,80}}=\s*(\S.{{0,60}})")
    return next((told[1].strip() for one in found if (told := form.match(one.text))), None)


def _searched(name: str, end: Judged) -> Evidence | None:
    """Return the look that searched the source for it, one that found something before others."""
    looks = [
        one
        for one in end.evidence
        if isinstance(one.facts, SourceLines) and one.facts.needle == name
    ]
    tried = [
        one
        for one in end.evidence
        if one.title == "ReadSourceLines" and getattr(one.probe, "text", "") == name
    ]
    return next(iter((*looks, *tried)), None)


def _variable(name: str, end: Judged, known: Known) -> Iterator[Line]:
    environment = known.get(Environment)
    cited = ids(end.evidence, Environment)
    if environment is None:
        yield Line(
            "text", f"The server's environment was not seen, so I cannot say who set {name}."
        )
    elif name in environment.values:
        yield Line(
            "text",
            f"{name}={environment.values[name]} is in the server's environment: whoever starts it sets it,"
            " in the unit, the container or the shell.",
            cited,
        )
    else:
        yield Line("text", f"{name} is not set in the server's environment.", cited)
    yield from _findings(name, end)
