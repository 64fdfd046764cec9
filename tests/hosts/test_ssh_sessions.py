"""Over a real sshd: what a login shell adds, and how many sessions a host allows."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path

import paramiko
import pytest

from tests.hosts.asks import Ask
from tests.lab.sshd import Lab, wait_for
from tools.errors import Unreachable
from tools.hosts.ssh import SshHost

ASK = Ask("echo", "hello")


def test_a_shell_that_prints_on_start_does_no_harm(own_lab: Lab) -> None:
    (own_lab.folder / ".bashrc").write_text("echo Welcome; echo noise >&2\n")
    with SshHost("lab", config_file=own_lab.config) as host:
        assert host.answer([ASK])[0].stdout == "hello\n"


def test_one_session_at_a_time_is_enough(tmp_path: Path) -> None:
    lab = Lab(tmp_path, extra="MaxSessions 1")
    try:
        with SshHost("lab", config_file=lab.config) as host:
            for _ in range(3):
                assert [output.stdout for output in host.answer([ASK, Ask("echo", "b")])] == [
                    "hello\n",
                    "b\n",
                ]
            threads = [threading.Thread(target=host.answer, args=([ASK],)) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(60)
            sessions: list[paramiko.Channel] = []

            def opened() -> bool:
                with suppress(paramiko.ChannelException):
                    sessions.append(host.connect().transport.open_session())
                return bool(sessions)

            wait_for(opened, "the server does not forget the session before")
            (session,) = sessions
            session.exec_command("sleep 600")
            with pytest.raises(Unreachable, match="MaxSessions"):
                host.answer([ASK])
            session.close()
    finally:
        lab.stop()
