"""What hosts of one kind answered, kept once as bytes, and given back to many logins after the same time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
_DASH = "/bin/dash" if Path("/bin/dash").exists() else "/bin/sh"
_KEEP = """cd "$1" && : >began
tee asked | sh -c "$SSH_ORIGINAL_COMMAND" | tee answered
"""
_GIVE = """head -c {asked} >/dev/null
sleep {seconds}
exec cat answered
"""


class Recording:
    """A folder of one kind of host. A host's CPU runs its scripts; a thousand in one machine would share ours.

    So one host of each kind is asked for real, and the others say what it said. `keeping` and
    `giving` are what sshd runs instead of what a login asks for (authorized_keys, command=).
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        (folder / "keep.sh").write_text(_KEEP)

    @property
    def keeping(self) -> str:
        return f"exec {_DASH} {self.folder}/keep.sh {self.folder}"

    @property
    def giving(self) -> str:
        return f"cd {self.folder} && exec {_DASH} give.sh"

    def kept(self) -> None:
        """Make the script that gives it back; what was asked and answered has arrived."""
        began, asked, answered = (self.folder / name for name in ("began", "asked", "answered"))
        assert answered.stat().st_size, f"{self.folder.name} answered nothing"
        seconds = answered.stat().st_mtime - began.stat().st_mtime
        said = _GIVE.format(asked=asked.stat().st_size, seconds=round(max(seconds, 0.0), 2))
        (self.folder / "give.sh").write_text(said)


def look_at_all(hosts: Path) -> None:
    """Let the product look at every host of a hosts.toml, once."""
    subprocess.run(
        [sys.executable, "-P", "-m", "bot", "health", "--json"],
        cwd=ROOT, env=os.environ | {"PERFSLEUTH_HOSTS": str(hosts)}, capture_output=True, check=True,
    )  # fmt: skip
