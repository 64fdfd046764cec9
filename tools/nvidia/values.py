"""A value as NVIDIA's programs print it: a number with its unit, or a word that says "not told".

Words for "not told", over drivers 418 to 595: N/A, [N/A], [Not Supported], [Insufficient
Permissions], [Unknown Error], [GPU requires reset], ERR!, and from 590 on "Requested functionality
has been deprecated" (nvidia-smi --help-query-gpu of 595.80; captures of nvidia_gpu_exporter).
"""

from __future__ import annotations

import re

from tools.knowledge import REASON_BITS

_ABSENT = frozenset({
    "n/a", "not supported", "not available", "not found", "unknown", "unknown error",
    "insufficient permissions", "gpu requires reset", "gpu is lost", "err!", "none", "-", "?",
    "requested functionality has been deprecated", "function not found", "",
})  # fmt: skip
# Some locales part thousands by a blank or an apostrophe, and write the point as a comma.
_NUMBER = re.compile(r"[+-]?(?:\d{1,3}(?:[ '\u00a0\u202f]\d{3})+(?!\d)|\d+)(?:[.,]\d+)?")
_PLAIN = str.maketrans({" ": "", "'": "", "\u00a0": "", "\u202f": "", ",": "."})
_BDF = re.compile(r"(?:([0-9a-f]{4,8}):)?([0-9a-f]{2}):([0-9a-f]{2})(?:\.([0-7]))?")
_YES = frozenset({"enabled", "yes", "on", "active", "true", "1", "licensed"})
_NO = frozenset({"disabled", "no", "off", "not active", "false", "0"})
_PER_MIB = {
    "b": 1 / 2**20,
    "kib": 1 / 1024,
    "kb": 1 / 1024,
    "mib": 1.0,
    "mb": 1.0,
    "gib": 1024.0,
    "gb": 1024.0,
}
_MB_PER_KB = 1e-3
_MOMENT = re.compile(r"(\d{4})[/-](\d\d)[/-](\d\d)[ T](\d\d:\d\d:\d\d(?:[.,]\d+)?)")
_DATE = re.compile(r"[A-Z][a-z]{2} ([A-Z][a-z]{2}) +(\d{1,2}) (\d\d:\d\d:\d\d) (\d{4})")
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_IDLE = "gpu_idle"
_LONGEST = 200  # no value of theirs is longer; what is, is no value

# How the words of `-q`, the elements of `-q -x` and the fields of `--query-gpu` spell a reason,
# where that differs from the name in the catalogue's reason bits.
_REASONS = {
    "idle": _IDLE,
    "display_clock_setting": "display_clocks_setting",
    "sw_power_capping": "sw_power_cap",
    "sw_therm_slowdown": "sw_thermal_slowdown",
    "hw_therm_slowdown": "hw_thermal_slowdown",
    "hw_power_brake": "hw_power_brake_slowdown",
    "hw_power_braking": "hw_power_brake_slowdown",
}
_NO_LETTERS = re.compile(r"[^a-z]+")
_OF_REASONS = re.compile(r"^clocks_(?:event|throttle)_reasons?(?:_counters)?_")
_KNOWN_REASONS = frozenset(REASON_BITS.values())


def text(said: str) -> str | None:
    """Return the value without brackets and blanks, None where it says that nothing is told."""
    said = said.strip()[:_LONGEST].strip("[]").strip()
    return None if said.lower() in _ABSENT else said


def number(said: str) -> float | None:
    """Return the number at the start ("300.00 W", "45,20 W", "16x"); a comma may be the point."""
    told = text(said)
    found = _NUMBER.match(told) if told else None
    return float(found[0].translate(_PLAIN)) if found else None


def count(said: str) -> int | None:
    """Return the whole number at the start ("192 bank(s)", "3401811907 us")."""
    found = number(said)
    return None if found is None else int(found)


def mib(said: str) -> float | None:
    """Return a size in MiB; a bare number is MiB, as under `nounits`."""
    found = number(said)
    unit = re.sub(r"[^a-z]", "", said.lower())
    return None if found is None else found * _PER_MIB.get(unit, 1.0)


def mb_s(said: str) -> float | None:
    """Return a throughput in MB/s; `-q` prints KB/s."""
    found = number(said)
    return found * _MB_PER_KB if found is not None and "kb/s" in said.lower() else found


def pstate(said: str) -> int | None:
    """Return the number of a performance state, "P8"."""
    told = text(said)
    found = re.fullmatch(r"P(\d{1,2})", told) if told else None
    return int(found[1]) if found else None


def switch(said: str) -> bool | None:
    """Return whether a switch is on; None for a third word ("Pending", "WDDM")."""
    told = (text(said) or "").lower()
    return True if told in _YES else False if told in _NO else None


def bdf(said: str) -> str | None:
    """Return a PCI address as "0000:e3:00.0"; NVIDIA prints eight digits of domain, lspci none."""
    found = _BDF.fullmatch(said.strip().lower())
    if not found:
        return None
    domain = (found[1] or "0000").lstrip("0").rjust(4, "0")
    return f"{domain}:{found[2]}:{found[3]}.{found[4] or '0'}"


def moment(said: str) -> str | None:
    """Return a time as ISO text; "2026/08/29 14:02:12.101" and "Sat Jan 16 15:20:31 2021" are read."""
    if found := _MOMENT.search(said[:_LONGEST]):
        return f"{found[1]}-{found[2]}-{found[3]}T{found[4].replace(',', '.')}"
    found = _DATE.search(said[:_LONGEST])
    if not found or found[1] not in _MONTHS:
        return None
    return f"{found[4]}-{_MONTHS.index(found[1]) + 1:02}-{int(found[2]):02}T{found[3]}"


def reason(said: str) -> str | None:
    """Return the catalogue's name of a clock reason, however it is spelt; None if it is none."""
    name = _NO_LETTERS.sub("_", said[:_LONGEST].lower()).strip("_")
    name = _OF_REASONS.sub("", name)
    name = _REASONS.get(name, name)
    return name if name in _KNOWN_REASONS else None


def reasons(active: object) -> frozenset[str]:
    """Return the reasons that a set of bits (or of names) holds, without gpu_idle."""
    if isinstance(active, int):
        return frozenset(name for bit, name in REASON_BITS.items() if active & bit) - {_IDLE}
    names = (reason(str(name)) for name in active) if isinstance(active, list | tuple | set) else ()
    return frozenset(name for name in names if name) - {_IDLE}


def bits(said: str) -> int | None:
    """Return a mask such as "0x0000000000000004"."""
    told = text(said)
    return int(told, 16) if told and re.fullmatch(r"0x[0-9a-fA-F]{1,16}", told) else None


def process_name(said: str) -> str | None:
    """Return a program's name without its arguments, which may hold what is nobody's business."""
    told = text(said)
    return told.split(" -")[0].strip() if told else None
