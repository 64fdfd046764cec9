"""The machine under the server: CPU, limits, memory, NUMA, what it is a guest of."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from tools.linux.machine_virt import host_of
from tools.probe import Facts

PERIOD_S = 0.1  # cgroup's default cpu.cfs_period
_HOUR_OF_PERIODS = 36_000
_OF_A_CONTAINER = ("quota_told", "quota_cpus", "mem_limit_mib", "cpus_allowed", "shm_total_mib")


class RdmaPort(Facts):
    """One port of an RDMA card. `layer` is "InfiniBand" or "Ethernet" (RoCE)."""

    name: str  # "mlx5_0/1": card and port
    state: str  # "Active", "Down", "Initializing"
    physical: str | None = None  # "LinkUp", "Disabled", "Polling"
    rate_gbit_s: float | None = None
    layer: str | None = None
    card_type: str | None = None  # "MT4129"; ibstatus does not tell it


class Machine(Facts):
    """One machine or container. Counters are since boot unless their name says delta."""

    cpu_model: str | None = None
    cpus: int | None = None  # logical, visible to this system
    threads_per_core: int | None = None
    sockets: int | None = None
    numa_nodes: int | None = None
    numa_cpus: dict[str, str] = {}  # "0" -> "0-31"
    numa_mib: dict[str, float] = {}  # memory of each node
    numa_far_pct: float | None = None  # of all pages since boot, taken by programs of another node
    governors: dict[str, int] = {}  # "performance" -> number of cores
    scaling_driver: str | None = None
    mhz_max: float | None = None
    mhz_min: float | None = None  # the lowest step that the policy may choose
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
    soft_pct: dict[str, float] = {}  # of each core's time in network and timer interrupts (mpstat)
    mem_total_mib: float | None = None
    mem_available_mib: float | None = None
    swap_used_mib: float | None = None
    swapping_pages: int | None = None  # pages swapped in and out within window_s
    mem_pressure_pct: float | None = None  # PSI some avg10
    cpu_pressure_pct: float | None = None
    io_pressure_pct: float | None = None
    mem_limit_mib: float | None = None  # cgroup memory.max
    mem_current_mib: float | None = None  # of that limit in use
    group_oom_kills: int | None = None  # cgroup memory.events oom_kill
    oom_killed: bool | None = None  # the container or unit ended for want of memory
    limits_of: str | None = None  # whose cgroup: "server" or "self" (the shell that asked)
    cpus_allowed: str | None = None  # cpuset of that cgroup, or of taskset, "0-15"
    nice: int | None = None  # of the server's unit
    ulimits: dict[str, str] = {}  # "open files" -> "1024"
    shm_total_mib: float | None = None
    shm_used_mib: float | None = None
    up_s: float | None = None
    dimms: int | None = None  # memory modules fitted
    dimm_slots: int | None = None
    dimm_mt_s: float | None = None  # as the slowest runs, million transfers a second
    dimm_rated_mt_s: float | None = None  # as they are sold
    dimm_gb_s: float | None = None  # what they move at most
    mounts: dict[str, str] = {}  # "/models" -> "nfs4"; those of the kernel itself left out
    full_pct: dict[str, float] = {}  # file systems on disks, by path
    rdma: tuple[RdmaPort, ...] = ()
    rdma_counts: dict[str, int] = {}  # "mlx5_0/1 out_of_sequence": since the driver was loaded
    rdma_grown: dict[str, int] = {}  # the same names, between two readings
    clocksource: str | None = None  # what the kernel reads the time from: "tsc", "hpet"
    channels_empty: tuple[str, ...] = ()  # memory channels without a module: "P0 CHANNEL H"
    supply_w: float | None = None  # power supply rating
    aspm_policy: str | None = None
    runtime_d3: str | None = None  # /proc/driver/nvidia/gpus/*/power
    nvidia_params: dict[str, str] = {}  # /proc/driver/nvidia/params, those that bear on speed
    md_threads: dict[str, int] = {}  # md array -> group_thread_cnt
    md_levels: dict[str, str] = {}  # md array -> "raid5"
    missing_paths: tuple[str, ...] = ()  # paths that a listing says do not exist
    nvidia_module: str | None = None  # version of the loaded kernel module: "570.133.20"
    nvidia_library: str | None = None  # version of NVML, where it refuses that module
    nvml_unknown_error: bool | None = (
        None  # NVML fails so where a container may not open the devices
    )
    fabric_manager: str | None = None  # what it says at its end: "no NVSwitch", "other version"
    thp: str | None = None  # transparent huge pages: "always", "madvise", "never"
    huge_mib: float | None = None  # memory in huge pages, of either kind
    nvidia_mismatch: bool | None = None  # NVML refuses the module as one of another version
    contradictions: tuple[str, ...] = ()  # texts of two machines: "CPU AMD ... against Intel ..."

    def merged(self, other: Machine) -> Machine:
        """Complete; two looks at one cgroup's counters give what happened between them.

        Texts that name two processors are of two machines: that is kept as a contradiction.
        """
        both = super().merged(other)
        update = self._kept(other)
        update |= {"guest_of": both.guest_of or host_of(both.virt, both.kernel)}
        if self.cpu_model and other.cpu_model and self.cpu_model != other.cpu_model:
            said = f"CPU {self.cpu_model} against {other.cpu_model}"
            update["contradictions"] = (*both.contradictions, said)
        if both.throttled_delta is None and self.quota_cpus == other.quota_cpus:
            update |= between(_counted(self), _counted(other))
        return both.model_copy(update=update)

    def _kept(self, other: Machine) -> dict[str, object]:
        """Return the limits of the server's own container, which a look at the host does not replace."""
        if self.limits_of != "server" or other.limits_of == "server":
            return {}
        told = {name: getattr(self, name) for name in ("limits_of", *_OF_A_CONTAINER)}
        return {name: value for name, value in told.items() if value is not None}

    @property
    def mixed(self) -> str:
        """Say why these facts cannot be of one machine, empty where nothing speaks against it."""
        return self.contradictions[0] if self.contradictions else ""


def _counted(look: Machine) -> tuple[int, int] | None:
    if look.periods is None or look.throttled_periods is None:
        return None
    return look.periods, look.throttled_periods


def between(one: tuple[int, int] | None, other: tuple[int, int] | None) -> dict[str, object]:
    """Return throttled periods and seconds between two readings of a group, in either order.

    A reading is (periods, throttled periods); without both there is nothing to tell.
    """
    if one is None or other is None:
        return {}
    periods, throttled = (abs(after - before) for before, after in zip(one, other, strict=True))
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
    wait_pct: float | None = None  # of the time, ready to run and without a core (pidstat %wait)
    preempted_s: float | None = None  # times a second it lost its core (pidstat nvcswch/s)
    gpus: tuple[str, ...] = ()  # device files that it holds: "/dev/nvidia0"
    server: bool = False  # the model server or a child of it
    numa_mib: dict[str, float] = {}  # node -> private memory

    def merged(self, other: Process) -> Process:
        """Complete: who is known as the server's stays so."""
        return super().merged(other).model_copy(update={"server": self.server or other.server})


class Stack(Facts):
    """Where a thread of a Python process stands, the innermost call first."""

    pid: int
    process: str = ""  # its command line, or the title it gave itself: "sglang::scheduler_TP0"
    tid: str = ""
    thread: str = ""
    active: bool = False  # on a core, not waiting
    gil: bool = False  # it holds Python's lock
    frames: tuple[str, ...] = ()  # "recv_requests (sglang/srt/managers/scheduler.py:1042)"
    seen: int = 1  # looks in which it stood there


class Processes(Facts):
    """The processes that matter: the server's, the busiest, and those that hold GPUs.

    A row with pid 0 is one whose number was not told.
    """

    rows: tuple[Process, ...] = ()
    stacks: tuple[Stack, ...] = ()
    idle_pct: float | None = None
    steal_pct: float | None = None
    load1: float | None = None

    def merged(self, other: Processes) -> Processes:
        """Unite two looks: rows of one pid complete each other, stacks that stay are counted."""
        rows = {row.pid or row.name: row for row in self.rows}
        for row in other.rows:
            key = row.pid or row.name
            rows[key] = rows[key].merged(row) if key in rows else row
        return Processes(
            rows=tuple(rows.values()),
            stacks=joined_stacks(self.stacks, other.stacks),
            idle_pct=self.idle_pct if other.idle_pct is None else other.idle_pct,
            steal_pct=self.steal_pct if other.steal_pct is None else other.steal_pct,
            load1=self.load1 if other.load1 is None else other.load1,
        )


def joined_stacks(*looks: Iterable[Stack]) -> tuple[Stack, ...]:
    """Unite looks at threads; what stands in the same calls again is counted."""
    found: dict[tuple[int, str], Stack] = {}
    for one in chain(*looks):
        before = found.get((one.pid, one.tid))
        same = before is not None and before.frames == one.frames
        times = one.seen + before.seen if before and same else one.seen
        found[one.pid, one.tid] = one.model_copy(update={"seen": times})
    return tuple(found.values())


class Storage(Facts):
    """Block devices as iostat tells them; waits in ms."""

    busy_pct: dict[str, float] = {}
    await_ms: dict[str, float] = {}
