"""Block devices: how busy, and how long a request waits."""

from __future__ import annotations

from typing import ClassVar

from tools.errors import Unreadable
from tools.host import Command
from tools.linux.iostat import is_iostat, read_iostat
from tools.linux.machine import Storage
from tools.linux.terminal import shown
from tools.probe import Probe


class ReadStorage(Probe[Storage]):
    """Read the disks: how busy each is and how long its requests wait, over one second.

    Worth a look when weights load slowly or a KV cache is written to disk.
    Like: iostat -xy 1 1
    """

    routine: ClassVar[bool] = False

    def command(self) -> Command:
        """Ask sysstat for one second, without the average since boot."""
        return Command(argv=("iostat", "-x", "-y", "1", "1"))

    def recognises(self, text: str, /) -> bool:
        """A table whose last column is %util."""
        return is_iostat(text)

    def parse(self, stdout: str, /) -> Storage:
        """Take the last report."""
        found = read_iostat(shown(stdout))
        if found is None:
            raise Unreadable("no table of iostat -x in it")
        return found
