"""An investigation as the command tells it: the story, or one JSON object."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence

from bot import narrator
from bot.investigate import Asking, Event, Judged
from bot.narrator import Line
from bot.narrator.forms import KNOWN_FORMS
from bot.question import Question
from bot.report import report
from bot.terminal import Terminal
from tools.engine import Claim
from tools.evidence import Evidence


def follow(question: Question, host: str, events: Iterable[Event], *, as_json: bool) -> Judged:
    """Tell an investigation while it happens."""
    terminal, troubles, held = Terminal(), set[str](), list[Evidence]()
    answered = False
    if not as_json:
        terminal.tell([narrator.understood(question, host)])
    try:
        for event in events:
            terminal.rest()
            if isinstance(event, Asking):
                terminal.wait(f"asking {host}: {len(event.probes)} looks, read-only")
            elif isinstance(event, Judged):
                if as_json or answered:
                    _conclude(question, host, event, terminal, as_json=as_json)
                return event
            elif not as_json:
                held.append(event.look)
                answered = answered or bool(event.look.output and not event.look.output.lost)
                while answered and held:  # of a host that never answers its trouble alone is told
                    look = held.pop(0)
                    terminal.tell(narrator.look(look, troubles))
                    troubles.add(look.trouble)
    finally:
        terminal.rest()
    raise AssertionError("an investigation ends with a verdict")


def tell(
    question: Question, host: str | None, end: Judged, *, as_json: bool, made: str = ""
) -> Judged:
    """Tell an investigation whose looks are already there."""
    terminal = Terminal()
    if not as_json:
        where = host or _texts(end.evidence)
        terminal.tell(narrator.asked(question))
        terminal.tell([narrator.understood(question, where, made)])
        for look in end.evidence:
            if look.output is not None or isinstance(look.facts, Claim):
                terminal.tell(narrator.look(look, of_file=host is None))
        if not any(look.facts for look in end.evidence):
            terminal.tell([Line("said", KNOWN_FORMS)])
    _conclude(question, host, end, terminal, as_json=as_json)
    return end


def _texts(evidence: Sequence[Evidence]) -> str:
    count = len({look.source for look in evidence if not isinstance(look.facts, Claim)})
    return f"{count} file{'' if count == 1 else 's'}"


def _conclude(
    question: Question, host: str | None, end: Judged, terminal: Terminal, *, as_json: bool
) -> None:
    if as_json:
        said = report(host, question.text, end.verdict, end.evidence)
        sys.stdout.write(json.dumps(said, ensure_ascii=False, indent=1) + "\n")
        return
    terminal.tell(narrator.deployed(host, str(end.deployment)))
    terminal.tell(narrator.verdict(end.verdict, question.interest))
