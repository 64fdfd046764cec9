"""Who started the server, and whether a change may restart it."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from tools.engine.launcher import Launcher
from tools.errors import Unreadable
from tools.host import Command
from tools.linux.launcher import read_launcher
from tools.probe import Probe, told
from tools.sglang.on_host import script_with_names


class ReadLauncher(Probe[Launcher]):
    """Read what holds the server up: a plain process, systemd, docker, compose, a supervisor, a batch system.

    Says whether a change may restart it, and if not, why. Names of variables alone are told.
    A person would type: systemctl status PID; pstree -s PID; docker inspect CONTAINER.
    """

    routine: ClassVar[bool] = False  # only a change needs it
    takes_s: ClassVar[float] = 2.0

    port: int | None = Field(None, ge=1, le=65535, description="port of the server")

    def command(self) -> Command:
        """Look through /proc from the server up, and ask systemctl or docker about what owns it."""
        port = (str(self.port),) if self.port else ()
        return script_with_names("launcher", *port, after=(), limit_s=40)

    def recognises(self, text: str, /) -> bool:
        """Our own object alone; what people paste of units and containers tells another probe."""
        return text.lstrip().startswith('{"launcher": 1,')

    def parse(self, stdout: str, /) -> Launcher:
        """Judge what our script saw."""
        said = told(stdout)
        if "launcher" not in said:
            raise Unreadable("the answer tells of no launcher")
        return read_launcher(said)
