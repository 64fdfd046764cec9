"""Processors as lscpu, /proc/cpuinfo, cpufreq and vmstat print them."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from tools.linux.machine_virt import by_hypervisor
from tools.linux.quantity import number

Told = dict[str, Any]
# util-linux 2.27 to 2.41; the labels of its English, German, French, Spanish and Chinese
_SPELLINGS = {
    "cpus": ("CPU(s)", "CPU", "Processeur(s)"),
    "threads": (
        "Thread(s) per core",
        "Thread(s) pro Kern",
        "Thread(s) par cœur",
        "Hilo(s) de procesamiento por núcleo",
        "每个核的线程数",
    ),
    "sockets": ("Socket(s)", "Sockel", "«Socket(s)»", "座", "Prise(s)"),
    "nodes": ("NUMA node(s)", "NUMA-Knoten", "Nœud(s) NUMA", "Modo(s) NUMA", "NUMA 节点"),
    "model": ("Model name", "Modellname", "Nom de modèle", "Nombre del modelo", "型号名称"),
    "max": (
        "CPU max MHz",
        "Maximale Taktfrequenz der CPU",
        "Vitesse maximale du processeur en MHz",
    ),
    "now": ("CPU MHz",),
    "vendor": (
        "Hypervisor vendor",
        "Hypervisor-Anbieter",
        "Constructeur d'hyperviseur",
        "Fabricante del hipervisor",
        "超管理器厂商",
    ),
}
_LABELS = {label: name for name, labels in _SPELLINGS.items() for label in labels}
_ROW = re.compile(r"^[ \t]{0,8}([^\s:：][^:：\n]{0,60}?) ?[:：][ \t]+(\S[^\n]*)$", re.MULTILINE)
_NODE = re.compile(r"(?:NUMA node|NUMA-Knoten|Nœud NUMA |NUMA 节点)(\d+) CPU", re.IGNORECASE)
_NAME = re.compile(r"^model name\s*: (.+)$", re.MULTILINE)
_PROCESSOR = re.compile(r"^processor\s*: \d+$", re.MULTILINE)
_MHZ = re.compile(r"^ {0,16}(?:(\d{1,4}) )?cpu MHz\s*: ([\d.]+)$", re.MULTILINE)  # uniq -c counts
_SOCKET = re.compile(r"^physical id\s*: (\d+)$", re.MULTILINE)
_GOVERNOR = re.compile(
    r"^ {0,16}(?:(\d+) )?(?:/sys/\S+scaling_governor:)?(performance|powersave|schedutil|ondemand|conservative)$",
    re.MULTILINE,
)
_DECIDES = re.compile(r'The governor "(\w+)" may decide')
_DRIVER = re.compile(r"^  driver: (\S+)$", re.MULTILINE)
_LIMITS = re.compile(r"^  hardware limits: .{1,24} - ([\d.]+) (MHz|GHz)", re.MULTILINE)
_VMSTAT = re.compile(r"^ +r +b +swpd .*\bsi +so .*\bid +wa +st\b.*$", re.MULTILINE)


def read_lscpu(text: str) -> Told:
    """Return what lscpu says, whole or grepped."""
    rows = {_LABELS[label]: value for label, value in _ROW.findall(text) if label in _LABELS}
    nodes = {
        found[1]: value for label, value in _ROW.findall(text) if (found := _NODE.match(label))
    }
    counts = {
        name: int(rows[name])
        for name in ("cpus", "threads", "sockets", "nodes")
        if rows.get(name, "").isdigit()
    }
    if (
        not nodes
        and not rows.get("model")
        and not {"threads", "sockets", "nodes"} & counts.keys()
        and "vendor" not in rows
    ):
        return {}
    return {
        "cpu_model": rows.get("model"),
        "cpus": counts.get("cpus"),
        "threads_per_core": counts.get("threads"),
        "sockets": counts.get("sockets"),
        "numa_nodes": counts.get("nodes", len(nodes) or None),
        "numa_cpus": nodes or None,
        "mhz_max": number(rows["max"]) if "max" in rows else None,
        "virt": by_hypervisor(rows["vendor"]) if "vendor" in rows else None,
    }


def read_cpuinfo(text: str) -> Told:
    """Return what /proc/cpuinfo says; a grep for one of its fields may be all there is."""
    names = _NAME.search(text)
    mhz = tuple(float(now) for count, now in _MHZ.findall(text) for _ in range(int(count or 1)))
    return {
        "cpu_model": names[1].strip() if names else None,
        "cpus": len(_PROCESSOR.findall(text)) or None,
        "sockets": len(set(_SOCKET.findall(text))) or None,
        "mhz_now": mhz or None,
    }


def read_governors(text: str) -> Told:
    """Return the governors: one a line, counted by `uniq -c`, or as cpupower tells them."""
    found: Counter[str] = Counter()
    for count, name in _GOVERNOR.findall(text):
        found[name] += int(count or 1)
    if (decides := _DECIDES.search(text)) is not None:
        found[decides[1]] += 1
    driver, limits = _DRIVER.search(text), _LIMITS.search(text)
    return {
        "governors": dict(found) or None,
        "scaling_driver": driver[1] if driver else None,
        "mhz_max": float(limits[1]) * (1000 if limits[2] == "GHz" else 1) if limits else None,
    }


def read_vmstat(text: str) -> Told:
    """Return swapping and steal of the last line of vmstat; its first line is since boot."""
    found = _VMSTAT.search(text)
    if found is None:
        return {}
    names = found[0].split()
    rows = [line.split() for line in text[found.end() :].split("\n")]
    rows = [row for row in rows if len(row) == len(names) and all(word.isdigit() for word in row)]
    if len(rows) < 2:
        return {}
    last = dict(zip(names, map(int, rows[-1]), strict=True))
    return {
        "swapping_pages": (last["si"] + last["so"]) // 4,
        "steal_pct": float(last["st"]),
        "idle_pct": float(last["id"]),
    }
