"""Storage that holds up a start: one saturated layer, or weights that come over a network."""

from __future__ import annotations

from tools.engine import Arguments, Launch, ServerLog
from tools.errors import Undecided
from tools.linux.machine import Machine, Processes, Storage
from tools.rule import Cleared, Finding, Outcome, rule

BUSY_PCT = 90.0
IDLE_PCT = 50.0
NETWORK_FILES = (
    "nfs",
    "cifs",
    "smb",
    "ceph",
    "fuse.",
    "lustre",
    "glusterfs",
    "beegfs",
    "9p",
    "virtiofs",
    "gpfs",
    "wekafs",
)
LONG_LOAD_S = 120.0
LOCAL_GB_S = 2.0  # sequential reads of one NVMe of the last generations: 2 to 14 GB/s
SLOW_MS = 50.0  # an SSD answers in under 2 ms; 50 is a queue, whatever lies below


@rule(cause="storage_load_bound")
def one_layer_of_storage_full(
    storage: Storage, processes: Processes | None, machine: Machine | None
) -> Outcome:
    """One layer of the storage is saturated while the disks below it idle."""
    full = [name for name, busy in storage.busy_pct.items() if busy >= BUSY_PCT]
    if not full:
        return Cleared("no block device is saturated") if storage.busy_pct else None
    arrays = [name for name in full if name.startswith(("md", "dm-"))]
    below = {
        name: busy for name, busy in storage.busy_pct.items() if not name.startswith(("md", "dm-"))
    }
    waits = storage.await_ms
    quotes = tuple(
        f"{name} {storage.busy_pct[name]:.0f} %, wait {waits.get(name, 0):.1f} ms" for name in full
    )
    if arrays and below and max(below.values()) < IDLE_PCT:
        threads = _md_threads(processes)
        alone = [name for name in arrays if machine and machine.md_threads.get(name) == 0]
        return Finding(
            statement=(
                f"{arrays[0]} is saturated while its disks are at most {max(below.values()):.0f} %"
                f" busy{f': one kernel thread ({threads}) does all the work' if threads else ''}."
            ),
            confidence=0.9 if threads or alone else 0.75,
            slows=frozenset(("start",)),
            quotes=(*quotes, *((f"{alone[0]} group_thread_cnt 0",) if alone else ())),
        )
    slow = [name for name in full if waits.get(name, 0.0) >= SLOW_MS]
    if slow:
        return Finding(
            statement=f"{slow[0]} is saturated: loading waits for the disk.",
            confidence=0.6,
            slows=frozenset(("start",)),
            quotes=quotes,
        )
    raise Undecided(
        f"{full[0]} is busy; NVMe disks count as busy with one request at a time",
        settle="cat of one shard to /dev/null against the loader's rate",
        suspicion=0.15,
    )


@rule(cause="storage_load_bound")
def weights_over_a_network(
    machine: Machine, launch: Launch | None, log: ServerLog | None
) -> Outcome:
    """The weights are read over a network while the server starts."""
    args = Arguments(launch, None, log)
    model = str(args.value("model_path") or "")
    above = [path for path in machine.mounts if model.startswith(path.rstrip("/") + "/")]
    where = max(above, key=len, default=None)
    if where is None or not model.startswith("/"):
        return None
    kind = machine.mounts[where]
    if not kind.startswith(NETWORK_FILES):
        return Cleared(f"the weights lie on {kind} ({where})")
    if log and log.load_s and log.load_s >= LONG_LOAD_S:
        return _slow_load(log, log.load_s, (args.tp or 1) * (args.count("pp_size") or 1), kind)
    raise Undecided(
        f"the weights lie on {kind} ({where}), so a start reads them over the network; how fast, is not told",
        settle="dd if=ONE_SHARD of=/dev/null bs=16M, against the seconds of the loader in the log",
        suspicion=0.1,
    )


def _slow_load(log: ServerLog, took_s: float, ranks: int, kind: str) -> Outcome:
    whole_gb = (log.weights_gb or 0.0) * 1.0737 * ranks  # the logs print GiB
    rate = whole_gb / took_s
    if rate >= LOCAL_GB_S:
        return Cleared(f"the weights were read at {rate:.1f} GB/s over {kind}")
    how = f", {rate:.2f} GB/s" if whole_gb else ""
    return Finding(
        statement=f"Reading the weights over {kind} took {took_s:.0f} s{how}: one local NVMe reads"
        f" {LOCAL_GB_S:.0f} GB/s and more.",
        confidence=0.8,
        slows=frozenset(("start",)),
        remedy=(
            "Keep a copy on a local NVMe, or use a loader that streams (--load-format runai_streamer,"
            " fastsafetensors).",
            "Over a network, read files whole instead of mapping them: --weight-loader-disable-mmap,"
            " --safetensors-load-strategy eager.",
        ),
        quotes=(f"loading took {took_s:.0f} s",),
    )


def _md_threads(processes: Processes | None) -> str:
    for row in processes.rows if processes else ():
        if (
            row.name
            and row.name.startswith("md")
            and "_raid" in row.name
            and (row.cpu_pct or 0) >= BUSY_PCT
        ):
            return f"{row.name} at {row.cpu_pct:.0f} %"
    return ""


RULES = (one_layer_of_storage_full, weights_over_a_network)
