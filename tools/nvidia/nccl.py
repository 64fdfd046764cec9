"""What NCCL says of its paths, and what its own test measured."""

from __future__ import annotations

from tools.probe import Facts


class NcclLog(Facts):
    """NCCL's INFO lines. `paths` counts channels by transport: "P2P/IPC", "SHM", "NET/Socket", "NET/IB"."""

    version: str | None = None
    network: str | None = None  # "Socket", "IB"
    interface: str | None = None
    paths: dict[str, int] = {}
    ibverbs_missing: bool | None = None
    env: dict[str, str] = {}  # variables NCCL says were set
    graph_bw_gb_s: float | None = None  # lowest of the graph search
    graph_channels: int | None = None
    errors: tuple[str, ...] = ()
    ranks: int | None = None
    ready: bool | None = None  # "Init COMPLETE" was printed
    gdr_refused: tuple[str, ...] = ()  # RDMA cards for which NCCL says that it is disabled
    nvls_channels: int | None = None  # reductions in the switch, from Hopper on
    without_gdr: tuple[str, ...] = ()  # machines that receive without it, where another one has it
    gdr: bool | None = None  # network paths use GPUDirect RDMA; None: there are no network paths


class AllReduceTest(Facts):
    """all_reduce_perf: bus bandwidth by message size in bytes; of other collectives their state alone."""

    busbw_gb_s: dict[int, float] = {}
    time_us: dict[int, float] = {}  # of one call, by the same sizes, out of place
    gpus: int | None = None
    wrong: int | None = None  # values that came out wrong
    finished: bool | None = None  # the closing lines were printed; False: it hung, or was ended
    took_s: float | None = None  # wall clock, where `time` was put before it
    error: str | None = None  # what the test ended with
