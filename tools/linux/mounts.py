"""File systems as df, mount and findmnt list them: /dev/shm, what is full, what lies on a network."""

from __future__ import annotations

import re
from typing import Any

from tools.linux.quantity import size_mib

Told = dict[str, Any]
# coreutils 8.28 to 9.5: the heads are translated, "tmpfs" and the paths are not
_AMOUNT = r"[\d.,]+[KMGTPE]?i?B?"
_ROW = re.compile(
    r"^(?P<source>\S.{0,400}?)[ \t]+(?:(?P<kind>[a-z][\w.-]{1,30})[ \t]+)?"
    rf"(?P<size>{_AMOUNT})[ \t]+(?P<used>{_AMOUNT}|-)[ \t]+-?(?:{_AMOUNT}|-)"
    r"[ \t]+(?P<full>\d{1,3}%|-)[ \t]+(?P<path>/\S*)$",
    re.MULTILINE,
)
# "1K-blocks", "1024-blocks", "1M-blocks"; "1K-Blöcke", "blocs de 1K", "1K块", "1K-bloků"
_BLOCKS = re.compile(r"\b1(K|M|G)\b|\b(1024|1048576)\b")
_INODES = re.compile(r"\bI(?:[A-Z]|-|nodes?)|\bInodes\b|\bI-uzl|\bИнод", re.MULTILINE)
_MOUNT = re.compile(
    r"^(?P<source>\S{1,400}) on (?P<path>/\S{0,400}) type (?P<kind>[\w.-]{1,40}) \((?P<options>[^)\n]{0,2000})\)$",
    re.MULTILINE,
)
_PROC = re.compile(  # /proc/mounts, /etc/fstab
    r"^(?P<source>\S{1,400}) (?P<path>/\S{0,400}) (?P<kind>[a-z][\w.-]{1,40})"
    r" (?P<options>(?:rw|ro)(?:,\S{0,2000})?) 0 0$",
    re.MULTILINE,
)
_FOUND = re.compile(  # findmnt, whose tree is drawn with lines
    r"^[│├└─|` -]{0,40}(?P<path>/\S{0,400}) +(?P<source>\S{1,400}) +(?P<kind>[a-z][\w.-]{1,40})"
    r" +(?P<options>(?:rw|ro)(?:,\S{0,2000})?)$",
    re.MULTILINE,
)
_SIZE = re.compile(r"(?:^|,)size=(\d{1,15})([kKmMgG%]?)(?:,|$)")
# of the kernel itself and of containers: they hold no weights
_OF_THE_SYSTEM = frozenset({
    "proc", "sysfs", "devtmpfs", "devpts", "mqueue", "cgroup", "cgroup2", "securityfs", "pstore", "bpf", "debugfs",
    "tracefs", "configfs", "fusectl", "hugetlbfs", "autofs", "efivarfs", "binfmt_misc", "nsfs", "rpc_pipefs",
    "ramfs", "squashfs",
})  # fmt: skip
_MOST = 400


def read_mounts(text: str) -> Told:
    """Return size and use of /dev/shm, the kinds of file systems, and how full each is."""
    facts: Told = {}
    kinds: dict[str, str] = {}
    for pattern in (_MOUNT, _PROC, _FOUND):
        for found in pattern.finditer(text):
            if found["path"] == "/dev/shm" and (mib := _sized(found["options"])):  # noqa: S108
                facts["shm_total_mib"] = mib
            kinds[found["path"]] = found["kind"]
    facts |= _df(text, kinds)
    kept = {path: kind for path, kind in kinds.items() if kind not in _OF_THE_SYSTEM}
    return facts | ({"mounts": dict(list(kept.items())[:_MOST])} if kept else {})


def _sized(options: str) -> float | None:
    found = _SIZE.search(options)
    if found is None or found[2] == "%":
        return None
    return size_mib(found[1], found[2].upper())


def _df(text: str, kinds: dict[str, str]) -> Told:
    facts: Told = {}
    full: dict[str, float] = {}
    for row in list(_ROW.finditer(text))[:_MOST]:
        head = text[: row.start()].rstrip("\n").rpartition("\n\n")[2].split("\n")
        title = next((line for line in reversed(head[-_MOST:]) if not _ROW.match(line)), "")
        if _INODES.search(title):
            continue
        if row["kind"]:
            kinds[row["path"]] = row["kind"]
        if row["path"] == "/dev/shm":  # noqa: S108
            facts["shm_total_mib"] = size_mib(row["size"], _unit(title))
            facts["shm_used_mib"] = size_mib(row["used"], _unit(title))
        elif row["full"] != "-" and row["source"].startswith("/"):
            full[row["path"]] = float(row["full"][:-1])
    return facts | ({"full_pct": full} if full else {})


def _unit(title: str) -> str:
    found = _BLOCKS.search(title)
    return "K" if found is None else found[1] or ("K" if found[2] == "1024" else "M")
