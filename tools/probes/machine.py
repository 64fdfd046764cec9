"""The machine or container under the server."""

from __future__ import annotations

import re

from pydantic import Field

from tools.errors import Unreadable
from tools.host import Command, script
from tools.linux.answers import read_answer
from tools.linux.machine import Machine
from tools.linux.machine_script import read_script
from tools.linux.machine_text import read_machine_text
from tools.linux.terminal import shown
from tools.probe import Probe

_OURS = re.compile(r'\{"processor": \{')
_LOG = re.compile(
    r"server_args=|(?:Decode|Prefill) batch|Engine \d{3}: Avg prompt|NVIDIA-SMI|==NVSMI LOG==|NCCL INFO"
)
_LARGEST = 1 << 18  # what people paste of a machine is short; a serve log is not


class ReadMachine(Probe[Machine]):
    """Read the machine: processor and governor, control-group limits and throttling, memory, NUMA, guest of what.

    Throttling, swapping and steal are measured over a second.
    Like: lscpu; cat /sys/fs/cgroup/cpu.max /sys/fs/cgroup/cpu.stat; df -h /dev/shm; systemd-detect-virt
    """

    port: int | None = Field(
        None, ge=1, le=65_535, description="the server's port; its limits are the ones that count"
    )

    def command(self) -> Command:
        """Ask the kernel's files, twice where a rate is wanted."""
        return script(
            "machine", *([str(self.port)] if self.port else []), after=("find_server",), limit_s=20
        )

    def recognises(self, text: str, /) -> bool:
        """Any of the forms that tell a machine's state, and no log in which they may occur by chance."""
        if text.lstrip()[:1] == "{":
            return _OURS.match(text.lstrip()) is not None
        if len(text) > _LARGEST or _LOG.search(text):
            return False
        return bool(read_machine_text(shown(text)))

    def parse(self, stdout: str, /) -> Machine:
        """Unite whatever the text tells of the machine."""
        if stdout.lstrip()[:1] == "{":
            return read_answer(stdout, read_script)
        facts = read_machine_text(shown(stdout)[: 4 * _LARGEST])
        if not facts:
            raise Unreadable(
                "nothing of a machine in it: no lscpu, cpu.max, df, uptime or the like"
            )
        return Machine(**facts)
