"""The container CT129 and its Proxmox host, as far as a container sees it.

Forms: tools/remote/machine.py and kernel_log.py.
"""

from __future__ import annotations

import json

from tests.scenarios.ct129 import story

CPUS = 32
UNIT = "/sys/fs/cgroup/system.slice/sglang.service"
_STAT = "usage_usec {usage}\nuser_usec {user}\nsystem_usec {system}\nnice_usec 0\ncore_sched.force_idle_usec 0\nnr_periods 0\nnr_throttled 0\nthrottled_usec 0\nnr_bursts 0\nburst_usec 0"


def _limits(usage: int) -> list[dict[str, str]]:
    rows: list[dict[str, str]] = []
    for share in (1.0, 1.004, 1.02):
        used = round(usage * share)
        stat = _STAT.format(usage=used, user=round(used * 0.71), system=used - round(used * 0.71))
        rows.append({"cpu.stat": stat})
    for row in rows[:2]:
        row |= {"cpu.max": "max 100000", "memory.max": "max"}
    rows[0]["cpuset.cpus.effective"] = rows[1]["cpuset.cpus.effective"] = rows[2][
        "cpuset.cpus.effective"
    ] = "0-31"
    return rows


def _counters(at: float, busy: int, idle: int, usage: int) -> dict[str, object]:
    stat = f"cpu  {busy * 8 // 10} 0 {busy * 2 // 10} {idle} 118 0 4021 0 0 0"
    return {"at": at, "stat": stat, "vmstat": "pswpin 0\npswpout 0", "limits": _limits(usage)}


def machine() -> str:
    """Return the machine: a container on Proxmox, whose processor is held back by nothing."""
    random = story.random()
    told = {
        "processor": {
            "model": "AMD EPYC 7302P 16-Core Processor",
            "cpus": CPUS,
            "cores": 16,
            "sockets": 1,
            "mhz": [f"{random.uniform(2994, 3296):.3f}" for _ in range(CPUS)],
            "hypervisor": False,
            "governors": {"performance": CPUS},
            "driver": "acpi-cpufreq",
            "preference": None,
            "max_khz": "3000000",
            "boost": "1",
        },
        "guest": {
            "detected": "lxc",
            "container": "lxc",
            "docker": False,
            "podman": False,
            "kubernetes": False,
            "lxcfs": True,
            "vendor": "Supermicro",
            "product": "Super Server",
            "hypervisor_type": None,
            "cgroup": "0::/init.scope",
        },
        "limits_of": "server",
        "kernel": "6.14.11-4-pve",
        "cmdline": "BOOT_IMAGE=/boot/vmlinuz-6.14.11-4-pve root=/dev/mapper/pve-root ro quiet amd_iommu=on iommu=pt",
        "loadavg": "2.31 1.62 1.49 3/611 24117",
        "uptime": "1123402.11 1102238.54",
        "meminfo": "MemTotal:       134217728 kB\nMemAvailable:   113180412 kB\nHugePages_Total:       0\nSwapTotal:             0 kB\nSwapFree:              0 kB",
        "pressure": dict.fromkeys(
            ("cpu", "memory", "io"),
            "some avg10=0.00 avg60=0.00 avg300=0.00 total=48213\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=31877",
        ),
        "nodes": {"0": "0-31"},
        "shm": {"total": 67516084224, "free": 67409129472},
        "aspm": "[default] performance powersave powersupersave ",
        "nvidia": {
            "params": {
                "DynamicPowerManagement": "3",
                "EnablePCIeGen3": "0",
                "EnableGpuFirmware": "18",
                "EnableResizableBar": "0",
            },
            "power": "Runtime D3 status:          Disabled by default\nVideo Memory:               Active\n\nGPU Hardware Support:\n Video Memory Self Refresh: Not Supported\n Video Memory Off:          Not Supported",
        },
        "md": {},
        "supplies": None,
        "before": _counters(1123402.114, 4_812_033, 339_017_482, 61_204_118_420),
        "after": _counters(1123403.116, 4_812_262, 339_020_457, 61_206_370_902),
    }
    return json.dumps(told) + "\n"


def kernel_log() -> str:
    """Return that an unprivileged container may not read it."""
    why = (
        "the kernel log may not be read (journalctl: it shows no line of the kernel; "
        "dmesg: dmesg: read kernel buffer failed: Operation not permitted)"
        ": in a container, ask on its host; else add this user to the group adm or systemd-journal"
    )
    return json.dumps({"failed": why}) + "\n"


def processes() -> str:
    """Return the server's processes; each scheduler polls on one core, as it does at rest too."""
    devices = {story.TP0_PID: ["/dev/nvidia0"], story.TP1_PID: ["/dev/nvidia1"]}
    python = f"{story.VENV}/bin/python3"
    rows = [
        (story.MAIN_PID, 1, "python3", "S", 58, 2011.4, 1.9, f"{python} -m sglang.launch_server"),
        (story.MAIN_PID + 3, story.MAIN_PID, "python3", "S", 1, 14.2, 0.0, python),
        (
            story.TP0_PID,
            story.MAIN_PID,
            "sglang::schedul",
            "R",
            97,
            5120.8,
            99.8,
            "sglang::scheduler_TP0",
        ),
        (
            story.TP1_PID,
            story.MAIN_PID,
            "sglang::schedul",
            "R",
            95,
            5088.1,
            99.6,
            "sglang::scheduler_TP1",
        ),
        (
            story.DETOKENIZER_PID,
            story.MAIN_PID,
            "sglang::detoken",
            "S",
            36,
            1240.7,
            0.0,
            "sglang::detokenizer",
        ),
    ]
    names = ("pid", "ppid", "name", "state", "threads", "rss_mib", "cpu_pct", "command")
    told = [
        dict(zip(names, row, strict=True))
        | {"wchan": None, "gpus": devices.get(row[0], []), "server": True}
        for row in rows
    ]
    return (
        json.dumps({"rows": told, "hidden": 0, "window_s": 0.501, "idle_pct": 93.4, "load1": 2.31})
        + "\n"
    )
