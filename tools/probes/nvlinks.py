"""NVLinks, link by link."""

from __future__ import annotations

from tools.errors import Absent, Unreadable
from tools.host import Command, script
from tools.nvidia.any_report import plain
from tools.nvidia.nvlink import is_nvlink, read_nvlink
from tools.nvidia.refusal import refuse
from tools.nvidia.topology import Nvlinks
from tools.probe import Probe, told


class ReadNvlinks(Probe[Nvlinks]):
    """Read the NVLinks: each one active or not, its rate, its errors since the driver started.

    Like: nvidia-smi nvlink -s; nvidia-smi nvlink -e (and -gt d twice, for traffic between two looks)
    """

    def command(self) -> Command:
        """Ask nvidia-smi for states and for error counters."""
        return script("smi_texts", "nvlink", after=("run_smi",), limit_s=18)

    def recognises(self, text: str, /) -> bool:
        """Know the lines of nvidia-smi nvlink -s, -e, -gt, and of a health check that lists links."""
        return is_nvlink(plain(text))

    def parse(self, stdout: str, /) -> Nvlinks:
        """Unite states and counters; GPUs without any link are named all the same."""
        if stdout.lstrip()[:1] == "{":
            told(stdout)
        lines = plain(stdout)
        links = read_nvlink(lines)
        if links == Nvlinks():
            refuse(lines)
            said = [
                line for line in lines.splitlines() if line.strip() and not line.startswith("$ ")
            ]
            if not said or "all links are inActive" in lines:
                raise Absent(
                    "nvidia-smi tells of no NVLink: these GPUs have none, or none is active"
                )
            raise Unreadable("no line of nvidia-smi nvlink in it")
        return links
