"""What the board's firmware tells, as dmidecode prints it: memory modules, processors, the system."""

from __future__ import annotations

import re
from typing import Any

from tools.linux.machine_virt import by_product
from tools.linux.quantity import number

Told = dict[str, Any]
# dmidecode 2.12 to 3.6; its words are not translated. Its types 17, 4 and 1 (DMTF DSP0134)
_BLOCK = re.compile(r"^(Memory Device|Processor Information|System Information)$", re.MULTILINE)
_FIELD = re.compile(r"^[ \t]+([A-Z][\w ]{1,40}): (.*)$", re.MULTILINE)
_SPEED = re.compile(r"^(\d{3,6}) (?:MT/s|MHz)$")  # 3.1 and older said MHz, and meant the same
_EMPTY = re.compile(r"^(?:No Module Installed|Not Installed|Unknown|None|0 .?B)?$")
_CHANNEL = re.compile(
    r"(?:channel|chan|ch)[ _-]?([A-Z]|\d{1,2})\b|DIMM[ _-]?([A-Z])\d?\b", re.IGNORECASE
)
_MOST = 512
_BYTES = 8  # of one transfer of a channel, without its ECC


def read_dmi(text: str) -> Told:
    """Return memory modules against slots, their speed, the processor's name, and what the system is.

    `dimm_gb_s` is what the fitted modules can move at most: transfers a second by 8 bytes for each
    channel, where the locators name the channels, else for each module.
    """
    blocks = [(found[1], found.end()) for found in _BLOCK.finditer(text)][:_MOST]
    if not blocks:
        return {}
    kinds: dict[str, list[dict[str, str]]] = {}
    for name, start in blocks:
        body = text[start : start + 4000].split("\nHandle ")[0].split("\n\n")[0]
        kinds.setdefault(name, []).append(dict(_FIELD.findall(body)))
    return {
        **_memory(kinds.get("Memory Device", [])),
        **_processors(kinds.get("Processor Information", [])),
        **_system(kinds.get("System Information", [])),
    }


def _memory(devices: list[dict[str, str]]) -> Told:
    devices = [one for one in devices if "Locator" in one and "Size" in one]
    fitted = [one for one in devices if not _EMPTY.match(one["Size"])]
    if not fitted:
        return {}
    rated = [mt for one in fitted if (mt := _mt_s(one.get("Speed")))]
    runs = [mt for one in fitted if (mt := _mt_s(_configured(one)))]
    slowest = min(runs, default=min(rated, default=None))
    channels = {where for one in fitted if (where := _channel(one))}
    width = len(channels) if len(channels) > 1 else len(fitted)
    told = {
        "dimms": len(fitted),
        "dimm_slots": len(devices),
        "channels_empty": _unused(devices, channels) or None,
        "dimm_mt_s": slowest,
        "dimm_rated_mt_s": min(rated, default=None),
        "dimm_gb_s": round(width * slowest * _BYTES / 1000, 1) if slowest else None,
    }
    return {name: value for name, value in told.items() if value is not None}


def _unused(devices: list[dict[str, str]], fitted: set[str]) -> tuple[str, ...]:
    """Name the channels without a module, of the processors that have any."""
    sockets = {where.split(" ")[0] for where in fitted}
    empty = {
        where: one.get("Bank Locator") or one["Locator"]
        for one in devices
        if (where := _channel(one)) and where not in fitted and where.split(" ")[0] in sockets
    }
    return tuple(empty[where] for where in sorted(empty))


def _configured(device: dict[str, str]) -> str | None:
    return device.get("Configured Memory Speed") or device.get("Configured Clock Speed")


def _mt_s(text: str | None) -> float | None:
    found = _SPEED.match((text or "").strip())
    return number(found[1]) if found else None


def _channel(device: dict[str, str]) -> str | None:
    """Name a module's channel and its processor: "P0 CHANNEL A", "CPU1_DIMM_B2"."""
    words = f"{device.get('Bank Locator', '')} {device['Locator']}"
    found = _CHANNEL.search(words)
    if found is None:
        return None
    socket = re.search(r"\b(?:P|CPU|PROC|Node|NODE)[ _-]?(\d)", words)
    return f"{socket[1] if socket else ''} {(found[1] or found[2]).upper()}"


def _processors(devices: list[dict[str, str]]) -> Told:
    fitted = [one for one in devices if "unpopulated" not in one.get("Status", "").lower()]
    names = [one["Version"].strip() for one in fitted if one.get("Version", "").strip()]
    names = [name for name in names if not name.lower().startswith(("not ", "pc-", "unknown"))]
    return {"cpu_model": names[0], "sockets": len(names)} if names else {}


def _system(devices: list[dict[str, str]]) -> Told:
    told = next(iter(devices), {})
    words = " ".join(told.get(name, "") for name in ("Manufacturer", "Product Name"))
    return {"virt": by_product(words)} if words.strip() else {}
