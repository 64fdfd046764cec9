"""How a server was started, and what its environment holds."""

from __future__ import annotations

from typing import Literal

from tools.probe import Facts

EngineName = Literal["sglang", "vllm", "other"]
Value = str | int | float | bool | None | tuple[str, ...]


class Launch(Facts):
    """How a server was started: the arguments that were asked for, and where it runs.

    `flags` maps the field's name in the engine (`tp_size`, `disable_cuda_graph`) to the value as
    typed; a switch is True. `flags` is None where the command line was not seen.
    """

    engine: EngineName | None = None
    program: str | None = None
    flags: dict[str, Value] | None = None
    pid: int | None = None
    user: str | None = None
    port: int | None = None
    container: str | None = None  # "docker", "podman", "kubernetes", "lxc", or None
    unit: str | None = None  # systemd unit
    log_path: str | None = None
    source_path: str | None = None  # folder of the installed package
    version: str | None = None
    config_file: str | None = None
    from_config: tuple[str, ...] = ()  # which flags the config file gave, not the command line
    image: str | None = None
    cpus_allowed: str | None = None
    others: tuple[str, ...] = ()  # further model servers of the host: "vllm on port 8000"


class Environment(Facts):
    """The variables of the server's environment that bear on speed, by an allow-list of names."""

    values: dict[str, str]
    dropped: int = 0  # how many others there were
