"""Which questions an answer still needs to put to the host: none that was put before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from bot.followup.flags import field_of, is_variable
from bot.followup.intent import Intent
from bot.followup.judged import meant
from bot.source.parted import source_in
from tools.engine import Launch, SourceLines
from tools.evidence import AnyProbe, Evidence
from tools.known import Known
from tools.probe import Probe, facts_of
from tools.probes import PROBES
from tools.probes.log_matches import LONGEST
from tools.rules import RULES

_OF_A_GPU = ("ReadGpus", "ReadPcieLinks", "ReadKernelLog", "SampleGpus")
_LEAST_NEEDLE = 3  # characters that the source is searched for


def wanted(
    intent: Intent, evidence: Sequence[Evidence], scope: Mapping[str, Any] | None = None
) -> list[AnyProbe]:
    """Return the probes that the answer needs and nobody asked yet; empty where the looks suffice.

    `scope` is what is known of the host: port, log_path, source_path. A look that failed is not
    repeated: whoever wants that asks to check again.
    """
    put = {look.probe.key for look in evidence if look.probe}
    chosen = [_made(name, arguments, scope or {}) for name, arguments in _chosen(intent, evidence)]
    return [probe for probe in chosen if probe is not None and probe.key not in put]


def _chosen(intent: Intent, evidence: Sequence[Evidence]) -> Iterator[tuple[str, dict[str, Any]]]:
    if intent.kind == "grep":
        yield "GrepServerLog", {"text": intent.text[:LONGEST]}
    elif intent.kind == "who_set":
        yield from _of_a_flag(intent, evidence)
    elif intent.kind == "gpu":
        yield from _never_asked(_OF_A_GPU, evidence)
    elif intent.kind == "log_lines":
        yield from _never_asked(("ReadServerLog",), evidence)
    elif intent.kind == "why_not":
        yield from _never_asked(_needed(intent), evidence)


def _of_a_flag(
    intent: Intent, evidence: Sequence[Evidence]
) -> Iterator[tuple[str, dict[str, Any]]]:
    known = Known(evidence)
    name = field_of(intent, known)
    if is_variable(name):
        yield from _never_asked(("ReadEnvironment",), evidence)
        return
    launch = known.get(Launch)
    typed = bool(launch and name in (launch.flags or {}))  # then nobody else has set it
    searched = {look.facts.needle for look in evidence if isinstance(look.facts, SourceLines)}
    followed = source_in(evidence) is not None
    if len(name) >= _LEAST_NEEDLE and name not in searched and not typed and not followed:
        yield "ReadSourceLines", {"text": name}
    yield from _never_asked(("ReadLaunch", "ReadServerInfo"), evidence)


def _needed(intent: Intent) -> list[str]:
    """Return the probes that give what the rules about a suspicion need."""
    kinds = {
        need.facts for rule in meant(RULES, intent) for need in rule.needs if not need.optional
    }
    return [name for name, probe in PROBES.items() if probe.routine and facts_of(probe) in kinds]


def _never_asked(
    names: Sequence[str], evidence: Sequence[Evidence]
) -> Iterator[tuple[str, dict[str, Any]]]:
    asked = {look.title for look in evidence if look.probe}
    given = {type(look.facts) for look in evidence if look.facts is not None}
    for name in names:
        watch = PROBES[name].takes_s > 1  # one look at rest does not stand for a watch under load
        if name not in asked and (watch or facts_of(PROBES[name]) not in given):
            yield name, {}


def _made(name: str, arguments: dict[str, Any], scope: Mapping[str, Any]) -> AnyProbe | None:
    probe: type[Probe[Any]] = PROBES[name]
    known = {
        field: value
        for field, value in scope.items()
        if field in probe.model_fields and value is not None
    }
    try:
        return probe(**{**known, **arguments})
    except ValidationError:
        return None  # a needle that may not be searched; the answer says so
