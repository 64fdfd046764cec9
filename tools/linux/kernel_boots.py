"""Boots in a journal or log, and which of them end without a shutdown, as when power fails."""

from __future__ import annotations

import re

from tools.linux.kernel_lines import KernelLine, split_lines
from tools.linux.transcript import sections

_MARK = re.compile(
    r"^-- (?:Boot [0-9a-f]{32}|Reboot) --", re.MULTILINE
)  # journalctl, since 246 by id
_LISTED = re.compile(r"^ {0,6}-?\d{1,4} [0-9a-f]{32} ", re.MULTILINE)  # journalctl --list-boots
_EARLIER = re.compile(r"\bjournalctl\b.*(?:-b ?|--boot[= ])(-\d{1,4}|[0-9a-f]{32})")
_STARTS = re.compile(r"^.{0,120}\bLinux version \d", re.MULTILINE)
_SHUTDOWN = re.compile(
    r"systemd-shutdown|Reached target .{0,40}(?:Shutdown|Power-Off|Reboot|Power Off|Final Step)|Journal stopped"
    r"|reboot: (?:Restarting|Power down|System halted)|Shutting down\.|Powering off\.|Rebooting\."
    r"|System is (?:powering|rebooting)"
)
_TAIL = 60  # a clean end takes some dozens of lines after "Reached target Shutdown"


class Boots:
    """How many boots a text shows, and how many of the earlier ones were cut off.

    Only what services log tells a shutdown: a kernel log ends without one even when it was clean.
    """

    def __init__(self, text: str) -> None:
        logs = _MARK.split(text)
        listed = len(_LISTED.findall(text))
        self.count = max(listed, len(logs) if len(logs) > 1 else 0, len(_STARTS.findall(text)))
        self.cut = sum(1 for log in logs[:-1] if _cut_off(log))
        for part in sections(text):
            if _EARLIER.search(part.title) and not re.search(
                r"\bgrep\b|-k\b|--dmesg\b", part.title
            ):
                self.cut += _cut_off(part.body)


def _cut_off(log: str) -> bool:
    lines: list[KernelLine] = list(split_lines(log[-16_384:]))[-_TAIL:]
    services = any(line.at and line.source not in ("kernel", "") for line in lines)
    return services and not any(
        _SHUTDOWN.search(f"{line.source}: {line.message}") for line in lines
    )
