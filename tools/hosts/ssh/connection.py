"""One connection: reached directly or through a proxy, its host key checked, logged in."""

from __future__ import annotations

import logging
import select
import socket
import subprocess
import tempfile
import threading
from typing import IO

import paramiko
from paramiko.ssh_exception import IncompatiblePeer
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception_type,
    stop_after_delay,
    wait_exponential,
    wait_random,
)
from tenacity.stop import stop_base

from tools.errors import Unreachable
from tools.hosts.ssh.known import known_keys
from tools.hosts.ssh.login import login
from tools.hosts.ssh.route import Route

CONNECT_S = 10.0
KEEPALIVE_S = 15
SILENT_MS = 45_000  # three keepalives that nobody acknowledged: the line is dead
TRIES = 3
WEAK = {
    "ciphers": ["aes128-cbc", "aes192-cbc", "aes256-cbc", "3des-cbc"],
    "macs": ["hmac-md5", "hmac-md5-96", "hmac-sha1", "hmac-sha1-96"],
}
# Through one jump host at a time: sshd turns some away from ten on that are not logged in yet (MaxStartups 10:30:100).
LOGINS = 8
LOGIN_S = 3.0  # after which a login there is over, and it is the host behind it that is silent
_SHED = "kex_exchange_identification: "  # what `ssh` says of a server that has no room for one more
# What goes wrong is raised and told in a sentence; without this, tracebacks go to stderr as well.
logging.getLogger("paramiko").addHandler(logging.NullHandler())


_BY_JUMP: dict[str, threading.BoundedSemaphore] = {}


class Transient(Unreachable):
    """It may be there in a moment: a reset, a time-out."""


class Shed(Transient):
    """A jump host has no room for one more login: others log in there, and each is over in a moment."""


class _Enough(stop_base):
    """Counts the tries, but not those of who waits for room: that takes as long as the logins of others."""

    def __init__(self) -> None:
        self._failed = 0

    def __call__(self, retry_state: RetryCallState) -> bool:
        failed = retry_state.outcome.exception() if retry_state.outcome else None
        self._failed += not isinstance(failed, Shed)
        return self._failed >= TRIES


class Connection:
    """A connection that is up: the transport, and the program that carries it where there is one."""

    def __init__(self, route: Route, *, connect_s: float = CONNECT_S) -> None:
        self.route = route
        self._connect_s = connect_s
        self._proxy: subprocess.Popen[bytes] | None = None
        self._proxy_says: IO[bytes] | None = None
        tries = Retrying(
            retry=retry_if_exception_type(Transient),
            stop=_Enough() | stop_after_delay(connect_s * 1.5),
            wait=wait_exponential(multiplier=0.3, max=2.0) + wait_random(0, 0.5),
            reraise=True,
        )
        self.transport: paramiko.Transport = tries(self._open)

    @property
    def alive(self) -> bool:
        """Say whether it is still up, as far as is known."""
        return self.transport.is_active()

    def close(self) -> None:
        """End it, and the program that carries it."""
        self.transport.close()
        self._end_proxy()

    def _open(self) -> paramiko.Transport:
        line = self._through_proxy() if self.route.proxy else self._straight()
        transport = None
        try:
            transport = paramiko.Transport(line, disabled_algorithms=WEAK)
            self._shake(transport)
            login(transport, self.route)
        except BaseException:
            (transport or line).close()
            self._end_proxy()
            raise
        transport.set_keepalive(KEEPALIVE_S)
        return transport

    def _straight(self) -> socket.socket:
        route = self.route
        try:
            line = socket.create_connection((route.hostname, route.port), timeout=self._connect_s)
        except socket.gaierror:
            raise Unreachable(
                f"the name {route.hostname} is unknown to this machine: check the spelling, or add it to ~/.ssh/config"
            ) from None
        except ConnectionRefusedError:
            raise Unreachable(
                f"{route.shown} is there, but nothing listens on port {route.port}: does sshd run, and on that port?"
            ) from None
        except TimeoutError:
            raise Transient(
                f"{route.shown} does not answer on port {route.port}: is it up, and does a firewall let us through?"
            ) from None
        except ConnectionResetError:
            raise Transient(f"{route.shown} reset the connection") from None
        except (OSError, UnicodeError) as why:
            raise Unreachable(
                f"{route.shown} cannot be reached: {getattr(why, 'strerror', None) or why}"
            ) from None
        # paramiko leaves Nagle's algorithm on, which costs 40 ms per small packet.
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, SILENT_MS)
        return line

    def _through_proxy(self) -> socket.socket:
        """Start the proxy on one end of a socket pair, as OpenSSH does; wait while others log in there."""
        ours, theirs = socket.socketpair()
        self._proxy_says = tempfile.TemporaryFile()  # noqa: SIM115  # it is read when the proxy fails
        greeted = select.poll()
        greeted.register(ours, select.POLLIN)
        room = _BY_JUMP.setdefault(self.route.jump, threading.BoundedSemaphore(LOGINS))
        with theirs, room:
            self._proxy = subprocess.Popen(  # noqa: S603  # `ssh -W`, or the user's own ProxyCommand
                self.route.proxy,
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=self._proxy_says.fileno(),
                start_new_session=True,
            )
            theirs.close()  # so that its end is seen
            greeted.poll(LOGIN_S * 1000)
        return ours

    def _shake(self, transport: paramiko.Transport) -> None:
        """Agree on keys, then refuse a host that is not the one we know."""
        known = known_keys(self.route)
        options = transport.get_security_options()
        options.key_types = known.preferred(options.key_types)
        transport.banner_timeout = transport.auth_timeout = self._connect_s * 2
        try:
            transport.start_client(timeout=self._connect_s * 2)
            key = transport.get_remote_server_key()
        except IncompatiblePeer as why:
            raise Unreachable(
                f"{self.route.shown} and this machine share no safe method of encryption: {why}"
            ) from None
        except (paramiko.SSHException, EOFError, OSError) as why:
            raise self._broken(str(why)) from None
        known.check(self.route, key.get_name(), key.asbytes())

    def _broken(self, why: str) -> Unreachable:
        route = self.route
        if self._proxy and self._proxy_says:
            try:
                self._proxy.wait(timeout=2)
            except subprocess.TimeoutExpired:
                return Transient(f"{route.shown} does not answer through {route.jump}")
            self._proxy_says.seek(0)
            words = " ".join(self._proxy_says.read(2000).decode("utf-8", "replace").split())
            if words.startswith(_SHED):
                return Shed(
                    f"{route.shown} cannot be reached through {route.jump}: that hung up before it greeted us; "
                    f"does its MaxStartups leave room? ({words})"
                )
            return Unreachable(
                f"{route.shown} cannot be reached through {route.jump}: {words or why}"
            )
        return Transient(
            f"what listens on port {route.port} of {route.shown} hung up before it greeted as an SSH server does: "
            "is it one, and does its MaxStartups leave room?"
        )

    def _end_proxy(self) -> None:
        if self._proxy:
            self._proxy.terminate()
            self._proxy.wait()
            self._proxy = None
        if self._proxy_says:
            self._proxy_says.close()
            self._proxy_says = None
