"""Whether a sentence follows from lines of ours: each piece stands in one, and so does what joins them."""

from __future__ import annotations

from collections.abc import Sequence

from bot.agent.checking.bearing import bears
from bot.agent.checking.excluded import Excluded
from bot.agent.checking.frames import framed, readings
from bot.agent.checking.ground import Ground, Part
from bot.agent.checking.joints import Piece, pieces
from bot.agent.checking.phrase import Phrase
from bot.agent.checking.stems import stem
from bot.agent.checking.turns import WHEN

# What explains what within one cause: (what is said, why it is so).
_WHY: frozenset[tuple[Part, Part]] = frozenset(
    {("cost", "state"), ("state", "state"), ("gone", "why"), ("open", "why")}
)
_MEND = frozenset(map(stem, ("fix", "solve", "problem", "issue", "fault")))
_GAIN = frozenset(map(stem, ("faster", "speed", "improve", "raise", "better")))
_MOST = 12  # pieces of a sentence


def proof(text: str, fit: Sequence[Ground], gone: Excluded) -> list[Ground]:
    """Return the lines of these that a sentence follows from, read as any of what it may be; none where it does not."""
    made = (_Proof(framed(one), fit, gone).lines() for one in readings(text))
    return next(filter(None, made), [])


class _Proof:
    def __init__(self, text: str, fit: Sequence[Ground], gone: Excluded) -> None:
        self._text, self._fit, self._gone = text, fit, gone
        self._cut: list[Piece] = pieces(text)
        self._known: dict[tuple[int, int], list[Ground] | None] = {}

    def lines(self) -> list[Ground]:
        """Return the lines that it follows from; none where it does not, or says nothing."""
        if not 0 < len(self._cut) <= _MOST:
            return []
        lines = self._stands(0, len(self._cut)) or []
        said = self._said(0, len(self._cut))
        return lines if said.whole else [one for one in lines if _alone(one, said)]

    def _said(self, start: int, stop: int) -> Phrase:
        begin = 0 if not start and stop > 1 else self._cut[start].start
        return Phrase(self._text[begin : self._cut[stop - 1].stop])

    def _stands(self, start: int, stop: int) -> list[Ground] | None:
        """Return the lines that bear some pieces together or apart; None where none do."""
        if (start, stop) not in self._known:
            self._known[start, stop] = self._borne(start, stop)
        return self._known[start, stop]

    def _borne(self, start: int, stop: int) -> list[Ground] | None:
        said = self._said(start, stop)
        if not said.words:
            return []
        if whole := [*(one for one in self._fit if bears(one, said)), *self._gone.bearing(said)]:
            return whole
        for cut in range(start + 1, stop):
            if (both := self._joined(start, cut, stop)) is not None:
                return both
        return None

    def _joined(self, start: int, cut: int, stop: int) -> list[Ground] | None:
        """Return the lines that bear two parts, and what joins them."""
        joint = self._cut[cut].joint
        ahead = self._cut[start].joint if not start and joint == "add" else "add"
        if "goal" in (joint, ahead):
            step, goal = ((start, cut), (cut, stop))[:: 1 if joint == "goal" else -1]
            lines = self._stands(*step)
            return lines if lines and self._mends(lines, self._said(*goal)) else None
        left, right = self._stands(start, cut), self._stands(cut, stop)
        if left is None or right is None:
            return None
        held = self._held(joint, ahead, (start, cut, stop), left, right)
        return [*left, *right] if held else None

    def _held(
        self,
        joint: str,
        ahead: str,
        at: tuple[int, int, int],
        left: list[Ground],
        right: list[Ground],
    ) -> bool:
        """Say whether what joins two parts is ours as well."""
        start, cut, stop = at
        if joint == "which":
            return any(one is two or (one.of and one.of == two.of) for one in left for two in right)
        if joint == "cause" or ahead == "so":
            return self._explains((start, cut), (cut, stop), left, right)
        if joint == "so" or ahead == "cause":
            return self._explains((cut, stop), (start, cut), right, left)
        if {joint, ahead} & WHEN:
            beside = "while" in (joint, ahead) and _tells(left) and _tells(right)
            if not beside:  # a time or a condition that no line of ours has
                return False
        return self._whole(start, cut, left) and self._whole(cut, stop, right)

    def _whole(self, start: int, stop: int, lines: list[Ground]) -> bool:
        return not lines or stop - start > 1 or self._said(start, stop).whole

    def _explains(
        self,
        effect: tuple[int, int],
        reason: tuple[int, int],
        effects: list[Ground],
        reasons: list[Ground],
    ) -> bool:
        """Say whether lines of one cause, or the two sides of one line, tell the reason of something."""
        if any(
            one.of and one.of == two.of and (one.part, two.part) in _WHY
            for one in effects
            for two in reasons
        ):
            return True
        said, why = self._said(*effect), self._said(*reason)
        return any(
            bears(what, said) and bears(because, why)
            for one in self._fit
            for what, because in one.sides
        )

    def _mends(self, steps: list[Ground], goal: Phrase) -> bool:
        """Say whether steps are told for what they mend, and nothing else."""
        words = frozenset(goal.words)
        if goal.turns - {"goal", "than"} or goal.denied or not words & (_MEND | _GAIN):
            return False
        part: Part = (
            "state" if words & _MEND else "cost"
        )  # it mends what is wrong, or wins back what that costs
        what = words - _MEND - _GAIN
        ours = {one.of for one in steps if one.part == "step"}
        return bool(what or part == "state") and any(
            one.of in ours and one.part == part and what <= one.stems for one in self._fit
        )


def _alone(line: Ground, said: Phrase) -> bool:
    """Say whether a line says one word and nothing else, or the verdict does."""
    one = frozenset(said.words)
    all_of_it = any(frozenset(unit.said.words) == one for unit in line.units)
    return len(line.words) == 1 or (line.kind == "cause" and all_of_it)


def _tells(lines: list[Ground]) -> bool:
    return bool(lines) and all(one.kind != "todo" for one in lines)
