"""A host under our own load: the bounds are said first, then it is measured, told and kept."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from bot import settings, telling
from bot.charts import load_picture
from bot.drawing import draw, ready
from bot.investigate import investigate
from bot.narrator import Line
from bot.narrator.under_load import of_burst, of_run, of_runs
from bot.planner import Playbook
from bot.question import Question
from bot.reach import parted, reach
from bot.terminal import Terminal
from tools.case import Case
from tools.engine import Benchmark, Burst
from tools.errors import HostError, ToolsError
from tools.evidence import Evidence
from tools.host import Command, Host
from tools.measure.load import Load, put
from tools.measure.serving import Serving, runs
from tools.probes import PROBES
from tools.rules import RULES

T = TypeVar("T", Load, Serving)


def burst(
    name: str,
    port: int | None,
    asked: tuple[int, str, int],
    save: Path | None,
    charts: Path | None = None,
    *,
    judged: bool,
    as_json: bool,
) -> None:
    """Put a burst (seconds, streams, others) on a host and tell it; charts are of its links and clocks.

    Raises HostError where it is refused or brings nothing.
    """
    ready(charts)
    seconds, streams, others = asked
    host, port = _reached(name, port)
    counts = tuple(int(part) for part in streams.split(",") if part.strip().isdecimal())
    if len(counts) != len(streams.split(",")):
        raise ToolsError(f"--streams {streams} is no list of counts: give 1,4 for example.")
    load = _checked(Load, port=port, seconds=seconds, streams=counts, others=others)
    terminal = Terminal()
    if not as_json:
        terminal.tell([Line("lead", f"A burst on {host.name}."), Line("text", load.stated())])
    terminal.wait(f"measuring {host.name}, at most {load.seconds} s; Ctrl-C ends it at once")
    try:
        looks = put(load, host)
    finally:
        terminal.rest()
    _keep(save, host.name, looks, load.command())
    facts = looks[0].facts
    if not isinstance(facts, Burst):
        raise HostError(f"{host.name}: {looks[0].trouble.removeprefix('Failed: ')}.")
    if judged:
        _judge(host, port, looks, facts, terminal, as_json=as_json)
    elif as_json:
        _print({"schema": 1, "host": host.name, "stated": load.stated(), "burst": _plain(facts)})
    else:
        terminal.tell(of_burst(facts))
    if charts:
        drawn = load_picture(looks)
        why = f"No chart of links and clocks: {facts.unwatched or 'too few samples came'}."
        draw(charts, [drawn] if drawn else [], why, aloud=not as_json)


def serving(
    name: str,
    port: int | None,
    number: int,
    sizes: Mapping[str, int],
    save: Path | None,
    *,
    as_json: bool,
) -> None:
    """Run the engine's benchmark so many times; raise HostError where the first run is refused."""
    host, port = _reached(name, port)
    load = _checked(Serving, port=port, **sizes)
    terminal = Terminal()
    if not as_json:
        terminal.tell([Line("lead", f"bench_serving on {host.name}."), Line("text", load.stated())])
    looks: list[Evidence] = []
    began = time.monotonic()
    every = runs(load, host, number)
    while len(looks) < number:
        terminal.wait(f"run {len(looks) + 1} of {number} on {host.name}; Ctrl-C ends it at once")
        try:
            looks.append(next(every))
        finally:
            terminal.rest()
        if not isinstance(looks[-1].facts, Benchmark):
            break
        if not as_json:
            took, began = time.monotonic() - began, time.monotonic()
            terminal.tell(of_run(len(looks), number, looks[-1].facts, took))
    _keep(save, host.name, looks, load.command())
    good = [look for look in looks if isinstance(look.facts, Benchmark)]
    if as_json:
        told = [_plain(look.facts) for look in good if isinstance(look.facts, Benchmark)]
        _print({"schema": 1, "host": host.name, "stated": load.stated(), "runs": told})
    else:
        terminal.tell(of_runs(good))
    if len(good) < len(looks):
        raise HostError(f"{host.name}: {looks[-1].trouble.removeprefix('Failed: ')}.")


def _judge(
    host: Host,
    port: int | None,
    looks: Sequence[Evidence],
    facts: Burst,
    terminal: Terminal,
    *,
    as_json: bool,
) -> None:
    known = settings.load()
    if not as_json:
        terminal.tell(of_burst(facts))
    question = Question.of(f"bench {host.name}", [host.name])
    scope = known.host(host.name).scope() | ({"port": port} if port else {})
    events = investigate(question, Playbook(PROBES, RULES, scope), host, known=looks)
    telling.follow(question, host.name, events, as_json=as_json)


def _reached(name: str, port: int | None) -> tuple[Host, int | None]:
    name, named = parted(name)
    if port and named and port != named:
        raise ToolsError(f"{name}:{named} and --port {port} are two ports; give one.")
    known = settings.load()
    host = known.host(name)
    if host.case:
        raise ToolsError(f"{name} is a case that was kept: nothing runs there any more.")
    return reach(name, known), port or named or host.port


def _checked(kind: type[T], **told: object) -> T:
    try:
        return kind.model_validate(told)
    except ValidationError as why:
        first = why.errors()[0]
        place = ".".join(map(str, first["loc"])).replace("_", "-")
        raise ToolsError(f"--{place}: {first['msg'].removeprefix('Value error, ')}.") from None


def _keep(path: Path | None, host: str, looks: Sequence[Evidence], command: Command) -> None:
    """Keep what came back, with the command that was really run; a refusal is kept as well."""
    if path is None:
        return
    case = Case.of(host, f"bench {host}", "measured", looks)
    for one in case.asked:
        one.command = command.shown()
    try:
        path.write_text(case.dump(), encoding="utf-8", errors="replace")
    except OSError as why:
        raise ToolsError(f"{path} cannot be written: {why.strerror}.") from None


def _plain(facts: Burst | Benchmark) -> dict[str, object]:
    return facts.model_dump(mode="json", exclude_defaults=True)


def _print(told: Mapping[str, object]) -> None:
    sys.stdout.write(json.dumps(told, ensure_ascii=False, indent=1) + "\n")
