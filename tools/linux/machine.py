"""The machine under the server: CPU, limits, memory, NUMA, what it is a guest of."""

from __future__ import annotations

from tools.linux.machine_virt import host_of
from tools.probe import Facts

PERIOD_S = 0.1  # cgroup's default cpu.cfs_period
_HOUR_OF_PERIODS = 36_000


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
    nvidia_module: str | None = None  # version of the loaded kernel module: "570.133.20"
    nvidia_library: str | None = None  # version of NVML, where it refuses that module
    nvidia_mismatch: bool | None = None  # NVML refuses the module as one of another version
    contradictions: tuple[str, ...] = ()  # texts of two machines: "CPU AMD ... against Intel ..."

    def merged(self, other: Machine) -> Machine:
        """Complete; two looks at one cgroup's counters give what happened between them.

        Texts that name two processors are of two machines: that is kept as a contradiction.
        """
        both = super().merged(other)
        update: dict[str, object] = {"guest_of": both.guest_of or host_of(both.virt, both.kernel)}
        if self.cpu_model and other.cpu_model and self.cpu_model != other.cpu_model:
            said = f"CPU {self.cpu_model} against {other.cpu_model}"
            update["contradictions"] = (*both.contradictions, said)
        if both.throttled_delta is None and self.quota_cpus == other.quota_cpus:
            update |= _between(self, other)
        return both.model_copy(update=update)

    @property
    def mixed(self) -> str:
        """Say why these facts cannot be of one machine, empty where nothing speaks against it."""
        return self.contradictions[0] if self.contradictions else ""


def _between(one: Machine, other: Machine) -> dict[str, object]:
    """Return throttled periods and seconds between two looks at the counters, in either order."""
    told = [
        (look.periods, look.throttled_periods)
        for look in (one, other)
        if look.periods is not None and look.throttled_periods is not None
    ]
    if len(told) < 2:
        return {}
    periods, throttled = (abs(after - before) for before, after in zip(*told, strict=True))
    if not 0 < periods <= _HOUR_OF_PERIODS or throttled > periods:
        return {}  # the same look twice, or of two containers
    return {"throttled_delta": throttled, "window_s": periods * PERIOD_S}


def stolen_pct(machine: Machine, processes: Processes | None) -> float | None:
    """Return the share of CPU time that the hypervisor gave to others, as vmstat or top tell it."""
    told = machine.steal_pct
    return told if told is not None or processes is None else processes.steal_pct


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
    steal_pct: float | None = None
    load1: float | None = None

    def merged(self, other: Processes) -> Processes:
        """Unite two looks: rows of one pid complete each other."""
        rows = {row.pid: row for row in self.rows}
        for row in other.rows:
            rows[row.pid] = rows[row.pid].merged(row) if row.pid in rows else row
        return Processes(
            rows=tuple(rows.values()),
            idle_pct=self.idle_pct if other.idle_pct is None else other.idle_pct,
            steal_pct=self.steal_pct if other.steal_pct is None else other.steal_pct,
            load1=self.load1 if other.load1 is None else other.load1,
        )


class Storage(Facts):
    """Block devices as iostat tells them; waits in ms."""

    busy_pct: dict[str, float] = {}
    await_ms: dict[str, float] = {}
