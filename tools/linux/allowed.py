"""What the kernel allows a process: the cores of taskset, the limits of ulimit."""

from __future__ import annotations

import re
from typing import Any

from tools.linux.lscpu import ranges

Told = dict[str, Any]
# util-linux 2.32 to 2.41; what it says before the colon is translated, the pid stays in it
_AFFINITY = re.compile(
    r"^(?=.{0,80}\b\d{1,8}\b.{0,40}[:：])(?=.{0,60}(?:affinit|Bezug|afini|přid|亲和|親和|近似|przypisa|спорідн))"
    r".{0,100}[:：] ?(?P<cpus>[\da-f,-]{1,2000})$",
    re.MULTILINE | re.IGNORECASE,
)
_LIST = re.compile(r"list|seznam|列表|リスト|清單|список|lijst", re.IGNORECASE)
# bash's `ulimit -a`, not translated: "open files                          (-n) 1024"
_ULIMIT = re.compile(
    r"^([a-z][a-zA-Z -]{2,40}?) +\((?:([a-z0-9]+(?: [a-z]+)?), )?-([a-z])\) (unlimited|\d{1,20})$",
    re.MULTILINE,
)
_ENOUGH = 4  # lines of it, so that no prose counts


def read_affinity(text: str) -> str | None:
    """Return the cores of `taskset -p` or `taskset -cp` as a list, "0-15"."""
    all_found = list(_AFFINITY.finditer(text))
    if not all_found:
        return None
    found = all_found[-1]
    told = found["cpus"]
    if _LIST.search(found[0].rpartition(told)[0]) or "-" in told:
        return told
    mask = told.replace(",", "")
    if not re.fullmatch(r"[\da-fA-F]{1,512}", mask):
        return None
    bits = int(mask, 16)
    return ranges(at for at in range(bits.bit_length()) if bits >> at & 1) or None


def read_ulimits(text: str) -> Told:
    """Return the limits of `ulimit -a` by name, with their unit: {"open files": "1024"}."""
    told = {
        name.strip(): value if value == "unlimited" or not unit else f"{value} {unit}"
        for name, unit, _, value in _ULIMIT.findall(text)
    }
    return {"ulimits": told} if len(told) >= _ENOUGH else {}
