"""Look once at every GPU: through NVML where pynvml can be found, else through `nvidia-smi -q -x`."""

# ruff: noqa: F821
# What has no definition here is that of nvml.py, find_pynvml.py and run_smi.py, whose text goes before this one.

import json
import re

LIMIT_S = 7


def by_nvml(nvml, where):
    """Return the whole answer of NVML, or what it says instead."""
    try:
        nvml.nvmlInit()
    except Exception as why:
        return {"refused": type(why).__name__ + ": " + str(why)}
    number, opened = handles(nvml)
    if not number:
        return {"absent": "the driver runs, but finds no GPU that it may use"}
    told = dict({"nvml": where}, **system(nvml))
    told["attached"] = number
    told["gpus"] = [look(nvml, handle, index) for index, handle in opened]
    told["processes"] = [
        each for index, handle in opened for each in processes(nvml, handle, index)
    ]
    return told


def without_arguments(xml):
    """Drop the arguments of processes, which may hold secrets, before anything leaves the host."""
    return re.sub(r"(<process_name>[^<\n]{0,4096}?) -[^<\n]*(?=</process_name>)", r"\1", xml)


def by_smi(why):
    """Return the answer of nvidia-smi as it printed it, or JSON that says why there is none."""
    said, trouble = run_smi(["-q", "-x"], LIMIT_S)
    if trouble:
        kind = "absent" if "not installed" in trouble else "failed"
        return json.dumps({kind: trouble + ("; NVML: " + why if why and kind == "absent" else "")})
    return without_arguments(said) or json.dumps({"failed": "nvidia-smi printed nothing"})


def main():
    """Ask NVML; where it cannot be asked or refuses, ask nvidia-smi."""
    nvml, where = find_pynvml()
    told = within(LIMIT_S, lambda: by_nvml(nvml, where)) if nvml else {"refused": "no pynvml"}
    if told is None:
        hangs = "NVML did not answer within %d s: the driver waits for a GPU (Xid 119, 79); see the kernel log"
        return json.dumps({"failed": hangs % LIMIT_S})
    return by_smi(told["refused"]) if "refused" in told else json.dumps(told)


finish(main())
