"""What NVML tells of each GPU: a prelude of the scripts that look once or watch for seconds."""

import os
from contextlib import suppress

# name of GpuSample, function of NVML, its further arguments, factor
SIMPLE = (
    ("name", "Name", (), None), ("pstate", "PerformanceState", (), 1),
    ("link_gen", "CurrPcieLinkGeneration", (), 1), ("link_gen_max", "MaxPcieLinkGeneration", (), 1),
    ("link_gen_gpumax", "GpuMaxPcieLinkGeneration", (), 1),
    ("link_width", "CurrPcieLinkWidth", (), 1), ("link_width_max", "MaxPcieLinkWidth", (), 1),
    ("sm_mhz", "ClockInfo", (1,), 1), ("sm_max_mhz", "MaxClockInfo", (1,), 1),
    ("mem_mhz", "ClockInfo", (2,), 1), ("mem_max_mhz", "MaxClockInfo", (2,), 1),
    ("power_w", "PowerUsage", (), 1e-3), ("power_limit_w", "EnforcedPowerLimit", (), 1e-3),
    ("power_default_w", "PowerManagementDefaultLimit", (), 1e-3),
    ("temp_c", "Temperature", (0,), 1), ("slowdown_temp_c", "TemperatureThreshold", (1,), 1),
    ("fan_pct", "FanSpeed", (), 1), ("replays", "PcieReplayCounter", (), 1),
    ("ecc_corrected", "TotalEccErrors", (0, 0), 1), ("ecc_uncorrected", "TotalEccErrors", (1, 0), 1),
    ("ecc_corrected_life", "TotalEccErrors", (0, 1), 1), ("ecc_uncorrected_life", "TotalEccErrors", (1, 1), 1),
    ("tx_mb_s", "PcieThroughput", (0,), 1e-3), ("rx_mb_s", "PcieThroughput", (1,), 1e-3),
)  # fmt: skip
REASONS = (
    "CurrentClocksEventReasons",
    "CurrentClocksThrottleReasons",
)  # drivers from 535 on, and before
POWER_NOW = (
    186  # field NVML_FI_DEV_POWER_INSTANT: PowerUsage is the mean of a second from Ampere on
)
MEMORY_TEMP = 82  # field NVML_FI_DEV_MEMORY_TEMP
# Fields of time below the clock, in ns. Early bindings gave these names other numbers, which now
# mean something else, so the numbers stand here: nvidia-ml-py 13.615.
SPENT = {269: "sw_thermal_slowdown", 270: "hw_thermal_slowdown", 271: "hw_power_brake_slowdown"}
GENERATIONS = {"2.5": 1, "5": 2, "8": 3, "16": 4, "32": 5, "64": 6}  # GT/s, as sysfs prints them
RECOVERY_FIELD = 230
RECOVERY = {0: "None", 1: "GPU Reset", 2: "Node Reboot", 3: "Drain P2P", 4: "Drain and Reset"}


def call(nvml, name, *arguments):
    """Return what NVML answers, None where binding, driver or GPU do not know the question."""
    function = getattr(nvml, "nvmlDeviceGet" + name, None)
    try:
        value = function(*arguments) if function else None
    except Exception:
        return None
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def field(nvml, handle, number):
    """Return one field value as a number."""
    got = call(nvml, "FieldValues", handle, [number])
    try:
        value = got[0]
        if value.nvmlReturn != 0:
            return None
        kinds = {
            0: "dVal",
            1: "uiVal",
            2: "ulVal",
            3: "ullVal",
            4: "sllVal",
            5: "siVal",
            6: "usVal",
        }
        return getattr(value.value, kinds.get(value.valueType, "ullVal"))
    except Exception:
        return None


def reason_bits(nvml, handle):
    """Return the mask of clock reasons, by the new name or the old one."""
    for name in REASONS:
        value = call(nvml, name, handle)
        if value is not None:
            return value
    return None


def look(nvml, handle, index):
    """Return what one GPU tells, under the names of GpuSample."""
    told = {"index": index, "bdf": address(nvml, handle), "reason_bits": reason_bits(nvml, handle)}
    for name, function, arguments, factor in SIMPLE:
        value = call(nvml, function, handle, *arguments)
        told[name] = (
            round(value * factor, 3) if factor and isinstance(value, (int, float)) else value
        )
    if told["pstate"] == 32:  # NVML_PSTATE_UNKNOWN
        told["pstate"] = None
    now = field(nvml, handle, POWER_NOW)
    told["power_w"] = round(now * 1e-3, 3) if now else told["power_w"]
    told["mem_temp_c"] = field(nvml, handle, MEMORY_TEMP) or None
    told.update(groups(nvml, handle))
    told["link_gen_hostmax"] = host_gen(told)
    return {name: value for name, value in told.items() if value is not None}


def host_gen(told):
    """Return the generation of the port above, which NVML does not tell; a virtual machine's is made up."""
    device = os.path.realpath("/sys/bus/pci/devices/" + (told["bdf"] or "?").lower()[-12:])
    try:
        with open(os.path.join(os.path.dirname(device), "max_link_speed")) as file:
            gen = GENERATIONS.get(file.read().split(" ")[0].replace(".0", ""))
    except OSError:
        return None
    return gen if gen and gen >= (told["link_gen"] or 0) else None


def address(nvml, handle):
    """Return the PCI address."""
    bus = getattr(call(nvml, "PciInfo", handle), "busId", None)
    return bus.decode("ascii", "replace") if isinstance(bus, bytes) else bus


def groups(nvml, handle):
    """Return what NVML gives in groups: memory, modes, row remapping, time lost to limits."""
    told = {}
    load, memory = call(nvml, "UtilizationRates", handle), call(nvml, "MemoryInfo", handle)
    told["util_pct"], told["mem_util_pct"] = (
        getattr(load, "gpu", None),
        getattr(load, "memory", None),
    )
    told["mem_total_mib"], told["mem_used_mib"] = mib(memory, "total"), mib(memory, "used")
    told["bar1_mib"] = mib(call(nvml, "BAR1MemoryInfo", handle), "bar1Total")
    for name, function in (("ecc_on", "EccMode"), ("mig", "MigMode")):
        mode = call(nvml, function, handle)
        told[name] = None if mode is None else bool(mode[0])
    persistence = call(nvml, "PersistenceMode", handle)
    told["persistence"] = None if persistence is None else bool(persistence)
    rows = call(nvml, "RemappedRows", handle)
    if rows:
        told["remapped_uncorrectable"], told["remap_pending"], told["remap_failed"] = (
            rows[1],
            bool(rows[2]),
            bool(rows[3]),
        )
    capability = call(nvml, "CudaComputeCapability", handle)
    told["compute_cap"] = "{}.{}".format(*capability) if capability else None
    spent = {name: field(nvml, handle, number) for number, name in SPENT.items()}
    told["reason_us"] = {
        name: int(value) // 1000 for name, value in spent.items() if value is not None
    }
    told["recovery_action"] = RECOVERY.get(field(nvml, handle, RECOVERY_FIELD))
    told["licence"] = licence(nvml, handle)
    return told


def licence(nvml, handle):
    """Return the state of a vGPU's licence; None where the GPU is not one."""
    if call(nvml, "VirtualizationMode", handle) != 2:  # NVML_GPU_VIRTUALIZATION_MODE_VGPU
        return None
    state = call(nvml, "GridLicensableFeatures", handle)
    try:
        states = [
            feature.featureState
            for feature in state.gridLicensableFeatures[: state.licensableFeaturesCount]
        ]
    except Exception:
        return None
    return "Licensed" if any(states) else "Unlicensed"


def mib(of, name):
    """Return a size in MiB."""
    value = getattr(of, name, None)
    return None if value is None else round(value / 1048576, 1)


def processes(nvml, handle, index):
    """Return the processes that hold memory of a GPU; their names without arguments."""
    found = {}
    for kind in ("ComputeRunningProcesses", "GraphicsRunningProcesses"):
        for process in call(nvml, kind, handle) or []:
            name = None
            with suppress(Exception):
                name = nvml.nvmlSystemGetProcessName(process.pid)
            name = name.decode("utf-8", "replace") if isinstance(name, bytes) else name
            used = getattr(process, "usedGpuMemory", None)
            used = None if used is None or used >= 1 << 60 else round(used / 1048576, 1)
            name = None if name is None else name.split("\0")[0].split(" -")[0][:200]
            found[process.pid] = {"gpu": index, "pid": process.pid, "name": name, "used_mib": used}
    return list(found.values())


def system(nvml):
    """Return driver and CUDA version."""
    told = {}
    for name, function in (
        ("driver", "nvmlSystemGetDriverVersion"),
        ("cuda", "nvmlSystemGetCudaDriverVersion"),
    ):
        try:
            value = getattr(nvml, function)()
            told[name] = value.decode() if isinstance(value, bytes) else value
        except Exception:
            told[name] = None
    if isinstance(told["cuda"], int):
        told["cuda"] = f"{told['cuda'] // 1000}.{told['cuda'] % 1000 // 10}"
    try:
        told["cc_on"] = bool(nvml.nvmlSystemGetConfComputeState().ccFeature)
    except Exception:
        told["cc_on"] = None
    return told


def handles(nvml):
    """Return (how many GPUs there are, [(index, handle)] of those that can be opened)."""
    number = nvml.nvmlDeviceGetCount()
    opened = [(index, call(nvml, "HandleByIndex", index)) for index in range(number)]
    return number, [(index, handle) for index, handle in opened if handle is not None]
