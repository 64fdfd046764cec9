"""The machine or container under the server."""

from __future__ import annotations

import re
from typing import Any

from pydantic import Field

from tools.errors import Unreadable
from tools.host import Command, script
from tools.linux.answers import read_answer
from tools.linux.container import read_container
from tools.linux.machine import Machine
from tools.linux.machine_script import read_script
from tools.linux.machine_text import read_machine_text
from tools.linux.terminal import shown
from tools.probe import Probe
from tools.sglang.environment import clean_environment
from tools.sglang.manifests import server_container

_OURS = re.compile(r'\{"processor": \{')
_LOG = re.compile(
    r"server_args=|(?:Decode|Prefill) batch|Engine \d{3}: Avg prompt|NVIDIA-SMI|==NVSMI LOG==|NCCL INFO"
)
_NO_ANSWER = ('{"absent"', '{"failed"')
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
        if _OURS.match(text.lstrip()):
            return True
        if len(text) > _LARGEST or _LOG.search(text):
            return False
        return bool(_told(shown(text)))

    def clean(self, text: str, /) -> str:
        """Drop secrets, also of variables that a manifest or a unit gives."""
        given = server_container(text) is not None or "[Service]" in text or "ExecStart=" in text
        return clean_environment(text) if given else super().clean(text)

    def parse(self, stdout: str, /) -> Machine:
        """Unite whatever the text tells of the machine."""
        if _OURS.match(stdout.lstrip()) or stdout.lstrip().startswith(_NO_ANSWER):
            return read_answer(stdout, read_script)
        facts = _told(shown(stdout)[: 4 * _LARGEST])
        if not facts:
            raise Unreadable(
                "nothing of a machine in it: no lscpu, cpu.max, df, uptime or the like"
            )
        return Machine(**facts)


def _told(text: str) -> dict[str, Any]:
    """Return what a text tells: as a shell prints it, or as the manifest of the server's container."""
    facts = read_machine_text(text)
    if (found := server_container(text)) is not None:
        facts |= read_container(*found)
    return facts
