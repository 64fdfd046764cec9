"""The names by which one host is known: whoever serves a model under any of them is that host."""

from __future__ import annotations

from pathlib import Path

from bot.settings import Settings
from tools.errors import ToolsError

_LOCAL = ("localhost", "127.0.0.1")


def names_of(host: str, settings: Settings) -> tuple[str, ...]:
    """Return the name that people use, what ssh takes for it, and what OpenSSH makes of that.

    OpenSSH is asked only where a model has an address of its own, because nothing else needs it.
    """
    if not host or not any(one.base_url for one in settings.models):
        return ()
    known = settings.host(host)
    if known.case:
        return (host,)  # its answers come from a file: the host itself is not asked
    if known.local or host in ("local", *_LOCAL):
        return (host, *_LOCAL)
    alias = known.ssh or host
    return tuple(dict.fromkeys((host, alias, *_resolved(alias, known.ssh_config))))


def _resolved(alias: str, config: Path | None) -> tuple[str, ...]:
    from tools.hosts.ssh.route import resolve

    try:
        return (resolve(alias, config_file=config).hostname,)
    except ToolsError:
        return ()  # the look itself will say what is wrong with it
