"""probes are all the read-only questions there are; PROBES is the table of contents."""

from __future__ import annotations

from typing import Any

from tools.probe import Probe
from tools.probes.all_reduce import ReadAllReduceTest
from tools.probes.benchmark import ReadBenchmark
from tools.probes.burst import ReadBurst
from tools.probes.environment import ReadEnvironment
from tools.probes.gpu_samples import SampleGpus
from tools.probes.gpus import ReadGpus
from tools.probes.kernel_log import ReadKernelLog
from tools.probes.launch import ReadLaunch
from tools.probes.launcher import ReadLauncher
from tools.probes.log_matches import GrepServerLog
from tools.probes.machine import ReadMachine
from tools.probes.metrics import ReadMetrics
from tools.probes.model_config import ReadModelConfig
from tools.probes.nccl import ReadNcclLog
from tools.probes.nvlinks import ReadNvlinks
from tools.probes.pcie_links import ReadPcieLinks
from tools.probes.processes import ReadProcesses
from tools.probes.requests import ReadRequests
from tools.probes.server_info import ReadServerInfo
from tools.probes.server_log import ReadServerLog
from tools.probes.source_lines import ReadSourceLines
from tools.probes.source_listing import ListSource
from tools.probes.source_texts import ReadSourceTexts
from tools.probes.storage import ReadStorage
from tools.probes.topology import ReadTopology
from tools.probes.trials import ReadTrials

PROBES: dict[str, type[Probe[Any]]] = {
    "ReadLaunch": ReadLaunch,
    "ReadLauncher": ReadLauncher,
    "ReadServerInfo": ReadServerInfo,
    "ReadServerLog": ReadServerLog,
    "ReadModelConfig": ReadModelConfig,
    "ReadSourceLines": ReadSourceLines,
    "ReadEnvironment": ReadEnvironment,
    "ReadGpus": ReadGpus,
    "ReadPcieLinks": ReadPcieLinks,
    "ReadTopology": ReadTopology,
    "ReadNvlinks": ReadNvlinks,
    "ReadMachine": ReadMachine,
    "ReadProcesses": ReadProcesses,
    "ReadKernelLog": ReadKernelLog,
    "ReadMetrics": ReadMetrics,
    "SampleGpus": SampleGpus,
    "GrepServerLog": GrepServerLog,
    "ReadNcclLog": ReadNcclLog,
    "ReadAllReduceTest": ReadAllReduceTest,
    "ReadBenchmark": ReadBenchmark,
    "ReadBurst": ReadBurst,
    "ReadRequests": ReadRequests,
    "ListSource": ListSource,
    "ReadSourceTexts": ReadSourceTexts,
    "ReadStorage": ReadStorage,
    "ReadTrials": ReadTrials,
}
