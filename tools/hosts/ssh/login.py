"""Being let in: certificates, keys of the agent and keys of files, in OpenSSH's order."""

from __future__ import annotations

import base64
import binascii
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import paramiko
from paramiko.agent import AgentSSH

from tools.errors import LoginRefused
from tools.hosts.ssh.route import Route

AGENT_S = 30.0  # an agent may ask its owner first


class Agent(AgentSSH):
    """The keys of an agent, at whatever socket it listens; none where nobody listens."""

    def __init__(self, path: str | None) -> None:
        super().__init__()
        if path is None:
            return
        line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        line.settimeout(AGENT_S)
        try:
            line.connect(path)
            self._connect(line)  # type: ignore[attr-defined]  # the way in that paramiko leaves open
        except (OSError, paramiko.SSHException, ValueError):
            line.close()

    def close(self) -> None:
        """Hang up."""
        self._close()  # type: ignore[attr-defined]


class Keys:
    """What can be shown to a host, best first; and what could not be used, for the sentence."""

    def __init__(self, route: Route, agent: Agent) -> None:
        self.route = route
        self.held = list(agent.get_keys())
        self.locked: list[str] = []
        self.shown: list[str] = []

    def __iter__(self) -> Iterator[tuple[str, paramiko.PKey]]:
        """Give each key once: agent's keys that the configuration names, files, the agent's others."""
        wanted = [blob for path in self.route.identities if (blob := _public(path))]
        named = [key for blob in wanted for key in self.held if key.asbytes() == blob]
        given: set[bytes] = set()
        files = {path: self._load(path, named) for path in self.route.identities}
        for path, key in files.items():
            yield from self._with_certificates(path, key, given)
        yield from (pair for key in named if (pair := self._once("agent", key, given)))
        if not self.route.identities_only:
            yield from (pair for key in self.held if (pair := self._once("agent", key, given)))

    def _with_certificates(
        self, path: Path, key: paramiko.PKey | None, given: set[bytes]
    ) -> Iterator[tuple[str, paramiko.PKey]]:
        if key is None:
            return
        for certificate in (*self.route.certificates, Path(f"{path}-cert.pub")):
            if certificate.is_file() and (fresh := self._load(path, [])):
                with suppress(ValueError, paramiko.SSHException, OSError):
                    fresh.load_certificate(str(certificate))  # refuses a certificate of another key
                    yield f"{path} with {certificate.name}", fresh
        given.add(key.asbytes())
        yield str(path), key

    def _once(
        self, where: str, key: paramiko.PKey, given: set[bytes]
    ) -> tuple[str, paramiko.PKey] | None:
        blob = key.asbytes()
        if blob in given:
            return None
        given.add(blob)
        return f"{where}: {getattr(key, 'comment', '') or key.get_name()}", key

    def _load(self, path: Path, named: list[paramiko.AgentKey]) -> paramiko.PKey | None:
        """Read a private key, but no certificate beside it; a locked one may be in the agent."""
        try:
            key = paramiko.PKey.from_path(path)
        except (TypeError, paramiko.PasswordRequiredException):
            if _public(path) not in [held.asbytes() for held in named]:
                self.locked.append(str(path))
            return None
        except (OSError, ValueError, paramiko.SSHException, paramiko.pkey.UnknownKeyType):
            return None
        key.public_blob = None
        return key


def login(transport: paramiko.Transport, route: Route) -> None:
    """Show keys until the host lets us in; raise LoginRefused with what was tried."""
    agent = Agent(route.agent)
    try:
        keys = Keys(route, agent)
        for label, key in keys:
            if _try(transport, route, key):
                return
            keys.shown.append(label)
            if not transport.is_active():
                break  # too many keys for its MaxAuthTries
        raise LoginRefused(_sentence(route, keys, gave_up=not transport.is_active()))
    finally:
        agent.close()


def _try(transport: paramiko.Transport, route: Route, key: paramiko.PKey) -> bool:
    try:
        missing = transport.auth_publickey(route.user, key)
    except paramiko.BadAuthenticationType as why:
        raise LoginRefused(
            f"{route.shown} lets {route.user} in by {' or '.join(why.allowed_types)} only: "
            "allow publickey in its sshd_config"
        ) from None
    except (paramiko.SSHException, EOFError, OSError):
        return False
    if missing:
        raise LoginRefused(
            f"{route.shown} wants {' and '.join(missing)} besides a key, which cannot be given here"
        )
    return True


def _sentence(route: Route, keys: Keys, *, gave_up: bool) -> str:
    tried = f"tried {', '.join(keys.shown)}" if keys.shown else "there is no key to try"
    locked = (
        f"; locked by a passphrase: {', '.join(keys.locked)} (unlock with ssh-add)"
        if keys.locked
        else ""
    )
    early = (
        "; it hung up after so many: name the right one with IdentityFile and IdentitiesOnly"
        if gave_up
        else ""
    )
    return (
        f"{route.shown} does not let {route.user} in: {tried}{locked}{early}. Put the public half of a key into "
        f"~{route.user}/.ssh/authorized_keys there, or name the right key with IdentityFile in ~/.ssh/config"
    )


def _public(path: Path) -> bytes | None:
    """Return the public half that lies beside a key, or that the path itself names."""
    for place in (path, Path(f"{path}.pub")):
        with suppress(OSError, ValueError, IndexError, binascii.Error):
            text = place.read_text(encoding="ascii")
            if not text.startswith("-----"):
                return base64.b64decode(text.split()[1], validate=True)
    return None
