"""How GPUs reach each other and the network."""

from __future__ import annotations

from tools.errors import Absent, Unreadable
from tools.host import Command, script
from tools.nvidia.any_report import plain
from tools.nvidia.nvbandwidth import is_nvbandwidth, read_nvbandwidth
from tools.nvidia.p2p_test import is_p2p_test, read_p2p_test
from tools.nvidia.refusal import refuse
from tools.nvidia.topo_matrix import is_matrix, read_matrix
from tools.nvidia.topology import Topology
from tools.probe import Probe, told


class ReadTopology(Probe[Topology]):
    """Read the paths between GPUs: NVLink, a switch, a host bridge or sockets, and who may reach whom.

    It names the kind of each path, not its quality. Like: nvidia-smi topo -m; nvidia-smi topo -p2p r
    """

    def command(self) -> Command:
        """Ask nvidia-smi for both matrices."""
        return script("smi_texts", "topology", after=("run_smi",), limit_s=18)

    def recognises(self, text: str, /) -> bool:
        """Know a matrix of nvidia-smi topo, and what p2pBandwidthLatencyTest and nvbandwidth print."""
        lines = plain(text)
        return is_matrix(lines) or is_p2p_test(lines) or is_nvbandwidth(lines)

    def parse(self, stdout: str, /) -> Topology:
        """Unite all matrices of the text."""
        lines = plain(stdout)
        if is_nvbandwidth(lines):
            return _measured(read_nvbandwidth(lines))
        if stdout.lstrip()[:1] == "{":
            told(stdout)
        topology = read_matrix(lines).merged(read_p2p_test(lines))
        if topology == Topology():
            refuse(lines)
            if not lines.strip():
                raise Absent("nvidia-smi printed no topology")
            raise Unreadable("no matrix of nvidia-smi topo in it")
        return topology


def _measured(topology: Topology) -> Topology:
    if topology == Topology():
        raise Absent("nvbandwidth ended without a test of one link that it could do")
    return topology
