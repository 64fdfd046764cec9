"""Numbers as Linux tools print them: with a unit, or with the comma of another locale."""

from __future__ import annotations

import math
import re

_MIB = {"": 1 / (1 << 20), "K": 1 / 1024, "M": 1.0, "G": 1024.0, "T": 1024.0**2, "P": 1024.0**3}
_SIZE = re.compile(r"(\d+(?:[.,]\d+)?) ?([KMGTP]?)(?:i?B?|B)$", re.IGNORECASE)


def number(text: str) -> float | None:
    """Return "95.8" or "95,8" as a number; None for anything else, and for what is not finite."""
    try:
        value = float(text.strip().rstrip("%").replace(",", "."))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def size_mib(text: str, plain_unit: str = "") -> float | None:
    """Return "64M", "1.8T", "41,2g" in MiB; a bare number counts in `plain_unit` (K, M; "" bytes)."""
    found = _SIZE.match(text.strip())
    if found is None:
        return None
    value, unit = number(found[1]), (found[2] or plain_unit).upper()
    return None if value is None else value * _MIB[unit]
