"""The machine under the server: CPU, limits, memory, NUMA, what it is a guest of."""

from __future__ import annotations

from tools.probe import Facts


class Machine(Facts):
    """One machine or container. Counters are since boot unless their name says delta."""

    cpu_model: str | None = None
    cpus: int | None = None  # logical, visible to this system
    threads_per_core: int | None = None
    sockets: int | None = None
    numa_nodes: int | None = None
    numa_cpus: dict[str, str] = {}  # "0" -> "0-31"
    governors: dict[str, int] = {}  # "performance" -> number of cores
    scaling_driver: str | None = None
    mhz_max: float | None = None
    mhz_now: tuple[float, ...] = ()
    virt: str | None = None  # as systemd-detect-virt says: kvm, vmware, lxc, docker, none
    guest_of: str | None = None  # "proxmox" where that can be told
    kernel: str | None = None
    kernel_cmdline: str | None = None
    quota_cpus: float | None = None  # cgroup cpu.max in cores; None: not told or no limit
    quota_told: bool | None = None  # cpu.max was read
    periods: int | None = None
    throttled_periods: int | None = None
    throttled_usec: int | None = None
    throttled_delta: int | None = None  # throttled periods within window_s
    window_s: float | None = None
    load1: float | None = None
    steal_pct: float | None = None
    idle_pct: float | None = None
    mem_total_mib: float | None = None
    mem_available_mib: float | None = None
    swap_used_mib: float | None = None
    swapping_pages: int | None = None  # pages swapped in and out within window_s
    mem_pressure_pct: float | None = None  # PSI some avg10
    cpu_pressure_pct: float | None = None
    io_pressure_pct: float | None = None
    mem_limit_mib: float | None = None  # cgroup memory.max
    limits_of: str | None = None  # whose cgroup: "server" or "self" (the shell that asked)
    cpus_allowed: str | None = None  # cpuset of that cgroup, "0-15"
    shm_total_mib: float | None = None
    shm_used_mib: float | None = None
    up_s: float | None = None
    supply_w: float | None = None  # power supply rating
    aspm_policy: str | None = None
    runtime_d3: str | None = None  # /proc/driver/nvidia/gpus/*/power
    nvidia_params: dict[str, str] = {}  # /proc/driver/nvidia/params, those that bear on speed
    md_threads: dict[str, int] = {}  # md array -> group_thread_cnt
    md_levels: dict[str, str] = {}  # md array -> "raid5"
    missing_paths: tuple[str, ...] = ()  # paths that a listing says do not exist


class Process(Facts):
    """One process as top, ps or /proc tell it."""

    pid: int
    ppid: int | None = None
    name: str | None = None
    cpu_pct: float | None = None  # 100 = one core
    state: str | None = None
    command: str | None = None
    wchan: str | None = None
    threads: int | None = None
    rss_mib: float | None = None
    gpus: tuple[str, ...] = ()  # device files that it holds: "/dev/nvidia0"
    server: bool = False  # the model server or a child of it
    numa_mib: dict[str, float] = {}  # node -> private memory

    def merged(self, other: Process) -> Process:
        """Complete: who is known as the server's stays so."""
        return super().merged(other).model_copy(update={"server": self.server or other.server})


class Processes(Facts):
    """The processes that matter: the server's, the busiest, and those that hold GPUs."""

    rows: tuple[Process, ...] = ()
    idle_pct: float | None = None
    load1: float | None = None

    def merged(self, other: Processes) -> Processes:
        """Unite two looks: rows of one pid complete each other."""
        rows = {row.pid: row for row in self.rows}
        for row in other.rows:
            rows[row.pid] = rows[row.pid].merged(row) if row.pid in rows else row
        return Processes(
            rows=tuple(rows.values()),
            idle_pct=self.idle_pct if other.idle_pct is None else other.idle_pct,
            load1=self.load1 if other.load1 is None else other.load1,
        )


class Storage(Facts):
    """Block devices as iostat tells them; waits in ms."""

    busy_pct: dict[str, float] = {}
    await_ms: dict[str, float] = {}
