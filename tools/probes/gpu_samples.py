"""GPUs over some seconds."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from tools.host import Command, script
from tools.nvidia.gpus import Gpus
from tools.nvidia.nvml_json import is_watch, read_watch
from tools.probe import Probe


class SampleGpus(Probe[Gpus]):
    """Watch every GPU for some seconds: link, clocks, utilisation, power, heat and clock reasons.

    It adds no load: it shows the state under whatever load there is, and idle samples prove
    nothing. Like: nvidia-smi --query-gpu=index,pstate,pcie.link.gen.current,... --format=csv -lms 200
    """

    takes_s: ClassVar[float] = 6.0

    seconds: int = Field(5, ge=1, le=15, description="how long to watch")
    hz: float = Field(5.0, ge=0.5, le=20.0, description="readings a second")

    def command(self) -> Command:
        """Ask NVML in a loop where pynvml is found, else let nvidia-smi loop, with a time limit."""
        arguments = (str(self.seconds), f"{self.hz:g}")
        limit_s = 2 * self.seconds + 15.0
        return script("nvml_sample", *arguments, limit_s=limit_s, max_bytes=4 << 20)

    def recognises(self, text: str, /) -> bool:
        """Know the answer of our own sampler; rows of nvidia-smi are those of ReadGpus."""
        return is_watch(text)

    def parse(self, stdout: str, /) -> Gpus:
        """Return a sample for each GPU and reading; `at` is seconds since the first, or the time."""
        return read_watch(stdout)
