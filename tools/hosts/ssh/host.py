"""A machine asked over SSH: one connection, and for each round one channel that carries the whole batch."""

from __future__ import annotations

import shlex
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Self

import paramiko

from tools.batch import Batch, Garbled, bootstrap, last_words
from tools.errors import Unreachable
from tools.host import STOPPED, Asks, Output
from tools.hosts.ssh.connection import CONNECT_S, Connection
from tools.hosts.ssh.route import Route, resolve

SLACK_S = 15.0  # what a batch may take beyond its own bound before it is given up
TICK_S = 0.5  # how often a silent line is looked at
BEAT_S = 0.1  # how often who waits for a connection looks whether it was stopped
# a session that ended counts against MaxSessions for a moment
OPEN_WAITS_S = (0.02, 0.1, 0.5, 1.0, 2.0, 0.0)


class _Stopped(Unreachable):
    """Somebody closed the host while it was asked."""


class SshHost:
    """A machine that OpenSSH would reach under this alias or address. `answer` raises HostError alone.

    `name` is what people call it, where that is another word.
    `user` and `port` override what ssh_config says; `config_file` is read instead of the user's.
    `python` names the interpreter there, 3.8 or newer. What is asked waits its turn, so that one
    session is open at a time.
    """

    def __init__(
        self,
        address: str,
        *,
        name: str = "",
        user: str | None = None,
        port: int | None = None,
        python: str = "python3",
        config_file: Path | None = None,
        connect_s: float = CONNECT_S,
    ) -> None:
        self.name = name or address
        self._address = address
        self._user, self._port, self._config_file = user, port, config_file
        self._line = "exec " + shlex.join(bootstrap(python))
        self._python = python
        self._connect_s = connect_s
        self._connection: Connection | None = None
        self._turn = threading.Lock()
        self._closed = 0  # how often; a question is stopped when this moves while it is asked
        self._guard = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def route(self) -> Route:
        """Return how OpenSSH would reach it; raise Unreachable where it cannot say."""
        return resolve(
            self._address, user=self._user, port=self._port, config_file=self._config_file
        )

    def close(self) -> None:
        """End what is being asked and the connection; the next question opens another."""
        with self._guard:
            self._closed += 1
        self._drop()

    def connect(self) -> Connection:
        """Return the connection, made anew where there is none or it was lost."""
        return self._connected(self._closed)

    def answer(self, probes: Sequence[Asks], /) -> Sequence[Output]:
        """Ask all in one batch; answers that came before a loss are kept."""
        if not probes:
            return []
        begun, batch = self._closed, Batch(probes)
        with self._turn:
            try:
                with self._session(begun) as session:
                    return self._converse(session, batch, begun)
            except _Stopped:
                return batch.outputs(STOPPED)

    def _drop(self) -> None:
        with self._guard:
            connection, self._connection = self._connection, None
        if connection:
            connection.close()

    def _connected(self, begun: int) -> Connection:
        """Wait for a connection that is made beside, so that a stop need not wait for it."""
        self._insist(begun)
        connection = self._connection
        if connection and connection.alive:
            return connection
        self._drop()
        made: Future[Connection] = Future()
        threading.Thread(target=self._make, args=(made, begun), daemon=True).start()
        while not made.done():
            with suppress(TimeoutError):
                made.exception(BEAT_S)
            self._insist(begun)
        return made.result()

    def _make(self, made: Future[Connection], begun: int) -> None:
        try:
            connection = Connection(self.route(), connect_s=self._connect_s)
        except BaseException as why:  # noqa: BLE001  # whoever waits for it raises it
            made.set_exception(why)
            return
        with self._guard:
            stopped = self._closed != begun
            if not stopped:
                self._connection = connection
        if stopped:
            connection.close()
        made.set_result(connection)

    def _insist(self, begun: int) -> None:
        if self._closed != begun:
            raise _Stopped(STOPPED)

    def _session(self, begun: int) -> paramiko.Channel:
        """Open a session; a connection that was lost while idle is made anew, once."""
        lost = 0
        for wait_s in OPEN_WAITS_S:
            connection = self._connected(begun)
            try:
                session = connection.transport.open_session(timeout=self._connect_s)
                session.exec_command(self._line)
            except paramiko.ChannelException:
                time.sleep(wait_s)
            except (paramiko.SSHException, EOFError, OSError):
                self._insist(begun)
                self._drop()
                lost += 1
                if lost > 1:
                    break
            else:
                return session
        raise Unreachable(
            f"{self.name} lets us in, but opens no session: MaxSessions in its sshd_config is reached, "
            "or it allows none"
        )

    def _converse(self, session: paramiko.Channel, batch: Batch, begun: int) -> Sequence[Output]:
        said = bytearray()
        session.settimeout(self._connect_s)
        try:
            with suppress(OSError):  # it has ended already; what it said tells why
                session.sendall(batch.payload())
            lost = self._read(session, batch, said)
            self._insist(begun)
            session.status_event.wait(TICK_S)  # its end frees the place that MaxSessions counts
        except Garbled as why:
            lost = str(why)
        except OSError:
            self._insist(begun)
            lost = self._gone
        if lost and batch.silent and lost != self._gone:
            raise Unreachable(self._why_silent(session, batch, bytes(said)))
        return batch.outputs(lost)

    def _read(self, session: paramiko.Channel, batch: Batch, said: bytearray) -> str:
        """Read until all is answered; return why it is not, or nothing."""
        over = time.monotonic() + batch.bound_s + SLACK_S
        session.settimeout(TICK_S)
        while not batch.done:
            if session.recv_stderr_ready():
                said += session.recv_stderr(1 << 16)[: max(0, 4096 - len(said))]
            try:
                data = session.recv(1 << 18)
            except TimeoutError:
                if time.monotonic() > over:
                    return f"no answer within {batch.bound_s + SLACK_S:.0f} s"
                continue
            if not data:
                return self._ended(session)
            batch.feed(data)
        return ""

    @property
    def _gone(self) -> str:
        return f"the connection to {self.name} was lost before this was answered"

    def _ended(self, session: paramiko.Channel) -> str:
        """Tell the end of the runner from the end of the connection."""
        if session.status_event.wait(2.0) and session.exit_status >= 0:
            return f"the process that asks was ended on {self.name} before this was answered"
        return self._gone

    def _why_silent(self, session: paramiko.Channel, batch: Batch, said: bytes) -> str:
        while session.recv_stderr_ready() and len(said) < 4096:
            said += session.recv_stderr(1 << 16)
        if session.exit_status_ready() and session.exit_status == 127:
            return (
                f"there is no {self._python} on the PATH of {self.name}: install Python 3.8 or newer there, or name "
                "another interpreter with `python` in hosts.toml"
            )
        words = last_words(batch.noise, said)
        return (
            f"{self.name} lets us in, but {self._python} there cannot run what is asked "
            f"(it needs 3.8 or newer): {words}"
        )
