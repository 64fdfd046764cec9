"""A real OpenSSH server on 127.0.0.1, with keys and an ssh_config of its own; nothing of the user's is read."""

from __future__ import annotations

import contextlib
import getpass
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

BIN = Path(__file__).parent / "bin"
SSHD = shutil.which("sshd", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin:/sbin")
MISSING = "sshd is not installed (Debian: apt install openssh-server)"


class Sshd:
    """One server: its folder holds the host key, its configuration and its log; stopped with `stop`."""

    def __init__(
        self,
        folder: Path,
        authorized: Path,
        *,
        environment: dict[str, str] | None = None,
        extra: str = "",
    ) -> None:
        assert SSHD, MISSING
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.port = folder, free_port()
        self.host_key = make_key(folder / "host_key")
        system = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        told = {"PATH": f"{BIN}:{system}:{Path(sys.base_prefix) / 'bin'}", **(environment or {})}
        (folder / "sshd_config").write_text(
            f"ListenAddress 127.0.0.1\nPort {self.port}\nHostKey {self.host_key}\nPidFile none\nUsePAM no\nStrictModes no\n"
            f"AuthorizedKeysFile {authorized}\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nUseDNS no\n"
            f"PermitRootLogin yes\nPrintMotd no\nLogLevel ERROR\nMaxStartups 100\n{extra}\n"
            f"SetEnv {' '.join(f'{name}={value}' for name, value in told.items())}\n"
        )
        self.start()

    def start(self) -> None:
        """Start it, or start it again after `kill`."""
        assert SSHD
        if os.getuid() == 0:
            Path("/run/sshd").mkdir(
                mode=0o755, exist_ok=True
            )  # Debian makes it when the service starts
        argv = [SSHD, "-D", "-f", str(self.folder / "sshd_config"), "-E", str(self.folder / "log")]
        self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL)
        wait_for(lambda: answers(self.port), f"sshd does not listen: {self.log()}")

    def log(self) -> str:
        log = self.folder / "log"
        return log.read_text(errors="replace") if log.exists() else ""

    def connections(self) -> list[int]:
        """The processes of sshd that serve one connection each, and nothing they run."""
        return [pid for pid in descendants(self.process.pid) if name_of(pid).startswith("sshd")]

    def kill(self) -> None:
        """End it as a power cut would: the server and its connections at once."""
        for pid in (*self.connections(), self.process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        for pid in (*descendants(self.process.pid), self.process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        try:
            self.process.wait(2)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def known_hosts_line(self, name: str | None = None) -> str:
        kind, key = Path(f"{self.host_key}.pub").read_text().split()[:2]
        return f"{name or f'[127.0.0.1]:{self.port}'} {kind} {key}\n"


class Lab:
    """A server, a user's key that it takes, and an ssh_config in which it is called `lab`."""

    def __init__(self, folder: Path, *, extra: str = "") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.user = getpass.getuser()
        self.key = make_key(folder / "id")
        authorized = folder / "authorized_keys"
        authorized.write_text(Path(f"{self.key}.pub").read_text())
        self.mood("healthy")
        self.sshd = Sshd(
            folder / "sshd",
            authorized,
            environment={"LAB": str(folder), "HOME": str(folder)},
            extra=extra,
        )
        self.known_hosts = folder / "known_hosts"
        self.known_hosts.write_text(self.sshd.known_hosts_line())
        self.config = self.configure("config")

    def mood(self, name: str) -> None:
        """Choose what the fake commands print from now on: a folder of tests/lab/moods."""
        (self.folder / "mood").write_text(name + "\n")

    def configure(self, name: str, alias: str = "lab", **changes: str) -> Path:
        """Write an ssh_config with some words changed, and return it."""
        words = {
            "HostName": "127.0.0.1",
            "Port": str(self.sshd.port),
            "User": self.user,
            "IdentityFile": str(self.key),
            "IdentityAgent": "none",
            "UserKnownHostsFile": str(self.known_hosts),
            "GlobalKnownHostsFile": "/dev/null",
        } | changes
        config = self.folder / name
        config.write_text(
            f"Host {alias}\n" + "".join(f"  {word} {value}\n" for word, value in words.items())
        )
        return config

    def stop(self) -> None:
        self.sshd.stop()


def make_key(path: Path, *options: str) -> Path:
    """Make a fresh ed25519 key pair, once."""
    if not path.exists():
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "lab", "-f", str(path), *options],
            check=True,
        )
    return path


_GIVEN: set[int] = set()


def free_port() -> int:
    """Choose a port below those that the kernel gives by itself: nobody is given it before it is bound."""
    draw = random.SystemRandom()  # hypothesis seeds the other one
    while True:
        port = draw.randrange(10_000, 29_000)
        if port in _GIVEN:
            continue
        with contextlib.suppress(OSError), socket.socket() as one:
            one.bind(("127.0.0.1", port))
            _GIVEN.add(port)
            return port


def answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def wait_for(condition, what: str, limit_s: float = 60.0) -> None:
    over = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < over, what
        time.sleep(0.02)


def name_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def alive(pid: int) -> bool:
    """A zombie is no longer alive."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def of_processes(file: str) -> list[Path]:
    """Return this file of every process; a glob fails on one that ends meanwhile (ESRCH), reading does too."""
    return [one / file for one in Path("/proc").iterdir() if one.name.isdigit()]


def descendants(pid: int) -> list[int]:
    """All processes below one, by /proc; the deepest last."""
    children: dict[int, list[int]] = {}
    for stat in of_processes("stat"):
        with contextlib.suppress(OSError, IndexError, ValueError):
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(stat.parent.name))
    found, look = [], [pid]
    while look:
        below = children.get(look.pop(0), [])
        found += below
        look += below
    return found
