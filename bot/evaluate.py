"""Judge all cases of a folder whose answers are known, and say how many were right and what it took."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import prompts
from bot import settings
from bot.evaluation import Bundle, Outside, Row, Speaker, Summary, alone, bundles, together
from bot.narrator import Line, Part, Table
from bot.settings import SettingsError
from bot.terminal import Terminal

SCHEMA = 1
PLAYBOOK, AGENT, OUTSIDE = "playbook", "agent", "the program named"


@dataclass(frozen=True)
class Evaluation:
    """The rows of each way of judging, in the order of the cases."""

    folder: str
    ways: Mapping[str, tuple[Row, ...]]
    words: Mapping[str, str]  # of each prompt, which version was in use

    def turned_wrong(self) -> list[str]:
        """Return the cases that were right without a model and are wrong with one."""
        pairs = zip(self.ways[PLAYBOOK], self.ways.get(AGENT, ()), strict=False)
        return [before.case for before, after in pairs if _worse(before, after)]

    def as_json(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "schema": SCHEMA,
            "folder": self.folder,
            "prompts": dict(self.words),
            "turned_wrong": self.turned_wrong(),
            "ways": {
                name: {
                    "summary": Summary.of(rows).as_json(),
                    "cases": [row.as_json() for row in rows],
                }
                for name, rows in self.ways.items()
            },
        }


def evaluate(
    folder: Path,
    speaker: Callable[[], Speaker] | None = None,
    *,
    followup: bool = False,
    outside: Outside | None = None,
    watch: Callable[[str], None] = lambda _: None,
) -> Evaluation:
    """Judge all cases of a folder; raise ToolsError where it holds none.

    `speaker` makes a model for one case; without it, rules alone judge. `followup` hands out the
    result of the next test as well, in the cases that have it. `outside` is a program of others
    that judges the same cases. `watch` is told what is under way.
    """
    cases = bundles(folder, followup=followup)
    ways = {PLAYBOOK: tuple(_each(cases, alone, watch))}
    if outside:
        ways[OUTSIDE] = tuple(_each(cases, outside.judge, watch))
    words: dict[str, str] = {}
    if speaker:
        ways[AGENT] = tuple(_each(cases, lambda case: together(case, speaker()), watch))
        words = {name: prompts.version(name) for name in prompts.names()}
    return Evaluation(folder.name, ways, words)


def _each(
    cases: list[Bundle], judge: Callable[[Bundle], Row], watch: Callable[[str], None]
) -> Iterator[Row]:
    for number, case in enumerate(cases, start=1):
        watch(f"case {number} of {len(cases)}: {case.name}")
        yield judge(case)


def _worse(before: Row, after: Row) -> bool:
    lost_cause = before.cause_right is True and after.cause_right is not True
    return (before.right and not after.right) or lost_cause or len(after.wrong) > len(before.wrong)


def tell(folder: Path, *, agent: bool, followup: bool, judge: str | None, as_json: bool) -> None:
    """Evaluate and print; raise ToolsError where an agent is asked for and none is configured."""
    terminal = Terminal()
    speaker = _configured() if agent else None
    outside = Outside.of(judge) if judge else None

    def watch(text: str) -> None:
        terminal.rest()
        terminal.wait(text)

    try:
        made = evaluate(folder, speaker, followup=followup, outside=outside, watch=watch)
    finally:
        terminal.rest()
    if as_json:
        sys.stdout.write(json.dumps(made.as_json(), ensure_ascii=False, indent=1) + "\n")
    else:
        terminal.tell(shown(made))


def _configured() -> Callable[[], Speaker]:
    known = settings.load()
    if not known.models:
        raise SettingsError(
            "No model is configured: add a table [[models]] to hosts.toml, or leave out --agent."
        )
    from bot.agent.agent import Agent
    from bot.evaluation.configured import speakers

    made = Agent.of(known)
    if made is None:
        raise AssertionError("settings with models make an agent")
    return speakers(made, known.models)


def shown(made: Evaluation) -> Iterator[Part]:
    """Tell an evaluation: the sums side by side, and each case that was not judged as expected."""
    sums = {name: Summary.of(rows) for name, rows in made.ways.items()}
    cases = next(iter(sums.values())).cases
    yield Line("lead", f"{cases} cases of {made.folder}.")
    yield Table(("", *map(_titled, sums)), tuple(_lines(list(sums.values()))))
    yield from (_by_category(name, rows) for name, rows in made.ways.items())
    for name, rows in made.ways.items():
        missed = [row for row in rows if _missed(row)]
        if missed:
            yield Line("heading", f"Not as expected, {name}")
        yield from (Line("item", f"{row.case}: {_missed(row)}") for row in missed)
    if AGENT in made.ways:
        yield from _of_the_agent(made)


def _titled(way: str) -> str:
    return {PLAYBOOK: "playbook alone", AGENT: "with agent"}.get(way, way)


def _by_category(way: str, rows: tuple[Row, ...]) -> Table:
    """Show for each expected category how many were right, and what was said instead."""
    told = []
    for category in dict.fromkeys(sorted(row.expected for row in rows)):
        those = [row for row in rows if row.expected == category]
        instead = Counter(row.category or "no verdict" for row in those if not row.right)
        said = ", ".join(f"{name} {count}" for name, count in instead.most_common())
        told.append((category, f"{sum(row.right for row in those)} of {len(those)}", said or "–"))
    return Table((f"expected, {_titled(way)}", "right", "said instead"), tuple(told))


def _of_the_agent(made: Evaluation) -> Iterator[Part]:
    turned = made.turned_wrong()
    yield Line("heading", "Right verdicts that the agent turned wrong")
    yield Line("item", ", ".join(turned) or "none")
    remarks = dict.fromkeys(one for row in made.ways[AGENT] for one in row.remarks)
    if remarks:
        yield Line("heading", "Remarks")
        yield from (Line("item", one) for one in remarks)
    versions = ", ".join(f"{name} {version}" for name, version in made.words.items())
    yield Line("text", f"Prompts: {versions or 'none'}.")


def _lines(sums: list[Summary]) -> Iterator[tuple[str, ...]]:
    yield ("category right", *(f"{100 * one.category:.1f} %" for one in sums))
    yield ("cause right", *(f"{100 * one.cause:.1f} % of {one.causes}" for one in sums))
    yield ("wrong conclusions", *(str(one.must_not) for one in sums))
    yield ("should have decided", *(str(one.undecided) for one in sums))
    yield ("rightly left open", *(f"{one.abstained} of {one.open_cases}" for one in sums))
    yield ("false alarms", *(f"{one.false_alarms} of {one.healthy} healthy" for one in sums))
    if any(one.silent for one in sums):
        yield ("no verdict", *(str(one.silent) for one in sums))
    yield ("seconds", *(f"{one.seconds:.1f}" for one in sums))
    if any(one.turns for one in sums):
        told = [dict(_taken(one)) if one.turns else {} for one in sums]
        names = next(each for each in told if each)
        yield from ((name, *(each.get(name, "–") for each in told)) for name in names)


def _taken(one: Summary) -> Iterator[tuple[str, str]]:
    """Say what a model took, and how much of what it said was not shown."""
    yield "model turns", f"{one.turns:,}"
    yield "looks it asked for", f"{one.tool_calls:,}"
    yield "tokens in", f"{one.tokens_in:,}"
    yield "tokens out", f"{one.tokens_out:,}"
    yield "money", "no price set" if one.usd is None else f"${one.usd:.2f}"
    yield "sentences shown", f"{one.kept:,}"
    yield "ungrounded sentences caught", f"{one.dropped:,}"
    yield "unproven ideas shown", f"{one.ideas:,}"


def _missed(row: Row) -> str:
    """Say what of a row is not as the expert says; empty where all is."""
    if row.trouble:
        return f"no verdict: {row.trouble}"
    got = f"{row.category} ({row.cause or 'no cause'})"
    if row.wrong:
        return f"{got}, which must not be concluded"
    if not row.right:
        return f"{got}, not {row.expected}"
    return f"{got}: another cause was expected" if row.cause_right is False else ""
