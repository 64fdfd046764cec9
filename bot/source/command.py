"""Flags of an installed engine: which there are, and which line of its source set one."""

from __future__ import annotations

import gc
import json
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bot.source.folder import SourceFolder
from tools.errors import Absent, ToolsError, Unreadable
from tools.hosts.files.bounded import read_bounded
from tools.provenance.answer import FlagAnswer
from tools.provenance.explanation import Explanation
from tools.provenance.flags import Flag, flags_of
from tools.provenance.given import Given
from tools.provenance.tree import Tree
from tools.sglang.endpoints import read_server_info


def explain_flag(
    flag: str | None,
    source: Path,
    argv: str,
    server_info: Path | None,
    model_config: Path | None,
    gpu: str | None,
    *,
    as_json: bool,
) -> None:
    """Say which line of the source in a folder set a flag (None: of every flag), and why."""
    facts: dict[str, Any] = {"argv": _words(argv)}
    if model_config is not None:
        facts["model_config"] = _json(model_config)
    if server_info is not None:
        facts["resolved"] = read_server_info(_text(server_info)).resolved
    with _uncollected():
        explanation = Explanation(Tree(SourceFolder(source)), Given.of(gpu=gpu, **facts))
        answers = explanation.all() if flag is None else [explanation.one(flag)]
    if flag is None:
        print(
            json.dumps({"flags": [answer.as_json() for answer in answers]})
            if as_json
            else _table(answers)
        )
    else:
        print(json.dumps(answers[0].as_json(), indent=1) if as_json else _story(answers[0]))


def list_flags(source: Path, search: str | None, *, as_json: bool) -> None:
    """Print the flags that the source in a folder declares; those with a text in them, if one is given."""
    with _uncollected():
        flags = flags_of(Tree(SourceFolder(source)))
    if search:
        word = search.lower().lstrip("-")
        flags = [
            flag for flag in flags if word in " ".join((*flag.names, flag.dest, flag.help)).lower()
        ]
    if as_json:
        print(json.dumps({"flags": [asdict(flag) for flag in flags]}, default=str))
        return
    for flag in flags:
        print(_line(flag))
    print(f"{len(flags)} flags")


def _line(flag: Flag) -> str:
    parts = [", ".join(flag.names)]
    if flag.default is not None:
        parts.append(f"default {flag.default}")
    if flag.choices:
        parts.append("one of " + ", ".join(map(str, flag.choices)))
    if flag.deprecated:
        parts.append("deprecated")
    return " · ".join(parts) + (f"\n    {flag.help}" if flag.help else "")


def _story(answer: FlagAnswer) -> str:
    lines = [answer.sentence]
    for site in answer.sites:
        mark = {"fired": "fired", "not_fired": "did not fire", "unknown": "cannot tell"}[site.state]
        name = f" ({site.source})" if site.source else ""
        lines.append(f"  {site.file}:{site.line}{name}: {mark}: {site.condition}")
    return "\n".join(lines)


def _table(answers: list[FlagAnswer]) -> str:
    changed = [answer.sentence for answer in answers if answer.overridden is not False]
    return "\n".join([*changed, f"{len(answers)} flags, {len(changed)} not as they were asked."])


def _words(argv: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(argv))
    except ValueError as why:
        raise ToolsError(f"--argv is no command line: {why}") from None


def _text(path: Path) -> str:
    return read_bounded(path).data.decode("utf-8", errors="replace")


def _json(path: Path) -> Mapping[str, Any]:
    try:
        data = json.loads(_text(path))
    except (ValueError, RecursionError):
        raise Unreadable(f"{path} is no JSON") from None
    if not isinstance(data, dict):
        raise Absent(f"{path} holds no model configuration: a JSON object is expected")
    return data


@contextmanager
def _uncollected() -> Iterator[None]:
    """Spare the search for garbage: syntax trees are many small objects that all stay in use."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
