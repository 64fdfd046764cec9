"""Watch every GPU for some seconds: NVML, else `nvidia-smi --query-gpu -lms`. A prelude; it adds no load.

It gives `watched`, which returns what tools/nvidia/nvml_json.py reads.
"""

# Goes after find_server.py
# Goes after find_pynvml.py
# Goes after run_smi.py
# Goes after nvml.py
# ruff: noqa: F821
# What has no definition here is that of nvml.py, find_pynvml.py and run_smi.py, whose text goes before this one.

import time

COLUMNS = ("at", "index", "link_gen", "link_width", "pstate", "util_pct", "mem_util_pct", "sm_mhz", "mem_mhz",
           "power_w", "temp_c", "reason_bits", "rx_mb_s", "tx_mb_s", "replays", "ecc_corrected",
           "ecc_uncorrected")  # fmt: skip
TRAFFIC_EVERY = 5  # ticks: each question for PCIe traffic blocks the driver for about 20 ms
COUNTED = (("replays", "PcieReplayCounter", ()), ("ecc_corrected", "TotalEccErrors", (0, 0)),
           ("ecc_uncorrected", "TotalEccErrors", (1, 0)))  # fmt: skip
# An unknown field makes nvidia-smi refuse the whole question, so the second set holds but what every
# driver since 418 knows; clocks_throttle_reasons is an alias to this day (595.80).
NEW = ("timestamp,index,name,pci.bus_id,pstate,utilization.gpu,utilization.memory,pcie.link.gen.gpucurrent,"
       "pcie.link.gen.max,pcie.link.gen.gpumax,pcie.link.gen.hostmax,pcie.link.width.current,pcie.link.width.max,"
       "clocks.sm,clocks.max.sm,clocks.mem,clocks.max.mem,power.draw.instant,enforced.power.limit,"
       "power.default_limit,temperature.gpu,temperature.memory,clocks_event_reasons.active,driver_version")  # fmt: skip
OLD = ("timestamp,index,name,pci.bus_id,pstate,utilization.gpu,utilization.memory,pcie.link.gen.current,"
       "pcie.link.gen.max,pcie.link.width.current,pcie.link.width.max,clocks.sm,clocks.max.sm,clocks.mem,"
       "clocks.max.mem,power.draw,enforced.power.limit,power.default_limit,temperature.gpu,"
       "clocks_throttle_reasons.active,driver_version")  # fmt: skip
REFUSED = ("is not a valid field", "not a valid combination")
STATIC = ("index", "bdf", "name", "link_gen_max", "link_gen_gpumax", "link_gen_hostmax", "link_width_max", "sm_max_mhz",
          "mem_max_mhz", "power_limit_w", "power_default_w", "slowdown_temp_c", "compute_cap")  # fmt: skip


def tick(nvml, handle, index, at, with_traffic):
    """Return one row of COLUMNS."""
    load = call(nvml, "UtilizationRates", handle)
    power = field(nvml, handle, POWER_NOW) or call(nvml, "PowerUsage", handle)
    told = {
        "at": round(at, 3),
        "index": index,
        "link_gen": call(nvml, "CurrPcieLinkGeneration", handle),
        "link_width": call(nvml, "CurrPcieLinkWidth", handle),
        "pstate": call(nvml, "PerformanceState", handle),
        "util_pct": getattr(load, "gpu", None),
        "mem_util_pct": getattr(load, "memory", None),
        "sm_mhz": call(nvml, "ClockInfo", handle, 1),
        "mem_mhz": call(nvml, "ClockInfo", handle, 2),
        "power_w": None if power is None else round(power * 1e-3, 1),
        "temp_c": call(nvml, "Temperature", handle, 0),
        "reason_bits": reason_bits(nvml, handle),
    }
    if told["pstate"] == 32:  # NVML_PSTATE_UNKNOWN
        told["pstate"] = None
    if with_traffic:
        for name, way in (("tx_mb_s", 0), ("rx_mb_s", 1)):
            value = call(nvml, "PcieThroughput", handle, way)
            told[name] = None if value is None else round(value * 1e-3, 1)
        told.update({name: call(nvml, what, handle, *more) for name, what, more in COUNTED})
    return [told.get(column) for column in COLUMNS]


def watch(nvml, seconds, hz, going):
    """Return what NVML told over the seconds, or while `going`; or what it says instead."""
    try:
        nvml.nvmlInit()
    except Exception as why:
        return {"refused": type(why).__name__ + ": " + str(why)}
    opened = handles(nvml)[1]
    if not opened:
        return {"absent": "the driver runs, but finds no GPU that it may use"}
    still = [look(nvml, handle, index) for index, handle in opened]
    rows, number, start = [], 0, time.monotonic()
    while time.monotonic() - start < seconds and going():
        for index, handle in opened:
            at = time.monotonic() - start
            rows.append(tick(nvml, handle, index, at, number % TRAFFIC_EVERY == 0))
        number += 1
        time.sleep(max(0.0, start + number / hz - time.monotonic()))
    told = dict({"watched_s": round(time.monotonic() - start, 2)}, **system(nvml))
    kept = [{name: each[name] for name in STATIC if name in each} for each in still]
    told["gpus"] = {each["index"]: each for each in kept}
    told["columns"], told["rows"] = COLUMNS, rows
    return told


def by_smi(seconds, hz, going):
    """Return rows of nvidia-smi, with the fields that this driver knows."""
    for fields in (NEW, OLD):
        arguments = ["--query-gpu=" + fields, "--format=csv", "-lms", str(int(1000 / hz))]
        began = time.monotonic()
        said, trouble = run_smi(arguments, seconds, going)
        if "not installed" in trouble:
            return {"absent": trouble}
        if not any(refusal in said for refusal in REFUSED):
            break
    if said.count("\n") < 2 or "index" not in said.partition("\n")[0]:  # words, and no table
        return {"failed": said.strip()[:300] or trouble}
    whole = said[: said.rindex("\n") + 1]
    return {"watched_s": min(seconds, round(time.monotonic() - began, 2)), "csv": whole}


def always():
    """Go on to the end."""
    return True


def watched(seconds, hz, going=always, found=None):
    """Watch through NVML; where it cannot be asked or refuses, through nvidia-smi.

    `found` is what find_pynvml gave before, for those who must not wait for it now.
    """
    nvml, _ = found or find_pynvml()
    told = {"refused": "no pynvml"}
    if nvml:
        told = within(seconds + 7, lambda: watch(nvml, seconds, hz, going))
    if told is None:
        return {
            "failed": "NVML stopped answering: the driver waits for a GPU (Xid 119, 79); see the kernel log"
        }
    return by_smi(seconds, hz, going) if "refused" in told else told
