"""What a planning model is told: everything in one message, and its own last turn; older turns in a line each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from bot.agent.asking.reply import Reply, Said
from bot.agent.planning.briefing import look_line
from bot.agent.planning.calls import Wanted
from bot.agent.planning.fence import Fence
from tools.engine import LogMatches, SourceLines
from tools.evidence import Evidence

ANSWER = 1200  # characters of what one call brings
NOTE = 160  # of what is still known of it a turn later
NOTES = 2400
_NO_CALLS = "Your last answer held no call that could be made."


@dataclass
class Turn:
    """One answer of the model: its calls, and what each brought, by the id of the call.

    `lines` are what is kept of it a turn later; `said` goes to the model beside the answers.
    """

    wanted: Wanted
    answers: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    said: tuple[str, ...] = ()

    @classmethod
    def of(cls, reply: Reply, wanted: Wanted) -> Turn:
        """Begin a turn: what is refused is answered already."""
        empty = not (wanted.calls or reply.bad)
        return cls(
            wanted, dict(wanted.refusals), said=(*reply.bad, *((_NO_CALLS,) if empty else ()))
        )

    def answer(self, call_id: str, text: str, line: str) -> None:
        """Note what a call brought, and the line that stays of it."""
        self.answers[call_id] = text
        if line:
            self.lines.append(line)


class Conversation:
    """The turns so far. Nothing of what the model wrote but its validated calls goes back to it."""

    def __init__(self, fence: Fence) -> None:
        self._fence = fence
        self._notes: list[str] = []
        self._last: Turn | None = None

    def add(self, turn: Turn) -> None:
        """Go on: the turn before becomes a line for each of its calls."""
        if self._last:
            self._notes += self._last.lines
        self._last = turn

    def forget(self) -> None:
        """Keep the lines of the last turn alone: the text was longer than the model takes."""
        if self._last:
            self._notes += self._last.lines
        self._last = None

    def messages(self, briefing: str, turns: int, calls: int) -> list[Said]:
        """Return what is said to the model; so many turns and calls it has left."""
        parts = [briefing]
        if self._notes:
            parts.append(self._fence.around("your earlier calls", "\n".join(self._notes), NOTES))
        last = self._last
        if last:
            parts += [f"Note: {one}" for one in last.said]
        parts.append(_left(turns, calls))
        said = [Said("user", "\n".join(parts))]
        if last and last.wanted.calls:
            said.append(Said("assistant", "", last.wanted.calls))
            said += [
                Said("tool", self._told(last, one.id), call_id=one.id) for one in last.wanted.calls
            ]
        return said

    def _told(self, turn: Turn, call_id: str) -> str:
        text = turn.answers.get(call_id, "It brought nothing.")
        if any(call_id == refused for refused, _ in turn.wanted.refusals):
            return text
        return self._fence.around("answer", text, ANSWER)


def _left(turns: int, calls: int) -> str:
    last = "This is your last answer." if turns == 1 else f"{turns} answers are left"
    return f"{last}{'' if turns == 1 else f', {calls} calls'}. What else is worth a look?"


def noted(name: str, asked: str, text: str) -> str:
    """Return the line that stays of a call."""
    first: Sequence[str] = text.split("\n", 1)
    return f"{name} {asked}: {first[0]}"[:NOTE]


def shown(look: Evidence) -> str:
    """Return what a look brought for whoever asked for it: its line, and the lines that were found."""
    facts = look.facts
    found: Sequence[str] = ()
    if isinstance(facts, LogMatches):
        found = facts.lines[::-1]
    elif isinstance(facts, SourceLines):
        found = [f"{one.path}:{one.line} {one.text.strip()}" for one in facts.found]
    if not found:
        return look_line(look)
    left, kept = ANSWER - 200, list[str]()
    for line in found:
        left -= min(len(line), 300)
        if left < 0:
            break
        kept.append(line[:300])
    return "\n".join([look_line(look), *kept])
