"""The reader of a note: goes through its lines, and knows tables, headings and labelled results."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from tools.engine.note_lines import cells, is_rule, kept_whole, label_of, outcome, said_of
from tools.engine.together import PAIR
from tools.engine.trial import Arm, Figure, Trial
from tools.engine.typed_figures import BARE, bare, figures, unit_word
from tools.engine.typed_line import TypedLine

WIDEST = 240  # columns of a line, and of a heading
_ARM_NAME = re.compile(
    r"^\W{0,3}(?:[A-D]|arm [A-D1-4]|run ?[A-D1-4]|case [A-D1-4])\W{0,2}[:=)]\s*", re.IGNORECASE
)
_SPREAD = re.compile(
    r"(?:spread|noise|sd|std(?:dev)?|±|\+/?-)\W{0,4}(\d+(?:\.\d+)?)(?!\d*\s?%)", re.IGNORECASE
)
_SPREAD_HEAD = re.compile(r"^\W*(?:sd|std(?:dev)?|±|\+/?-|stdev|spread)\W*$", re.IGNORECASE)
_ONLY_NUMBERS = re.compile(r"[\d.,±+/ -]{1,200}")
_RESULT = re.compile(r"\b(?:results?|outcome|status|works)\b", re.IGNORECASE)
_COUNT = re.compile(r"\bn ?= ?(\d{1,3})|\b(\d{1,3}) runs", re.IGNORECASE)


class NoteReader:
    """Goes through the lines of a note; a heading begins a new trial."""

    def __init__(self, lines: Sequence[TypedLine]) -> None:
        self._lines = lines
        self._title = ""
        self._header: list[str] = []
        self._arms: list[Arm] = []
        self._done: list[Trial] = []
        self._spread: float | None = None
        self._remarks: list[str] = []

    def trials(self) -> list[Trial]:
        """Return the runs under each heading."""
        for one, after in pairwise([*self._lines, TypedLine("", "")]):
            known = len(self._arms)
            if one.label:
                self._arms += self._labelled(one)
            else:
                self._take(one.text, after.text)
            if one.text != one.line:
                self._arms[known:] = [
                    arm.model_copy(update={"line": one.line.strip()}) for arm in self._arms[known:]
                ]
        self._close()
        return self._done

    def _take(self, line: str, after: str) -> None:
        if not line.strip():
            self._header = []
        elif is_rule(line) or PAIR.search(line):
            return
        elif self._header and len(cells(line)) == len(self._header):
            self._arms += self._row(cells(line), line)
        elif self._is_header(line, after):
            self._header = cells(line.lstrip("# "))
        elif found := self._runs(line):
            self._arms += found
        elif told := said_of(line):
            self._arms.append(Arm(label=label_of(told[0]), works=told[1], line=line.strip()))
        else:
            self._heading(line)

    def _labelled(self, one: TypedLine) -> list[Arm]:
        """Read a result whose run was named elsewhere."""
        arm = self._arm(one.text, one.line)
        works = outcome(one.text) if arm is None else arm.works
        if arm is None and works is None:
            return []
        figures_told = arm.figures if arm else ()
        return [
            Arm(
                label=one.label, at=one.at, figures=figures_told, works=works, line=one.line.strip()
            )
        ]

    def _heading(self, line: str) -> None:
        if (spread := _SPREAD.search(line)) and self._arms:
            self._spread = float(spread[1])
            return
        self._remarks.append(line.strip())
        named = unit_word(line) or line.lstrip().startswith("#") or line.rstrip().endswith(":")
        if self._arms and named:
            self._close()
        if named or not self._title or not self._arms:
            self._title = (
                f"{self._title} {line.strip('#=* ')}".strip()[-WIDEST:]
                if not self._arms and self._title
                else line.strip("#=* ")
            )

    def _close(self) -> None:
        if self._arms:
            arms = [_with_spread(arm, self._spread) for arm in self._arms]
            remarks = tuple(one for one in self._remarks if one not in self._title)
            self._done.append(Trial(title=self._title, arms=tuple(arms), remarks=remarks))
            self._title, self._remarks = "", []
        self._arms, self._spread, self._header = [], None, []

    def _is_header(self, line: str, after: str) -> bool:
        head, below = cells(line.lstrip("# ")), cells(after)
        if figures(line):
            return False
        if is_rule(after) and after.strip():
            return len(head) > 1 and bool(unit_word(line) or _RESULT.search(line))
        if len(head) < 2 or len(head) != len(below) or any(BARE.match(cell) for cell in head[1:]):
            return False
        return any(BARE.match(cell) or figures(cell) for cell in below[1:])

    def _row(self, row: list[str], line: str) -> list[Arm]:
        """Read a row of a table: the columns are quantities of one run, or runs under one condition."""
        heads = self._header
        units = [bool(unit_word(head)) or _quantity_in(row[n]) for n, head in enumerate(heads)]
        if any(units[1:]) or any(_RESULT.search(head) for head in heads[1:]):
            told = [
                self._cell(n, row) for n in range(1, len(row)) if not _SPREAD_HEAD.match(heads[n])
            ]
            rest = " ".join(cell for n, cell in enumerate(row[1:], 1) if not BARE.match(cell))
            found = tuple(figure for figure in told if figure)
            label = self._named(row)
            return (
                [Arm(label=label, figures=found, works=outcome(rest), line=line.strip())]
                if found or outcome(rest) is not None
                else []
            )
        told_of = (
            (head, bare(cell, self._title)) for head, cell in zip(heads[1:], row[1:], strict=True)
        )
        at = f"{heads[0]} {row[0]}"
        return [
            Arm(label=head, at=at, figures=(figure,), line=line.strip())
            for head, figure in told_of
            if figure
        ]

    def _named(self, row: list[str]) -> str:
        """Name a row by its first cell, under its heading, and by the words in the others."""
        words = [cell for cell in row[1:] if cell and not BARE.match(cell) and not figures(cell)]
        return " ".join(filter(None, (self._header[0], row[0], *words)))[:200]

    def _cell(self, n: int, row: list[str]) -> Figure | None:
        head = self._header[n]
        figure = bare(row[n], head, self._title)
        if figure is None:
            return None
        runs = _COUNT.search(head)
        update: dict[str, float | int] = {"runs": int(runs[1] or runs[2])} if runs else {}
        if (
            n + 1 < len(row)
            and _SPREAD_HEAD.match(self._header[n + 1])
            and (sd := BARE.match(row[n + 1]))
        ):
            update["spread"] = float(sd["runs"].replace(",", ""))
        return figure.model_copy(update=update)

    def _runs(self, line: str) -> list[Arm]:
        """Read a line that tells one run, or several runs in its clauses."""
        text = _ARM_NAME.sub("", line)
        found = figures(text, self._title)
        if not found:
            return self._bare_row(text, line)
        if line.lstrip().startswith("#") and not self._arms and len(found) < 2:
            return []
        units = [(figure.unit, figure.of) for _, _, figure in found]
        if len(set(units)) < len(units):
            parts = [arm for clause in kept_whole(text) if (arm := self._arm(clause, line))]
            if len(parts) > 1:
                return parts
        arm = self._arm(text, line)
        return [arm] if arm else []

    def _arm(self, text: str, line: str) -> Arm | None:
        found = figures(text, self._title)
        if not found:
            return None
        label = label_of(text[: found[0][0]])
        rest = text[found[-1][1] :].strip(" ,;.()")
        shown = f"{label} ({rest})" if label and rest else label or rest
        first = said_of(label)
        return Arm(
            label=shown[:200],
            figures=tuple(one for _, _, one in found),
            works=outcome(rest) if first is None else first[1],
            line=line.strip(),
        )

    def _bare_row(self, text: str, line: str) -> list[Arm]:
        """Read "fa3   908.34" under a heading that tells the unit."""
        row, rest = text.strip(), ""
        if row.endswith(")") and " (" in row:
            row, _, rest = row.rpartition(" (")
            rest = f"({rest}"
        parts = cells(row)
        label, _, cell = (parts[0], "", " ".join(parts[1:])) if parts[1:] else row.rpartition(" ")
        if not label or unit_word(label) or not _ONLY_NUMBERS.fullmatch(cell):
            return []
        figure = bare(cell, self._title)
        shown = label_of(label) + (f" {rest}" if rest else "")
        return [Arm(label=shown, figures=(figure,), line=line.strip())] if figure else []


def _quantity_in(cell: str) -> bool:
    return bool(figures(cell))


def _with_spread(arm: Arm, spread: float | None) -> Arm:
    if spread is None:
        return arm
    told = tuple(
        one
        if one.spread is not None or one.unit == "%"
        else one.model_copy(update={"spread": spread})
        for one in arm.figures
    )
    return arm.model_copy(update={"figures": told})
