"""An investigation as the command tells it: the story, or one JSON object."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from bot import narrator
from bot.investigate import Asking, Event, Judged, Learned, Noted
from bot.narrator import Explanation, Line, Part
from bot.narrator.forms import KNOWN_FORMS
from bot.question import Question
from bot.report import report
from bot.terminal import Terminal
from tools.engine import Claim
from tools.evidence import Evidence

Explain = Callable[[Judged], Explanation | None]


def unexplained(_: Judged) -> None:
    """No model is asked."""


def follow(
    question: Question,
    host: str,
    events: Iterable[Event],
    *,
    as_json: bool,
    explain: Explain = unexplained,
) -> Judged:
    """Tell an investigation while it happens."""
    terminal = Terminal()
    story = _Story(terminal, aloud=not as_json)
    if not as_json:
        terminal.tell([narrator.understood(question, host)])
    try:
        for event in events:
            terminal.rest()
            if isinstance(event, Asking):
                terminal.wait(f"asking {host}: {len(event.probes)} looks, read-only")
            elif isinstance(event, Judged):
                if as_json or story.answered:
                    notes = tuple(story.notes)
                    _conclude(
                        question, host, event, terminal, explain, as_json=as_json, notes=notes
                    )
                return event
            else:
                story.tell(event)
    finally:
        terminal.rest()
    raise AssertionError("an investigation ends with a verdict")


class _Story:
    """Looks and remarks as they come; of a host that never answers its trouble alone is told.

    `notes` are the remarks so far; without `aloud` nothing is told yet.
    """

    def __init__(self, terminal: Terminal, *, aloud: bool) -> None:
        self.answered = False
        self.notes: list[str] = []
        self._aloud = aloud
        self._terminal = terminal
        self._troubles: set[str] = set()
        self._held: list[Evidence] = []

    def tell(self, event: Learned | Noted) -> None:
        """Tell one event, once the host has answered anything."""
        if isinstance(event, Noted):
            self.notes.append(event.text)
            self._say([Line("trouble", event.text)])  # "said" would read as part of the look above
            return
        self._held.append(event.look)
        output = event.look.output
        self.answered = self.answered or bool(output and not output.lost)
        while self.answered and self._held:
            look = self._held.pop(0)
            self._say(narrator.look(look, self._troubles))
            self._troubles.add(look.trouble)

    def _say(self, parts: Iterable[Part]) -> None:
        if self._aloud:
            self._terminal.tell(parts)


def tell(
    question: Question,
    host: str | None,
    end: Judged,
    *,
    as_json: bool,
    made: str = "",
    explain: Explain = unexplained,
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
    _conclude(question, host, end, terminal, explain, as_json=as_json)
    return end


def _texts(evidence: Sequence[Evidence]) -> str:
    count = len({look.source for look in evidence if not isinstance(look.facts, Claim)})
    return f"{count} file{'' if count == 1 else 's'}"


def _conclude(
    question: Question,
    host: str | None,
    end: Judged,
    terminal: Terminal,
    explain: Explain,
    *,
    as_json: bool,
    notes: Sequence[str] = (),
) -> None:
    if explain is not unexplained:
        terminal.wait("asking the model to explain")
    explanation = explain(end)
    terminal.rest()
    if as_json:
        if explanation:  # what the planning remarked upon stands nowhere else
            explanation = replace(explanation, remarks=(*notes, *explanation.remarks))
        said = report(host, question.text, end.verdict, end.evidence, explanation, end.parted)
        sys.stdout.write(json.dumps(said, ensure_ascii=False, indent=1) + "\n")
        return
    terminal.tell(narrator.deployed(host, str(end.deployment)))
    terminal.tell(narrator.verdict(end.verdict, question.interest, explanation, end.parted))
