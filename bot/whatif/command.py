"""The command: a plan from a config.json, or today and a change of it from what was seen of a host."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bot.whatif.answer import Answer, answer, moved
from bot.whatif.options import config_of
from tools.errors import HostError, ToolsError, Undecided
from tools.physics.gains import gains
from tools.physics.seen import Seen
from tools.physics.wanted import Planned, Wanted, from_nothing, planned
from tools.physics.whatif import Today


def run(
    host: str | None, path: Path | None, wanted: Wanted, claim: float | None, *, as_json: bool
) -> None:
    """Say what a plan would give; raise ToolsError with what is missing or cannot be."""
    try:
        told = _of_host(host, path, wanted) if host else (_of_config(path, wanted, claim),)
    except Undecided as why:
        raise ToolsError(f"That cannot be worked out: {why.why.rstrip('.')}.") from None
    sys.stdout.write(_as_json(told) if as_json else _as_text(told))


def _of_config(path: Path | None, wanted: Wanted, claim: float | None) -> Answer:
    if path is None or wanted.gpu is None:
        raise ToolsError("Name a host, or give both --model-config FILE and --gpu NAME.")
    return answer(from_nothing(wanted, config_of(path)), claim_tok_s=claim)


def _of_host(host: str, path: Path | None, wanted: Wanted) -> tuple[Answer, ...]:
    seen = _seen(host)
    if path is not None:
        seen = replace(seen, config=config_of(path))
    today = Today.of(seen)
    now = moved(today, Planned(today.deployment))
    if today.prefill_measured and today.prefill_tok_s:
        now = replace(now, notes=("Measured: the decode step and the prompt rate.",))
    if not wanted.asks:
        return (replace(now, gains=gains(today, seen)),)
    return now, moved(today, planned(wanted, today.deployment, seen.config))


def _seen(name: str) -> Seen:
    """Ask a host, or read a case; nothing of this is loaded where a config alone is given."""
    from bot import settings
    from bot.given import given
    from bot.investigate import Judged, conclude, investigate
    from bot.planner import Playbook
    from bot.question import Question
    from bot.reach import reach
    from tools.known import Known
    from tools.probes import PROBES
    from tools.rules import RULES

    known = settings.load()
    one = given(name, known, PROBES)
    question = replace(Question.of("", [one.host] if one.host else []), port=one.port)
    if one.host is None:
        return Seen.of(Known(conclude(question, one.looks).evidence).of_serving().get)
    end: Judged | None = None
    playbook = Playbook(PROBES, RULES, known.host(one.host).scope())
    asked = reach(one.host, known)
    try:
        for event in investigate(question, playbook, asked):
            end = event if isinstance(event, Judged) else end
    finally:
        asked.close()
    if end is None or all(look.output is None or look.output.lost for look in end.evidence):
        raise HostError(end.evidence[0].trouble if end and end.evidence else f"{name} is silent.")
    return Seen.of(Known(end.evidence).of_serving().get)


def _as_json(told: Sequence[Answer]) -> str:
    whole = told[-1].as_json()
    if len(told) > 1:
        whole["today"] = told[0].as_json()
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"


def _as_text(told: Sequence[Answer]) -> str:
    titles = ("Today: ", "Changed: ") if len(told) > 1 else ("",)
    parts = [title + "\n".join(one.lines()) for title, one in zip(titles, told, strict=True)]
    return "\n\n".join(parts) + "\n"
