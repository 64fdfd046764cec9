"""Processors as /proc/cpuinfo, cpufreq, cpupower and vmstat print them."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

Told = dict[str, Any]
_NAME = re.compile(r"^model name\s*: (.+)$", re.MULTILINE)
_PROCESSOR = re.compile(r"^processor\s*: \d+$", re.MULTILINE)
_MHZ = re.compile(r"^ {0,16}(?:(\d{1,4}) )?cpu MHz\s*: ([\d.]+)$", re.MULTILINE)  # uniq -c counts
_SOCKET = re.compile(r"^physical id\s*: (\d+)$", re.MULTILINE)
_GOVERNOR = re.compile(
    r"^ {0,16}(?:(\d+) )?(?:/sys/\S+scaling_governor:)?(performance|powersave|schedutil|ondemand|conservative)$",
    re.MULTILINE,
)
# cpupower 4.15 to 6.17, with its Czech, German, French and Italian
_DECIDES = re.compile(
    r'(?:governor|Regler|Regulátor|régulateur|gestore) "(\w+)" (?:may|kann|může|est|può)'
)
_DRIVER = re.compile(r"^  (?:driver|Treiber|ovladač|pilote ?|modulo):? (\S+)$", re.MULTILINE)
_UNMANAGED = re.compile(
    r"^  (?:no or unknown cpufreq driver|kein oder ein unbekannter cpufreq-Treiber"
    r"|pro tento CPU není aktivní|pas de pilotes cpufreq|nessun modulo)",
    re.MULTILINE,
)
_LIMITS = re.compile(
    r"^  (?:hardware limits|Hardwarebegrenzungen|hardwarové meze|limitation matérielle ?|limiti hardware):"
    r" ([\d.]{1,8}) (MHz|GHz) - ([\d.]+) (MHz|GHz)",
    re.MULTILINE,
)
_CURRENT = re.compile(  # cpufreq-info 008; cpupower asks hardware or kernel
    r"^  current CPU frequency(?: is|:) ([\d.]{1,8}) (MHz|GHz)", re.MULTILINE
)
_VMSTAT = re.compile(r"^ +r +b .*\bsi +so .*\bid +wa +st\b.*$", re.MULTILINE)


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
        "scaling_driver": driver[1] if driver else "none" if _UNMANAGED.search(text) else None,
        "mhz_min": _mhz(limits[1], limits[2]) if limits else None,
        "mhz_max": _mhz(limits[3], limits[4]) if limits else None,
        "mhz_now": tuple(_mhz(*now) for now in _CURRENT.findall(text)) or None,
    }


def _mhz(value: str, unit: str) -> float:
    return float(value) * (1000 if unit == "GHz" else 1)


def read_vmstat(text: str) -> Told:
    """Return swapping and steal of the last line of vmstat; its first line is since boot."""
    found = _VMSTAT.search(text)
    if found is None:
        return {}
    names = found[0].split()
    if not {"si", "so", "id", "st"} <= set(names):
        return {}
    rows = [line.split() for line in text[found.end() :].split("\n")]
    rows = [row for row in rows if len(row) == len(names) and all(word.isdecimal() for word in row)]
    if len(rows) < 2:
        return {}
    last = dict(zip(names, map(int, rows[-1]), strict=True))
    return {
        "swapping_pages": (last["si"] + last["so"]) // 4,
        "steal_pct": float(last["st"]),
        "idle_pct": float(last["id"]),
    }
