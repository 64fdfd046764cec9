"""Every look at CT129, in the order in which a person would follow them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.scenarios.ct129 import gpus, host, remote, serve_log, server, story


@dataclass(frozen=True)
class Look:
    """One look: the probe by name, and what came back."""

    probe: str
    stdout: str
    took_s: float
    arguments: dict[str, Any] = field(default_factory=dict)
    stderr: str = ""
    status: int = 0


def all_looks() -> Iterator[Look]:
    """Return the looks: at rest first, then those over some seconds, under the load of one stream."""
    log, engine = serve_log.write()
    tok_s = float(round(story.ACCEPT_LEN / story.STEP_MS * 1e3))
    yield Look("ReadLaunch", server.launch(), 0.19)
    yield Look("ReadServerInfo", remote.allowed_info(server.server_info(tok_s)), 0.11)
    yield Look("ReadServerLog", remote.filtered_log(log, story.LOG_PATH), 0.61)
    yield Look("ReadModelConfig", server.model_config(), 0.17)
    yield Look("ReadSourceLines", server.source_lines(), 0.62)
    yield Look("ReadEnvironment", server.environment(), 0.15)
    yield Look("ReadGpus", gpus.look(serve_log.FREE_GB), 0.44)
    yield Look("ReadPcieLinks", gpus.links(), 0.21)
    yield Look("ReadTopology", gpus.topology(), 0.87)
    yield Look("ReadNvlinks", gpus.nvlinks(), 0.42)
    yield Look("ReadMachine", host.machine(), 1.31)
    yield Look("ReadProcesses", host.processes(), 0.66)
    yield Look("ReadKernelLog", host.kernel_log(), 0.12)
    yield Look("SampleGpus", gpus.watch(), 5.2)
    yield Look("ReadMetrics", server.metrics(engine, 2.003), 2.1)
    if story.SOURCE:
        yield Look("ReadSourceTexts", server.source_parts(), 1.3)
