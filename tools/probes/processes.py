"""The processes that matter: the server's, the busiest, those that hold GPUs."""

from __future__ import annotations

import re

from pydantic import Field

from tools.errors import Unreadable
from tools.host import Command, script
from tools.linux.answers import read_answer
from tools.linux.machine import Processes
from tools.linux.process_table import columns_of
from tools.linux.processes import read_processes_text, read_script
from tools.linux.stacks import is_stacks
from tools.linux.wrappers import unwrap
from tools.probe import Probe

_OURS = re.compile(r'\{"rows": \[.*"load1": ', re.DOTALL)
_HEAD = re.compile(r"^[^\n]{0,400}\b(?:[PT]ID|VIRT|pid)\b[^\n]{0,400}$", re.MULTILINE)
_NUMASTAT = re.compile(r"^Per-node process memory usage", re.MULTILINE)
_OTHERS = re.compile(r"^\| {1,4}GPU +(?:GI|PID) |^# gpu +pid|server_args=|NVIDIA-SMI", re.MULTILINE)


class ReadProcesses(Probe[Processes]):
    """Read the processes: the busiest, the model server's own, and whatever holds a GPU open.

    Processor shares are measured over half a second; 100 % is one core.
    Like: top -b -n 2; ps -eo pid,ppid,stat,wchan:20,nlwp,%cpu,cmd; numastat -p PID
    """

    port: int | None = Field(
        None, ge=1, le=65_535, description="the server's port, to tell its processes"
    )

    def command(self) -> Command:
        """Count in /proc, twice."""
        return script(
            "processes",
            *([str(self.port)] if self.port else []),
            after=("find_server",),
            limit_s=20,
        )

    def recognises(self, text: str, /) -> bool:
        """Tables of top, ps, pidstat or numastat, stacks of py-spy; not nvidia-smi's, and no log."""
        if text.lstrip()[:1] == "{":
            return _OURS.match(text.lstrip()) is not None
        if is_stacks(text):
            return True
        if _OTHERS.search(text) is not None:
            return False
        if _NUMASTAT.search(text) is not None:
            return True
        return any(columns_of(found[0]) is not None for found in _HEAD.finditer(text))

    def parse(self, stdout: str, /) -> Processes:
        """Unite the rows of all tables in the text."""
        if stdout.lstrip()[:1] == "{":
            return read_answer(stdout, read_script)
        found = read_processes_text(unwrap(stdout))
        if not found.rows and not found.stacks and found.idle_pct is None:
            raise Unreadable(
                "no table of processes in it, as top, ps, pidstat, numastat or py-spy print one"
            )
        return found
