"""What NCCL says of the paths it chose."""

from __future__ import annotations

from pydantic import Field

from tools.errors import Absent
from tools.host import Command, script
from tools.nvidia.any_report import plain
from tools.nvidia.nccl import NcclLog
from tools.nvidia.nccl_log import is_nccl_log, read_nccl_log
from tools.probe import Probe, told


class ReadNcclLog(Probe[NcclLog]):
    """Read NCCL's own lines: network, transports, channels, and what it could not do.

    They are there only if the server ran with NCCL_DEBUG=INFO (or WARN, for complaints alone).
    Like: grep -a 'NCCL ' LOG
    """

    routine = False

    log_path: str | None = Field(
        None,
        pattern=r"^/[^\x00\n]{1,4000}$",
        description="the log; the server's own where none is given",
    )

    def command(self) -> Command:
        """Let grep pick the lines on the host: a serve log may be gigabytes long."""
        arguments = (self.log_path,) if self.log_path else ()
        return script(
            "nccl_lines", *arguments, after=("find_server",), limit_s=30, max_bytes=4 << 20
        )

    def recognises(self, text: str, /) -> bool:
        """Know NCCL's lines wherever they stand, in a serve log too."""
        return is_nccl_log(text)

    def parse(self, stdout: str, /) -> NcclLog:
        """Read the lines that are NCCL's; raise Absent where there are none."""
        if stdout.lstrip()[:1] == "{" and not is_nccl_log(stdout):
            told(stdout)
        lines = plain(stdout)
        if not is_nccl_log(lines):
            raise Absent("no line of NCCL in it: the server runs without NCCL_DEBUG=INFO")
        return read_nccl_log(lines)
