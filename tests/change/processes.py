"""The keeper and its understudy, found among the processes of this machine."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

from tests.lab.sshd import alive, of_processes, wait_for


def keepers(port: int) -> list[int]:
    """Return the keeper of a port and its understudy, the keeper first."""
    rows = Path("/proc/net/unix").read_text().splitlines()
    inodes = {row.split()[6] for row in rows if row.endswith(f"@perfsleuth-{port}")}
    held = [pid for pid in named("psl-keeper") if inodes & sockets(pid)]
    # What the keeper forks looks like it until it has another name: an understudy, or a server that is to be.
    first = [pid for pid in held if parent(pid) not in held]
    return first + [pid for pid in named("psl-understudy") if parent(pid) in first]


def both_keepers(port: int) -> tuple[int, int]:
    """Return the keeper of a port and its understudy, seen in one look; wait until there are both."""
    seen: list[int] = []

    def look() -> bool:
        seen[:] = keepers(port)
        return len(seen) == 2

    wait_for(look, "there is no understudy")
    first, second = seen
    return first, second


def end_keepers(port: int) -> None:
    """Kill the keeper of a port and its understudy; one that stands still makes no other understudy."""
    for pid in keepers(port)[:1]:
        with suppress(ProcessLookupError):  # it was dismissed, and has left by itself
            os.kill(pid, signal.SIGSTOP)
    for pid in reversed(keepers(port)):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def named(name: str) -> list[int]:
    found = []
    for path in of_processes("comm"):
        try:
            if path.read_text().strip() == name and alive(int(path.parent.name)):
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def sockets(pid: int) -> set[str]:
    found = set()
    with suppress(OSError):  # it has ended
        for one in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):  # it is closed
                link = str(one.readlink())
                if link.startswith("socket:["):
                    found.add(link[8:-1])
    return found


def parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0
