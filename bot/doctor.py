"""What is configured, what is missing, and what each host lets us see."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Mapping, Sequence

from bot import narrator, settings
from bot.narrator import Line
from bot.narrator.wording import lowered
from bot.planner import QUICK_S
from bot.reach import reach
from bot.settings import Service, Settings, SettingsError
from bot.terminal import Terminal
from tools.evidence import Evidence, ask
from tools.probes import PROBES


def examine(names: Sequence[str]) -> bool:
    """Tell what is there and try each host; return whether every host could be asked."""
    terminal, known = Terminal(), settings.load()
    terminal.tell(_configured(known))
    terminal.tell(_slack(os.environ))
    terminal.tell(_models(known, os.environ))
    reached = [_try(name, known, terminal) for name in (names or known.hosts)]
    return all(reached)


def _configured(known: Settings) -> list[Line]:
    ssh = shutil.which("ssh")
    return [
        Line("look", f"Python {platform.python_version()}"),
        Line(
            "look" if ssh else "trouble",
            f"ssh: {ssh or 'not installed; aliases and jump hosts cannot be resolved'}",
        ),
        Line("look", f"hosts: {', '.join(known.hosts) or 'none'}, from {known.read_from}")
        if known.read_from
        else Line(
            "trouble",
            "no hosts.toml: hosts are taken as ssh aliases; "
            "write ./hosts.toml or ~/.config/perfsleuth/hosts.toml to name them",
        ),
    ]


def _slack(environ: Mapping[str, str]) -> Sequence[Line]:
    if not any(name.startswith("SLACK_") and value for name, value in environ.items()):
        return [Line("said", "Slack: not set up; docs/slack.md says how")]
    try:
        service = Service.load(environ)
    except SettingsError as why:
        return [Line("trouble", f"Slack: {why}")]
    from bot.slack.api.check import check

    return check(service)


def _models(known: Settings, environ: Mapping[str, str]) -> Sequence[Line]:
    if not known.models:
        return [
            Line("said", "models: none, and none is needed; docs/models.md says how to set one up")
        ]
    from bot.agent.asking.check import check

    return check(known, environ)


def _try(name: str, known: Settings, terminal: Terminal) -> bool:
    quick = [probe() for probe in PROBES.values() if probe.routine and probe.takes_s <= QUICK_S]
    looks = ask(reach(name, known), quick)
    lost = [look for look in looks if look.output and look.output.lost]
    terminal.tell([Line("heading", name)])
    if len(lost) == len(looks):
        terminal.tell([Line("trouble", looks[0].trouble)])
        return False
    terminal.tell(_rights(looks))
    return True


def _rights(looks: Sequence[Evidence]) -> list[Line]:
    seen = [narrator.title(look.probe) for look in looks if look.facts is not None]
    told = [
        Line("look", f"reached; {len(seen)} of {len(looks)} looks answer"),
        Line("said", "; ".join(map(lowered, seen))),
    ]
    return told + [
        Line("trouble", f"{narrator.title(look.probe)}: {look.trouble}")
        for look in looks
        if look.trouble
    ]
