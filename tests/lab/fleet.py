"""Many hosts of few sshd processes: each alias has its own identity, told apart by the key it logs in with."""

from __future__ import annotations

import socket
import threading
from pathlib import Path

from tests.lab.engine import Engine
from tests.lab.recording import Recording, look_at_all
from tests.lab.sshd import Sshd, make_key

SERVERS = 4
MOODS = {"healthy": 0.7, "gen1_busy": 0.15, "no_gpu": 0.05}
# What is left of all: hosts whose nvidia-smi hangs, hosts that are down, that never speak, or refuse us.
SLOW, DEAD, SILENT, BROKEN = 0.04, 0.03, 0.01, 0.02
# One host in so many runs all that it is sent; the others give back what such a one answered.
REAL = 20


class Fleet:
    """`count` hosts in one ssh_config and one hosts.toml; `expected` says which mood each has.

    `real` says how many of them run every script themselves.
    """

    def __init__(self, folder: Path, count: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.engine = Engine(folder)
        self.silent = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.expected = {f"gpu{n:04}": kind for n, kind in enumerate(_kinds(count))}
        answering = (*MOODS, "slow")
        self.real = sum(self.expected[f"gpu{n:04}"] in answering for n in range(0, count, REAL))
        self._homes = {kind: self._home(kind) for kind in answering}
        self._keys = {
            name: make_key(folder / f"key_{name}")
            for kind in answering
            for name in (kind, f"{kind}_kept", f"{kind}_given")
        } | {"broken": make_key(folder / "key_broken")}
        recordings = {kind: Recording(folder / f"recording_{kind}") for kind in answering}
        authorized = folder / "authorized_keys"
        authorized.write_text(
            "".join(
                self._login(kind, kind)
                + self._login(kind, f"{kind}_kept", kept.keeping)
                + self._login(kind, f"{kind}_given", kept.giving)
                for kind, kept in recordings.items()
            )
        )
        extra = "PermitUserEnvironment yes\nMaxSessions 20\nMaxStartups 400"
        self.servers = [
            Sshd(folder / f"sshd{n}", authorized, environment={"HOME": str(folder)}, extra=extra)
            for n in range(SERVERS)
        ]
        known = folder / "known_hosts"
        known.write_text("".join(one.known_hosts_line() for one in self.servers))
        self.config = folder / "ssh_config"
        alike = "".join(self._alias(f"kept-{kind}", 0, f"{kind}_kept") for kind in answering)
        self.config.write_text(alike + "".join(map(self._host, range(count))))
        self._record(recordings)
        self.hosts = folder / "hosts.toml"
        self.hosts.write_text("".join(self._told(*one) for one in self.expected.items()))
        self._accepting = threading.Thread(target=self._swallow, daemon=True)
        self._accepting.start()

    def stop(self) -> None:
        self.silent.close()
        for server in self.servers:
            server.stop()
        self.engine.stop()

    def _record(self, recordings: dict[str, Recording]) -> None:
        hosts = self.folder / "kept.toml"
        hosts.write_text("".join(self._told(f"kept-{kind}", kind) for kind in recordings))
        look_at_all(hosts)
        for one in recordings.values():
            one.kept()

    def _told(self, name: str, kind: str) -> str:
        return f'[hosts.{name}]\nssh_config = "{self.config}"\ngroups = ["{kind}"]\n'

    def _home(self, kind: str) -> Path:
        home = self.folder / f"home_{kind}"
        home.mkdir()
        (home / "mood").write_text("hangs" if kind == "slow" else kind)
        return home

    def _login(self, kind: str, key: str, command: str = "") -> str:
        """One line of authorized_keys: who comes with this key sees the machine in this mood."""
        public = Path(f"{self._keys[key]}.pub").read_text().strip()
        forced = f',command="{command}"' if command else ""
        return f'environment="LAB={self._homes[kind]}"{forced} {public}\n'

    def _host(self, number: int) -> str:
        name = f"gpu{number:04}"
        kind = self.expected[name]
        if kind in self._homes and number % REAL:
            return self._alias(name, number, f"{kind}_given")
        return self._alias(name, number, kind)

    def _alias(self, name: str, number: int, key: str) -> str:
        port = self.servers[number % SERVERS].port
        if key == "dead":
            port = 1  # of loopback, where nothing listens
        elif key == "silent":
            port = self.silent.getsockname()[1]
        return (
            f"Host {name}\n  HostName 127.0.0.1\n  Port {port}\n  IdentityFile {self._keys.get(key, self._keys['broken'])}\n"
            f"  IdentitiesOnly yes\n  IdentityAgent none\n  GlobalKnownHostsFile /dev/null\n"
            f"  UserKnownHostsFile {self.folder / 'known_hosts'}\n"
        )

    def _swallow(self) -> None:
        """Take connections and never say a word."""
        held = []
        while True:
            try:
                held.append(self.silent.accept()[0])
            except OSError:
                return


def _kinds(count: int) -> list[str]:
    """Return so many kinds in their shares, spread evenly, the same in every run."""
    shares = {**MOODS, "slow": SLOW, "dead": DEAD, "silent": SILENT, "broken": BROKEN}
    owed = dict.fromkeys(shares, 0.0)
    kinds = []
    for _ in range(count):
        for kind, share in shares.items():
            owed[kind] += share
        kind = max(owed, key=lambda one: owed[one])
        owed[kind] -= 1
        kinds.append(kind)
    return kinds
