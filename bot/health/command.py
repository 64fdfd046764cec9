"""`perfsleuth health`: a sweep by hand, told in the terminal or as one JSON object."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from datetime import datetime

from bot import settings
from bot.health import told
from bot.health.summary import Summary, summarise
from bot.health.sweep import sweep
from bot.reach import NoHost, reach
from bot.settings import Settings
from bot.terminal import Terminal
from tools.errors import Unreachable

SCHEMA = 1


def health(named: Sequence[str], *, as_json: bool) -> None:
    """Look at hosts, groups or (none named) all; raise NoHost or, where no host answers, Unreachable."""
    known = settings.load()
    hosts = chosen(named, known)
    began, terminal = time.monotonic(), Terminal()
    if not as_json:
        terminal.wait(f"Looking at {len(hosts):,} host{'' if len(hosts) == 1 else 's'}")
    looks = list(sweep(hosts, known, reach))
    terminal.rest()
    summary = summarise(f"{datetime.now().astimezone():%Y-%m-%d}", looks, {})
    took_s = time.monotonic() - began
    if as_json:
        print(json.dumps(as_object(summary, took_s)))
    else:
        terminal.tell([*told.message(summary), *told.details(summary, summary.items)])
    if all(one.state == "unreachable" for one in looks):
        whom = (
            f"None of the {len(looks):,} hosts could"
            if len(looks) > 1
            else f"{looks[0].host} could not"
        )
        raise Unreachable(f"{whom} be asked: {looks[0].why}")


def chosen(named: Sequence[str], known: Settings) -> list[str]:
    """Return the hosts that are meant: names, groups of hosts.toml, or all; each once, as listed."""
    if not known.hosts and not named:
        raise NoHost("No host is listed: name one, or list hosts in hosts.toml.")
    if not named:
        return list(known.hosts)
    groups = {group.lower() for one in known.hosts.values() for group in one.groups}
    wanted = {name.lower() for name in named}
    hosts = [
        name
        for name, one in known.hosts.items()
        if name.lower() in wanted or wanted & {group.lower() for group in one.groups}
    ]
    listed = {name.lower() for name in known.hosts}
    hosts += [name for name in named if name.lower() not in listed | groups]
    return list(dict.fromkeys(hosts))


def as_object(summary: Summary, took_s: float) -> dict[str, object]:
    """Return a summary as plain data, the contract of schema 1."""
    return {
        "schema": SCHEMA,
        "date": summary.date,
        "took_s": round(took_s, 2),
        "headline": told.headline(summary),
        "hosts": summary.hosts,
        "fine": summary.fine,
        "acknowledged": summary.quiet,
        "attention": [
            {
                "host": item.host,
                "course": item.course,
                "cost_pct": round(item.cost_pct, 1),
                "why": item.text,
                "state": item.looked.state,
                "causes": [one.model_dump(mode="json") for one in item.looked.found],
            }
            for item in summary.items
        ],
        "better": list(summary.better),
        "trends": [
            {"figure": one.figure, "now": one.now, "normal": one.normal, "hosts": one.hosts}
            for one in summary.trends
        ],
    }
