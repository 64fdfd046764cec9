"""Lines of a kernel log: when, who, and what was said, in each form that logs come in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_LEVEL = r"(?:kern\s{0,3}:\w{2,8}\s{0,3}: |<\d{1,3}>)?"  # dmesg -x, /dev/kmsg
_MONTH = r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?"  # journalctl -o short, syslog
_ISO = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"
_UPTIME = re.compile(_LEVEL + r"\[ {0,8}(\d+\.\d+)\](?:\[ {0,5}[TC]\d+\])? ?")
_WALL = re.compile(
    _LEVEL + r"\[([A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4})\] ?"
)  # dmesg -T
_DMESG_ISO = re.compile(
    _LEVEL + rf"({_ISO}) (?=\S+ [\da-f]{{4}}:|NVRM|pci|nvidia|\S+: )(?!\S+ [\w./@-]+(?:\[\d+\])?: )"
)
_SYSLOG = re.compile(
    rf"({_MONTH}|{_ISO}|\[ {{0,8}}\d+\.\d+\]) ([\w.:-]{{1,253}}) ([\w./@()-]{{1,64}}?)(?:\[\d+\])?: ?"
)
_TICKS = re.compile(r"\[ {0,8}\d+\.\d+\] ?")  # syslog may keep the uptime behind "kernel:"


@dataclass(frozen=True)
class KernelLine:
    """One line: the time as printed, who said it ("kernel", or a program in a journal), the message."""

    at: str | None
    source: str
    message: str


def split_line(line: str) -> KernelLine:
    """Take a line apart; one without a prefix is all message."""
    if (found := _UPTIME.match(line)) or (found := _WALL.match(line)):
        rest = line[found.end() :]
        if "kernel: " in rest[:80] and (tail := re.match(r"[\w.:-]{1,64} kernel: ", rest)):
            rest = rest[tail.end() :]  # journalctl -o short-monotonic
        return KernelLine(found[1], "kernel", rest)
    if (found := _SYSLOG.match(line)) is not None:
        rest = line[found.end() :]
        if found[3] == "kernel" and (ticks := _TICKS.match(rest)):
            rest = rest[ticks.end() :]
        return KernelLine(found[1].strip("[ ]"), found[3], rest)
    if (found := _DMESG_ISO.match(line)) is not None:
        return KernelLine(found[1], "kernel", line[found.end() :])
    return KernelLine(None, "", line)


def split_lines(text: str) -> Iterator[KernelLine]:
    """Take each line apart; what is longer than any kernel line is cut."""
    for line in text.split("\n"):
        if line.strip():
            yield split_line(line[:2000])


def looks_like_kernel(text: str) -> bool:
    """Say whether the first lines are a kernel's, by its time stamps or by the word `kernel:`."""
    for line in text[:8000].split("\n")[:60]:
        found = split_line(line[:2000])
        if found.source == "kernel" and found.at is not None:
            return True
    return False
