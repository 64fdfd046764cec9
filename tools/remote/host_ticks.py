"""What the host itself does under load: cores, the server's processes, its cgroup. A prelude.

It gives `Cores` and `edges`, whose two readings around a load tell what happened in between.
"""

# Goes after proc.py
# ruff: noqa: F821
# What has no definition here is that of proc.py, whose text goes before this one.

import os
import re
import time

_CORES = 1024
_ERRORS = ("aer_dev_correctable", "aer_dev_nonfatal", "aer_dev_fatal")
_GROUPS = "/sys/fs/cgroup"


def _busy():
    """Return {core: (busy, all)} in ticks since boot."""
    text = (_raw("/proc/stat", 1 << 20) or b"").decode("ascii", "replace")
    found = {}
    for core, rest in re.findall(r"(?m)^cpu(\d+) (.*)$", text)[:_CORES]:
        ticks = [int(part) for part in rest.split()[:8]]
        found[int(core)] = (sum(ticks) - ticks[3] - ticks[4], sum(ticks))
    return found


class Cores:
    """Load of each core in percent, since the reading before."""

    def __init__(self):
        self.before, self.rows = _busy(), []

    def tick(self, at):
        """Add one row: seconds, then a whole number for each core."""
        now = _busy()
        shares = []
        for core in sorted(now):
            busy, every = now[core]
            was, then = self.before.get(core, (busy, every))
            shares.append(round(100 * (busy - was) / (every - then)) if every > then else 0)
        self.before = now
        self.rows.append([round(at, 2), *shares])


def _cgroups(pid):
    """Return the folders of a process' cgroup and those above it: a limit of each may bite."""
    text = _of(pid, "cgroup")
    old = re.search(r"(?m)^\d+:([^:\n]*\bcpu\b[^:\n]*):(/.*)$", text)
    new = re.search(r"(?m)^0::(/.*)$", text)
    path = old.group(2) if old else new.group(1) if new else "/"
    top = _GROUPS + "/" + old.group(1) if old else _GROUPS
    folders = []
    while True:
        folders.append(top + path.rstrip("/"))
        if path in ("/", ""):
            return folders
        path = os.path.dirname(path)


def _throttled(pid):
    found = {}
    for folder in _cgroups(pid):
        text = (_raw(folder + "/cpu.stat", 8192) or b"").decode("ascii", "replace")
        for name, value in re.findall(
            r"(?m)^(nr_periods|nr_throttled|throttled_usec|throttled_time) (\d+)$", text
        ):
            value = int(value) // 1000 if name == "throttled_time" else int(value)
            name = "throttled_usec" if name == "throttled_time" else name
            found[name] = max(found.get(name, 0), value)
    return found


def _spent(pid):
    """Return CPU seconds of a process."""
    words = _of(pid, "stat").rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK") if len(words) > 12 else 0.0


def _paths():
    """Return the folders of NVIDIA's GPUs and of every port above them."""
    top, found = "/sys/bus/pci/devices", {}
    try:
        devices = sorted(os.listdir(top))[:2048]
    except OSError:
        return []
    for device in devices:
        kind = _raw(os.path.join(top, device, "class"), 16) or b""
        if kind.startswith(b"0x03") and (
            _raw(os.path.join(top, device, "vendor"), 16) or b""
        ).startswith(b"0x10de"):
            path = os.path.realpath(os.path.join(top, device))
            while re.match(r"[0-9a-f]{4,}:[0-9a-f]{2}:", os.path.basename(path)):
                found[path] = None
                path = os.path.dirname(path)
    return list(found)


def _port_errors():
    """Return {device: errors since boot} of GPUs and the ports above them, where they count any."""
    found = {}
    for path in _paths():
        text = b"".join(_raw(os.path.join(path, name), 4096) or b"" for name in _ERRORS)
        counts = [int(n) for n in re.findall(rb"(?m)^TOTAL_ERR_\w+ (\d+)$", text)]
        if counts:
            found[os.path.basename(path)] = sum(counts)
    return found


def edges(server):
    """Return what counts up, at this moment."""
    pids = [server["pid"]] + [child["pid"] for child in server["children"]] if server else []
    named = {child["pid"]: child["title"] for child in server["children"]} if server else {}
    return {
        "at": time.monotonic(),
        "cpu_s": {
            str(pid): [named.get(pid, "main")[:40], round(_spent(pid), 2)] for pid in pids[:64]
        },
        "cgroup": _throttled(pids[0]) if pids else {},
        "pcie_errors": _port_errors(),
    }


def between(first, last):
    """Return the deltas of two readings."""
    took = last["at"] - first["at"]
    told = {
        "window_s": round(took, 2),
        "load": os.getloadavg()[0],
        "cores": len(os.sched_getaffinity(0)),
    }
    told["processes"] = [
        [name, round(100 * (spent - first["cpu_s"].get(pid, [name, spent])[1]) / took)]
        for pid, (name, spent) in last["cpu_s"].items()
    ]
    told["cgroup"] = {
        name: value - first["cgroup"].get(name, value) for name, value in last["cgroup"].items()
    }
    rose = {
        name: count - first["pcie_errors"].get(name, count)
        for name, count in last["pcie_errors"].items()
    }
    told["pcie_errors"] = {name: count for name, count in rose.items() if count}
    told["pcie_counted"] = len(last["pcie_errors"])
    return told
