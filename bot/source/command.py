"""Flags of an installed engine: which there are, and which line of its source set one."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bot.source.ground import Ground, of_folder, of_host
from bot.source.uncollected import uncollected
from tools.provenance.answer import FlagAnswer
from tools.provenance.flags import Flag, flags_of
from tools.provenance.traced import settled


def explain_flag(
    flag: str | None,
    ground: Ground,
    *,
    as_json: bool,
    deep: tuple[str, int | None] | None = None,
) -> None:
    """Say which line of an engine's source set a flag (None: of every flag), and why.

    `deep` names the host and the port whose server's arguments are resolved once more, in a dry run.
    """
    with uncollected():
        explanation = ground.explained()
        answers = explanation.all() if flag is None else [explanation.one(flag)]
    unseen = [*ground.unseen, *explanation.unseen]
    more: dict[str, Any] = {"unseen": unseen} if unseen else {}
    if deep is not None and flag is not None:
        from bot.source.deep import remarks, traced

        trace = traced(*deep, ground)
        answers = [settled(explanation, flag, trace)]
        more["dry_run"] = remarks(trace)
    if as_json:
        told = [answer.as_json() for answer in answers]
        whole = {"flags": told} | more if flag is None else told[0] | more
        print(json.dumps(whole, indent=None if flag is None else 1))
        return
    print(_table(answers) if flag is None else _story(answers[0]))
    for line in more.get("dry_run", ()):
        print(line)
    if unseen:
        print("Not seen: " + "; ".join(unseen) + ".")


def list_flags(ground: Ground, search: str | None, *, as_json: bool) -> None:
    """Print the flags that an engine's source declares; those with a text in them, if one is given."""
    with uncollected():
        flags = flags_of(ground.tree)
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


def ground_of(
    name: str | None, port: int | None, folder: Path | None, flag: str = "", **files: Any
) -> Ground:
    """Return the ground of a host by its name, or of a folder with the files that tell of a launch.

    `launch=False` among `files` asks for the source alone. Raises HostError where a host does not answer.
    """
    if folder is not None:
        return of_folder(folder, **{k: v for k, v in files.items() if k != "launch"})
    from bot import settings
    from bot.reach import parted, reach

    known = settings.load()
    name, own = parted(name or "")
    scope = known.host(name).scope()
    scope |= {"port": port or own or scope["port"]}
    with uncollected():
        return of_host(reach(name, known), flag, launch=files.get("launch", True), scope=scope)


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
