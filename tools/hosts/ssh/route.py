"""How OpenSSH would reach a host: what `ssh -G` resolves of aliases, keys and jump hosts."""

from __future__ import annotations

import os
import pwd
import re
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tools.errors import Unreachable

LONGEST = 320  # characters of user@host: a name of DNS has 253 at most
RESOLVE_S = 10.0  # a `Match exec` of the user's may take its time
_WORD = re.compile(r"(?:ssh://)?[A-Za-z0-9._:%@\[\]-]+")


@dataclass(frozen=True)
class Route:
    """Everything that is needed to connect, as `ssh -G ALIAS` says it.

    `agent` is the socket of the agent, None without one. `known_hosts` are files, which need not
    exist. `proxy` is the program that carries the connection, empty where it goes straight.
    """

    alias: str
    hostname: str
    port: int
    user: str
    identities: tuple[Path, ...] = ()
    certificates: tuple[Path, ...] = ()
    identities_only: bool = False
    agent: str | None = None
    known_hosts: tuple[Path, ...] = ()
    key_alias: str | None = None
    proxy: tuple[str, ...] = ()
    jump: str = ""

    @property
    def known_as(self) -> str:
        """The name under which known_hosts keeps its key."""
        if self.key_alias:
            return self.key_alias.lower()
        name = self.hostname.lower()
        return name if self.port == 22 else f"[{name}]:{self.port}"

    @property
    def shown(self) -> str:
        """The host as a sentence names it: the alias, and what it stands for where they differ."""
        place = self.hostname if self.port == 22 else f"{self.hostname} port {self.port}"
        return self.alias if place == self.alias else f"{self.alias} ({place})"


def resolve(
    alias: str, *, user: str | None = None, port: int | None = None, config_file: Path | None = None
) -> Route:
    """Ask OpenSSH what an alias stands for; raise Unreachable where it cannot say."""
    if not _WORD.fullmatch(alias) or alias.startswith("-") or len(alias) > LONGEST:
        raise Unreachable(f"{alias[:LONGEST]!r} is no name of a host")
    own = ("-F", str(config_file)) if config_file else ()
    overrides = (*(("-l", user) if user else ()), *(("-p", str(port)) if port else ()))
    said = _ask_openssh(("ssh", *own, *overrides, "-G", "--", alias), alias)
    one = {key: values[0] for key, values in said.items()}
    hostname, real_port, real_user = (
        one.get("hostname", alias),
        int(one.get("port", 22)),
        one.get("user", user or ""),
    )
    tokens = {
        "%": "%",
        "d": str(_home()),
        "h": hostname,
        "n": alias,
        "p": str(real_port),
        "r": real_user,
    }
    tokens |= {
        "u": pwd.getpwuid(os.getuid()).pw_name,
        "k": one.get("hostkeyalias", hostname),
        "i": str(os.getuid()),
    }
    files = [
        *_words(one.get("userknownhostsfile", "")),
        *_words(one.get("globalknownhostsfile", "")),
    ]
    proxy, jump = _proxy(one, own, tokens)
    return Route(
        alias=alias,
        hostname=hostname,
        port=real_port,
        user=real_user,
        identities=tuple(
            _path(text, tokens) for text in said.get("identityfile", ()) if text != "none"
        ),
        certificates=tuple(
            _path(text, tokens) for text in said.get("certificatefile", ()) if text != "none"
        ),
        identities_only=one.get("identitiesonly") == "yes",
        agent=_agent(one.get("identityagent", "SSH_AUTH_SOCK"), tokens),
        known_hosts=tuple(
            _path(text, tokens) for text in files if text not in ("none", "/dev/null")
        ),
        key_alias=one.get("hostkeyalias"),
        proxy=proxy,
        jump=jump,
    )


def _ask_openssh(argv: tuple[str, ...], alias: str) -> dict[str, list[str]]:
    """Run `ssh -G` and return its lines by keyword, in their order."""
    try:
        done = subprocess.run(  # noqa: S603  # argv: our own words, and a checked name behind --
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=RESOLVE_S,
            check=False,
            encoding="utf-8",
            errors="replace",
        )
    except FileNotFoundError:
        raise Unreachable(
            "the OpenSSH client (ssh) is not installed on this machine; it resolves names and keys, so install it"
        ) from None
    except subprocess.TimeoutExpired:
        raise Unreachable(
            f"`ssh -G {alias}` did not end within {RESOLVE_S:.0f} s: is there a Match exec in ~/.ssh/config?"
        ) from None
    if done.returncode:
        words = " ".join(
            line.strip() for line in done.stderr.splitlines() if "Pseudo-terminal" not in line
        )
        raise Unreachable(f"OpenSSH cannot resolve {alias}: {words[:300]}")
    said: dict[str, list[str]] = {}
    for line in done.stdout.splitlines():
        key, _, value = line.partition(" ")
        said.setdefault(key.lower(), []).append(value.strip())
    return said


def _proxy(
    one: dict[str, str], own: tuple[str, ...], tokens: dict[str, str]
) -> tuple[tuple[str, ...], str]:
    """Return the program that carries the connection, and the jump host to name in a sentence.

    OpenSSH itself turns ProxyJump into `ssh -W` to the last of the jump hosts. Strict keys and no
    questions hold on the way, too.
    """
    if (jump := one.get("proxyjump", "none")) != "none":
        *before, last = jump.split(",")
        spec = last if last.startswith("ssh://") else f"ssh://{last}"
        through = ("-J", ",".join(before)) if before else ()
        strict = ("-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes")
        target = f"[{tokens['h']}]:{tokens['p']}"
        return ("ssh", *own, *strict, *through, "-W", target, "--", spec), last
    if (command := one.get("proxycommand", "none")) != "none":
        if not _WORD.fullmatch(tokens["h"]):
            raise Unreachable(f"{tokens['h']!r} is no host name that a ProxyCommand may be given")
        # The line is the user's own, from ssh_config, and OpenSSH runs it by a shell, too.
        return ("/bin/sh", "-c", f"exec {_expand(command, tokens)}"), "its ProxyCommand"
    return (), ""


def _agent(said: str, tokens: dict[str, str]) -> str | None:
    if said == "none":
        return None
    if said == "SSH_AUTH_SOCK" or said.startswith("$"):
        return os.environ.get(said.lstrip("$").strip("{}")) or None
    return str(_path(said, tokens))


def _home() -> Path:
    """OpenSSH takes the home of the account, whatever HOME says."""
    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        return Path.home()


def _path(text: str, tokens: dict[str, str]) -> Path:
    text = _expand(text.strip('"'), tokens)
    return _home() / text[2:] if text.startswith("~/") else Path(text)


def _expand(text: str, tokens: dict[str, str]) -> str:
    return re.sub(r"%(.)", lambda found: tokens.get(found[1], found[0]), text)


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()
