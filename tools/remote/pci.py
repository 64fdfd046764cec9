"""NVIDIA GPUs on the PCI bus, every port above them, and what hangs beside them, from sysfs.

The first argument is another root than /sys (for tests). The strings are sysfs' own.
"""

import glob
import json
import os
import subprocess
import sys
import time

SYS = sys.argv[1] if len(sys.argv) > 1 else "/sys"
BUS = os.path.join(SYS, "bus/pci/devices")
FILES = ("vendor", "device", "class", "numa_node", "current_link_speed", "current_link_width",
         "max_link_speed", "max_link_width", "aer_dev_correctable", "aer_dev_fatal", "aer_dev_nonfatal",
         "link/l1_aspm", "power/runtime_status", "power/control")  # fmt: skip
LSPCI_S = 4.0  # all lspci together; one that hangs on a dead device must not cost the answer


def text(path):
    try:
        with open(path, "rb") as file:
            return file.read(4096).decode("utf-8", "replace").strip()
    except OSError:
        return None


def chain(bdf):
    """Return the device and what is above it, as sysfs nests them: the GPU first, the root port last."""
    parts = os.path.realpath(os.path.join(BUS, bdf)).split("/")
    known = [part for part in parts if os.path.isdir(os.path.join(BUS, part)) and ":" in part]
    return known[::-1] or [bdf]


def told(bdf, parent):
    said = {name.rpartition("/")[2]: text(os.path.join(BUS, bdf, name)) for name in FILES}
    return dict(
        {key: value for key, value in said.items() if value is not None}, bdf=bdf, parent=parent
    )


def is_class(bdf, start):
    return (text(os.path.join(BUS, bdf, "class")) or "").startswith(start)


def beside(gpus, chains):
    """Endpoints below a switch of a GPU's path, or on a root port of the same slot number."""
    above = {bdf for gpu in gpus for bdf in chains[gpu][1:]}
    splits = {chains[gpu][-1][:-2] for gpu in gpus}
    cards = {gpu[:-2] for gpu in gpus}
    for bdf, path in chains.items():
        near = path[-1][:-2] in splits or above.intersection(path[1:])
        if near and len(path) > 1 and bdf[:-2] not in cards and not is_class(bdf, "0x06"):
            yield bdf


def run(argv, until):
    left = until - time.monotonic()
    if left <= 0.1:
        return ""
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              timeout=left, check=False, env=dict(os.environ, LC_ALL="C"))  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "replace")[:65536]


def lspci(wanted, first):
    """Names for all; capabilities where root may read them, and of one device to see that we may not."""
    until = time.monotonic() + LSPCI_S
    heads = run(["lspci", "-D"], until).splitlines()
    said = [line for line in heads if line.split(" ")[0] in wanted]
    ordered = sorted(wanted) if os.geteuid() == 0 else first[:1]
    for bdf in ordered if said else ():
        said.append(run(["lspci", "-D", "-vv", "-s", bdf], until))
        if "access denied" in said[-1]:
            break
    return "\n".join(said)


def main():
    if not os.path.isdir(BUS):
        return {
            "absent": "there is no PCI bus in /sys (a container or a virtual machine without one)"
        }
    all_bdfs = sorted(os.path.basename(path) for path in glob.glob(os.path.join(BUS, "*")))
    gpus = [
        bdf
        for bdf in all_bdfs
        if text(os.path.join(BUS, bdf, "vendor")) == "0x10de" and is_class(bdf, "0x03")
    ]
    if not gpus:
        return {"absent": "no NVIDIA GPU is on the PCI bus that can be seen here"}
    chains = {bdf: chain(bdf) for bdf in all_bdfs}
    others = list(beside(gpus, chains))
    parents = {}
    for bdf in gpus + others:
        for at, above in zip(chains[bdf], [*chains[bdf][1:], None]):  # noqa: B905 (Python 3.8)
            parents[at] = above
    devices = [told(bdf, parents[bdf]) for bdf in parents]
    names = lspci(set(parents), gpus) if SYS == "/sys" else ""
    return {"devices": devices[:512], "others": others[:256], "lspci": names}


print(json.dumps(main()))
