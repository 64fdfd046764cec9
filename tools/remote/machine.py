"""The machine or container: processor, limits, memory, what it is a guest of; some of it twice, a second apart.

Goes after find_server.py, whose `find_server` and `say` it uses. The first argument is the server's
port, or nothing. What the kernel prints is passed on as it is.
"""

import glob
import os
import shutil
import subprocess
import sys
import time

WINDOW_S = 1.0
PARAMS = ("DynamicPowerManagement", "RegistryDwords", "RegistryDwordsPerDevice", "EnableStreamMemOPs",
          "EnablePCIeGen3", "EnableGpuFirmware", "EnableResizableBar", "UsePageAttributeTable",
          "PreserveVideoMemoryAllocations")  # fmt: skip
MEMORY = (
    "MemTotal", "MemAvailable", "SwapTotal", "SwapFree", "AnonHugePages", "HugePages_Total", "Hugepagesize",
)  # fmt: skip


def text(path, limit=65536):
    try:
        with open(path, "rb") as file:
            return file.read(limit).decode("utf-8", "replace").strip()
    except OSError:
        return None


def first(*paths):
    return next((said for said in map(text, paths) if said), None)


def run(*argv):
    if not shutil.which(argv[0]):
        return None
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=2, check=False,
                              env=dict(os.environ, LC_ALL="C"))  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace").strip()[:8192]


def counted(values):
    return {value: values.count(value) for value in sorted(set(values))}


def processor():
    blocks = (text("/proc/cpuinfo", 4 << 20) or "").split("\n\n")
    rows = [
        dict(
            (part.strip() for part in line.split(":", 1))
            for line in block.splitlines()
            if ":" in line
        )
        for block in blocks
    ]
    rows = [row for row in rows if "processor" in row]
    cores = {(row.get("physical id"), row.get("core id")) for row in rows if "core id" in row}
    policies = glob.glob("/sys/devices/system/cpu/cpu[0-9]*/cpufreq")
    flags = rows[0].get("flags", "").split() if rows else []
    mhz = [row["cpu MHz"] for row in rows if "cpu MHz" in row]
    return {
        "model": rows[0].get("model name") if rows else None,
        "cpus": len(rows) or os.cpu_count(),
        "cores": len(cores),
        "sockets": len({row.get("physical id") for row in rows if "physical id" in row}),
        "mhz": mhz,
        "hypervisor": "hypervisor" in flags,
        "governors": counted(
            [said for said in (text(path + "/scaling_governor") for path in policies) if said]
        ),
        "driver": first(*(path + "/scaling_driver" for path in policies[:1])),
        "preference": first(*(path + "/energy_performance_preference" for path in policies[:1])),
        "max_khz": first(*(path + "/cpuinfo_max_freq" for path in policies[:1])),
        "boost": first(
            "/sys/devices/system/cpu/cpufreq/boost", "/sys/devices/system/cpu/intel_pstate/no_turbo"
        ),
    }


def guest():
    environment = (text("/proc/1/environ") or "").split("\0")
    mounts = text("/proc/self/mounts", 1 << 20) or ""
    return {
        "detected": run("systemd-detect-virt"),
        "container": next(
            (part[10:] for part in environment if part.startswith("container=")), None
        )
        or first("/run/systemd/container"),
        "docker": os.path.exists("/.dockerenv"),
        "podman": os.path.exists("/run/.containerenv"),
        "kubernetes": os.path.isdir("/var/run/secrets/kubernetes.io")
        or "KUBERNETES_SERVICE_HOST" in os.environ,
        "lxcfs": " /proc/" in mounts and "lxcfs" in mounts,
        "vendor": text("/sys/class/dmi/id/sys_vendor"),
        "product": text("/sys/class/dmi/id/product_name"),
        "bios": text("/sys/class/dmi/id/bios_vendor"),
        "hypervisor_type": text("/sys/hypervisor/type"),
        "cgroup": text("/proc/1/cgroup"),
    }


def groups(pid):
    """Folders of the control group of a process, from its own up to what can be seen of the root."""
    found = []
    for line in (text(f"/proc/{pid}/cgroup") or "").splitlines():
        number, controllers, path = line.split(":", 2)
        if number == "0" or "cpu" in controllers.split(","):
            top = "/sys/fs/cgroup" + ("" if number == "0" else "/" + controllers)
            path = path if "/.." not in path else "/"
            while True:
                folder = (top + path).rstrip("/")
                if os.path.exists(folder + "/cpu.stat") and folder not in found:
                    found.append(folder)
                if path in ("/", ""):
                    break
                path = os.path.dirname(path)
    return found[:16]


def limits(folders):
    names = (
        "cpu.max",
        "cpu.stat",
        "cpu.cfs_quota_us",
        "cpu.cfs_period_us",
        "cpuset.cpus.effective",
        "memory.max",
    )
    said = [{name: text(folder + "/" + name) for name in names} for folder in folders]
    return [{name: what for name, what in row.items() if what is not None} for row in said]


def counters(folders):
    vmstat = [
        line
        for line in (text("/proc/vmstat") or "").splitlines()
        if line.startswith(("pswpin ", "pswpout "))
    ]
    return {
        "at": time.monotonic(),
        "stat": (text("/proc/stat") or "").split("\n")[0],
        "vmstat": "\n".join(vmstat),
        "limits": limits(folders),
    }


def shm(root):
    try:
        room = os.statvfs(root + "/dev/shm")
    except OSError:
        return None
    return {"total": room.f_blocks * room.f_frsize, "free": room.f_bfree * room.f_frsize}


def driver():
    rows = [
        line.split(":", 1)
        for line in (text("/proc/driver/nvidia/params") or "").splitlines()
        if ":" in line
    ]
    power = first(*sorted(glob.glob("/proc/driver/nvidia/gpus/*/power")))
    return {
        "params": {name: value.strip() for name, value in rows if name in PARAMS},
        "power": power,
    }


def arrays():
    found = {}
    for path in glob.glob("/sys/block/md*/md"):
        threads = text(path + "/group_thread_cnt")
        found[path.split("/")[3]] = {"threads": threads, "level": text(path + "/level")}
    return found


def main():
    port = int(sys.argv[1]) if len(sys.argv) > 1 else None
    try:
        server = find_server(port)  # noqa: F821 (of find_server.py)
    except Exception:  # what /proc held can be anything; the machine is told all the same
        server = None
    folders = groups(server["pid"] if server else "self")
    before = counters(folders)
    started = time.monotonic()
    lines = (text("/proc/meminfo") or "").splitlines()
    nodes = glob.glob("/sys/devices/system/node/node[0-9]*")
    said = {
        "processor": processor(),
        "guest": guest(),
        "limits_of": "server" if server else "self",
        "kernel": os.uname().release,
        "cmdline": text("/proc/cmdline"),
        "loadavg": text("/proc/loadavg"),
        "uptime": text("/proc/uptime"),
        "meminfo": "\n".join(line for line in lines if line.split(":")[0] in MEMORY),
        "thp": text("/sys/kernel/mm/transparent_hugepage/enabled"),
        "pressure": {name: text("/proc/pressure/" + name) for name in ("cpu", "memory", "io")},
        "nodes": {path.rpartition("node")[2]: text(path + "/cpulist") for path in nodes},
        "shm": shm(server["root"] if server else ""),
        "aspm": text("/sys/module/pcie_aspm/parameters/policy"),
        "nvidia": driver(),
        "md": arrays(),
        "supplies": run("dmidecode", "-t", "39") if os.geteuid() == 0 else None,
    }
    time.sleep(max(0.0, WINDOW_S - (time.monotonic() - started)))
    return dict(said, before=before, after=counters(folders))


say(main())  # noqa: F821 (of find_server.py)
