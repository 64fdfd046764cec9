"""From a name to a host that can be asked."""

from __future__ import annotations

from pathlib import Path

from bot.settings import Settings
from tools.errors import ToolsError
from tools.host import Host

_PORTS = 65535


class NoHost(ToolsError):
    """The question names no host, or more than one."""


def chosen(named: tuple[str, ...], asked_for: str | None, settings: Settings) -> str:
    """Return the one host that is meant; raise NoHost with what to do if that is unclear."""
    if asked_for:
        return asked_for
    if len(named) == 1:
        return named[0]
    if named:
        raise NoHost(
            f"You name {', '.join(named)}; I look at one host at a time. Choose one with --host."
        )
    known = f" I know {', '.join(settings.hosts)}." if settings.hosts else ""
    raise NoHost(f"Which host do you mean? Name it in the question or with --host.{known}")


def parted(asked_for: str) -> tuple[str, int | None]:
    """Part HOST:PORT, as --host takes it, into the host and the port of the server there."""
    name, _, port = asked_for.rpartition(":")
    if name and ":" not in name and port.isdigit() and 0 < int(port) <= _PORTS:
        return name, int(port)
    return asked_for, None


def reach(name: str, settings: Settings) -> Host:
    """Return the host of that name: this machine, or one over SSH. Nothing is connected yet."""
    told = settings.host(name)
    if told.case:
        return _of_the_past(name, told.case)
    if told.local or name in ("local", "localhost"):
        from tools.hosts.local import LocalHost

        return LocalHost(name=name, python=told.python)
    from tools.hosts.ssh import SshHost

    return SshHost(told.ssh or name, name=name, python=told.python, config_file=told.ssh_config)


def _of_the_past(name: str, path: Path) -> Host:
    from tools.case import Case
    from tools.hosts.replay import ReplayHost
    from tools.probes import PROBES

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as why:
        raise NoHost(f"The case of {name} cannot be read: {why}.") from None
    looks = Case.load(text, name=str(path)).evidence(PROBES)
    answers = {look.probe.key: look.output for look in looks if look.probe and look.output}
    return ReplayHost(name, answers)
