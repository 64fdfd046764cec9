"""GPUs at one moment."""

from __future__ import annotations

from tools.host import Command, script
from tools.nvidia.any_report import read_gpus, tells_of_gpus
from tools.nvidia.gpus import Gpus
from tools.nvidia.smi_xml import is_xml, without_arguments
from tools.probe import Probe


class ReadGpus(Probe[Gpus]):
    """Read every GPU once: link, clocks, power, heat, ECC, memory, and who holds it.

    An idle GPU lowers link and clocks by itself, so what it shows at rest proves nothing about
    work; take SampleGpus under load for that. Like: nvidia-smi -q -x
    """

    def command(self) -> Command:
        """Ask NVML where pynvml is found, on the host or in the server's environment; else nvidia-smi."""
        before = ("find_server", "find_pynvml", "run_smi", "nvml")
        return script("nvml_look", after=before, limit_s=20, max_bytes=4 << 20)

    def recognises(self, text: str, /) -> bool:
        """Know every print of nvidia-smi about GPUs: XML, -q, table, CSV, dmon, -L; and nvtop's."""
        return tells_of_gpus(text)

    def clean(self, text: str, /) -> str:
        """Drop the arguments of processes too, before a secret among them is cut out of the XML."""
        return super().clean(without_arguments(text) if is_xml(text) else text)

    def parse(self, stdout: str, /) -> Gpus:
        """Unite whatever forms the text holds."""
        return read_gpus(stdout)
