"""The GPUs of CT129: at rest, under the load of one stream, and how they reach each other.

Forms: tools/remote/nvml_look.py, nvml_sample.py, pci.py and smi_texts.py. Figures of a card at rest
and at work follow captures of RTX A6000 and A5000: P8 with memory at 405 MHz; P2 with 7601 of 8001.
"""

from __future__ import annotations

import json
from typing import Any

from tests.scenarios.ct129 import story

TICKS, HZ = 25, 5.0
RESTING_TICKS = (4, 5)  # of each GPU, before the stream begins: 41 of 50 rows are at work
_COLUMNS = (
    "at", "index", "link_gen", "link_width", "pstate", "util_pct", "mem_util_pct", "sm_mhz", "mem_mhz",
    "power_w", "temp_c", "reason_bits", "rx_mb_s", "tx_mb_s",
)  # fmt: skip
_STATIC = {
    "name": story.GPU_NAME,
    "link_gen_max": 4,
    "link_gen_gpumax": 4,
    "link_gen_hostmax": 4,
    "link_width_max": 16,
    "sm_max_mhz": 2100,
    "mem_max_mhz": 8001,
    "power_limit_w": 300.0,
    "power_default_w": 300.0,
    "slowdown_temp_c": 95,
    "compute_cap": "8.6",
}


def _bus(index: int) -> str:
    return "0000" + story.BDFS[index].upper()


def look(free_gb: float) -> str:
    """Return one look at rest: the link is low, which proves nothing."""
    used = round(49140 - free_gb * 1024 - 310)
    gpus = []
    for index, (temp, power) in enumerate(((37, 24.118), (35, 22.74))):
        gpus.append(
            {
                "index": index, "bdf": _bus(index), "reason_bits": 1, **_STATIC,
                "pstate": 8, "link_gen": 1, "link_width": 16, "sm_mhz": 210, "mem_mhz": 405,
                "power_w": power, "temp_c": temp, "fan_pct": 30, "replays": 0, "tx_mb_s": 0.0, "rx_mb_s": 0.0,
                "util_pct": 0, "mem_util_pct": 0, "mem_total_mib": 49140.0, "mem_used_mib": float(used - 14 * index),
                "bar1_mib": 65536.0, "ecc_on": False, "persistence": True,
                "remapped_uncorrectable": 0, "remap_pending": False, "remap_failed": False,
                "reason_us": {"sw_thermal_slowdown": 0, "hw_thermal_slowdown": 0, "hw_power_brake_slowdown": 0},
                "recovery_action": "None",
            }
        )  # fmt: skip
    processes = [
        {
            "gpu": index,
            "pid": pid,
            "name": f"sglang::scheduler_TP{index}",
            "used_mib": float(used - 14 * index - 296),
        }
        for index, pid in enumerate((story.TP0_PID, story.TP1_PID))
    ]
    told = {
        "nvml": f"{story.VENV}/lib/python3.12/site-packages/pynvml.py",
        "driver": story.DRIVER, "cuda": story.CUDA, "cc_on": False, "attached": 2,
        "gpus": gpus, "processes": processes,
    }  # fmt: skip
    return json.dumps(told) + "\n"


def watch() -> str:
    """Return five seconds, in which a stream begins: it works at the generation of the story."""
    random = story.random()
    rows = []
    for tick in range(TICKS):
        for index in (0, 1):
            at = tick / HZ + 0.004 + 0.021 * index
            rows.append(
                _resting(at, index)
                if tick < RESTING_TICKS[index]
                else _working(at, index, tick, random)
            )
            if tick % 5:
                rows[-1] = [*rows[-1][:-2], None, None]
    told: dict[str, Any] = {
        "watched_s": 5.01, "driver": story.DRIVER, "cuda": story.CUDA, "cc_on": False,
        "gpus": {str(index): {"index": index, "bdf": _bus(index), **_STATIC} for index in (0, 1)},
        "columns": _COLUMNS, "rows": rows,
    }  # fmt: skip
    return json.dumps(told) + "\n"


def _resting(at: float, index: int) -> list[Any]:
    return [
        round(at, 3),
        index,
        1,
        16,
        8,
        0,
        0,
        210,
        405,
        23.6 - index,
        37 - 2 * index,
        1,
        0.0,
        0.0,
    ]


def _working(at: float, index: int, tick: int, random: Any) -> list[Any]:
    warm = min(tick, 12)
    return [
        round(at, 3), index, story.LINK_GEN, 16, 2, 94, random.choice((81, 82, 83)), random.choice((1785, 1800, 1800)), 7601,
        round(random.uniform(243, 252) - 4 * index, 1), 46 + warm - 2 * index, 0,
        round(random.uniform(121, 139), 1), round(random.uniform(121, 139), 1),
    ]  # fmt: skip


def links() -> str:
    """Return the bus from both GPUs to their root ports, by sysfs; lspci may not read capabilities."""
    counters = (
        "RxErr",
        "BadTLP",
        "BadDLLP",
        "Rollover",
        "Timeout",
        "NonFatalErr",
        "CorrIntErr",
        "HeaderOF",
        "TOTAL_ERR_COR",
    )
    quiet = "\n".join(f"{name} 0" for name in counters)
    shared = {
        "numa_node": "0", "current_link_speed": "2.5 GT/s PCIe", "current_link_width": "16",
        "max_link_speed": "16.0 GT/s PCIe", "max_link_width": "16", "aer_dev_correctable": quiet,
        "runtime_status": "active",
    }  # fmt: skip
    devices = []
    for bdf, port in zip(story.BDFS, story.PORTS, strict=True):
        devices.append(
            {
                "vendor": "0x10de",
                "device": "0x2230",
                "class": "0x030000",
                **shared,
                "l1_aspm": "0",
                "control": "on",
                "bdf": bdf,
                "parent": port,
            }
        )
        devices.append(
            {
                "vendor": "0x1022",
                "device": "0x1483",
                "class": "0x060400",
                **shared,
                "control": "auto",
                "bdf": port,
                "parent": None,
            }
        )
    names = [
        f"{port} PCI bridge: Advanced Micro Devices, Inc. [AMD] Starship/Matisse GPP Bridge"
        for port in story.PORTS
    ]
    names += [
        f"{bdf} VGA compatible controller: NVIDIA Corporation GA102GL [RTX A6000] (rev a1)"
        for bdf in story.BDFS
    ]
    names.append(
        f"{names[2]} (prog-if 00 [VGA controller])\n\tSubsystem: NVIDIA Corporation Device 1459\n\tControl: I/O+ Mem+ BusMaster+ SpecCycle- MemWINV- VGASnoop- ParErr- Stepping- SERR- FastB2B- DisINTx+\n\tStatus: Cap+ 66MHz- UDF- FastB2B- ParErr- DEVSEL=fast >TAbort- <TAbort- <MAbort- >SERR- <PERR- INTx-\n\tLatency: 0\n\tInterrupt: pin A routed to IRQ 171\n\tNUMA node: 0\n\tRegion 0: Memory at f4000000 (32-bit, non-prefetchable) [size=16M]\n\tRegion 1: Memory at 28000000000 (64-bit, prefetchable) [size=64G]\n\tCapabilities: <access denied>\n\tKernel driver in use: nvidia\n"
    )
    return json.dumps({"devices": devices, "others": [], "lspci": "\n".join(names)}) + "\n"


def topology() -> str:
    """Return both matrices of nvidia-smi: one host bridge, and peer access works."""
    matrix = (
        "\t\x1b[4mGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n"
        "GPU0\t X \tPHB\t0-31\t0\t\tN/A\n"
        "GPU1\tPHB\t X \t0-31\t0\t\tN/A\n\n"
        "Legend:\n\n"
        "  X    = Self\n"
        "  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)\n"
        "  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges within a NUMA node\n"
        "  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)\n"
        "  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host Bridge)\n"
        "  PIX  = Connection traversing at most a single PCIe bridge\n"
        "  NV#  = Connection traversing a bonded set of # NVLinks"
    )
    peers = (
        " \t\x1b[4mGPU0\tGPU1\x1b[0m\t\n GPU0\tX\tOK\t\n GPU1\tOK\tX\t\n\nLegend:\n\n"
        "  X    = Self\n  OK   = Status Ok\n  CNS  = Chipset not supported\n  GNS  = GPU not supported\n"
        "  TNS  = Topology not supported\n  NS   = Not supported\n  U    = Unknown"
    )
    return f"$ nvidia-smi topo -m\n{matrix}\n\n$ nvidia-smi topo -p2p r\n{peers}\n"


def nvlinks() -> str:
    """Return what nvidia-smi says of cards without a bridge between them."""
    silent = "Unable to retrieve NVLink information as all links are inActive"
    cards = "\n".join(
        f"GPU {n}: {story.GPU_NAME} (UUID: GPU-{n:08d}-0000-4000-8000-{story.SEED:012d})\n{silent}"
        for n in (0, 1)
    )
    return f"$ nvidia-smi nvlink -s\n{cards}\n\n$ nvidia-smi nvlink -e\n{cards}\n"
