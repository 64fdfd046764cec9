"""The tables of contents as text and JSON: every probe with its command, every rule with its needs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from inspect import cleandoc
from typing import Any

from tools.errors import ToolsError
from tools.probe import Probe, facts_of
from tools.probes import PROBES
from tools.rule import Rule
from tools.rules import RULES


def probes_text(name: str | None, *, as_json: bool) -> str:
    """Return one probe or all, in the order of the table of contents."""
    chosen = {
        key: probe for key, probe in PROBES.items() if not name or name.lower() == key.lower()
    }
    if not chosen:
        raise ToolsError(f"There is no probe called {name}; `perfsleuth probes` lists them.")
    if as_json:
        return json.dumps(
            [_probe(key, probe) for key, probe in chosen.items()], indent=1, ensure_ascii=False
        )
    if name:
        return "\n\n".join(_probe_page(key, probe) for key, probe in chosen.items())
    return _table((key, _doc(probe).splitlines()[0]) for key, probe in chosen.items())


def rules_text(name: str | None, *, as_json: bool) -> str:
    """Return one rule (by its function or its cause) or all."""
    chosen = [
        rule for rule in RULES if not name or name.lower() in (rule.name.lower(), rule.cause.id)
    ]
    if not chosen:
        raise ToolsError(f"There is no rule called {name}; `perfsleuth rules` lists them.")
    if as_json:
        return json.dumps([_rule(rule) for rule in chosen], indent=1, ensure_ascii=False)
    if name:
        return "\n\n".join(_rule_page(rule) for rule in chosen)
    return _table((rule.cause.id, rule.hypothesis) for rule in chosen)


def _doc(probe: type[Probe[Any]]) -> str:
    return cleandoc(probe.__doc__ or "")


def _probe_page(name: str, probe: type[Probe[Any]]) -> str:
    runs, gives = probe().command().shown(), facts_of(probe).__name__
    return f"{name}\n\n{_doc(probe)}\n\nruns   {runs}\ngives  {gives}"


def _table(rows: Iterable[tuple[str, str]]) -> str:
    rows = list(rows)
    width = max(len(first) for first, _ in rows)
    return "\n".join(f"{first:{width}}  {second}" for first, second in rows)


def _probe(name: str, probe: type[Probe[Any]]) -> dict[str, Any]:
    return {
        "name": name,
        "description": _doc(probe),
        "command": probe().command().shown(),
        "gives": facts_of(probe).__name__,
        "arguments": probe.model_json_schema().get("properties", {}),
    }


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "rule": rule.name,
        "cause": rule.cause.id,
        "category": rule.cause.category,
        "hypothesis": rule.hypothesis,
        "needs": [need.facts.__name__ for need in rule.needs if not need.optional],
        "uses": [need.facts.__name__ for need in rule.needs if need.optional],
    }


def _rule_page(rule: Rule) -> str:
    cause, told = rule.cause, _rule(rule)
    return "\n".join(
        [
            f"{cause.id}  ({cause.category}, {cause.severity})",
            f"hypothesis  {rule.hypothesis}",
            f"needs       {', '.join(told['needs'])}",
            f"uses        {', '.join(told['uses']) or '-'}",
            f"decides     {cause.decisive_check}",
            *(f"remedy      {step}" for step in cause.remedy),
            f"risk        {cause.risk}",
            f"verify      {cause.verify}",
            *(f"source      {source}" for source in cause.sources),
        ]
    )
