"""`nvidia-smi nvlink`: -s (rate or inactive), -e (error counters), -gt d (traffic), several readings.

The rate is the raw signalling rate of a link, .9412 of it the vendor's figure (GA102 14.062, V100
25.781, A100 25, H100 26.562, B200 53.125 GB/s: captures). A node's health check that lists inactive
links is read too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tools.nvidia.topology import Nvlink, Nvlinks

_GPU = re.compile(r"GPU (\d+): (\S.{0,100}?) \(UUID:")
_CHECKED = re.compile(r"GPU (\d+) has nvlinks inactive")
_LINK = re.compile(r"\bLink (\d{1,2}): +(.{1,60})$")
_RATE = re.compile(r"(\d{1,9}(?:[.,]\d+)?) GB/s")
_ERRORS = re.compile(r"(Replay|Recovery|CRC|CRC Flit|CRC Data) Errors: (\d{1,18})")
# NVLink 5 counts these instead (B200, driver 570 on); symbols and FEC are corrected, so no error.
_ERRORS_5 = re.compile(
    r"(Malformed packet|Buffer overrun|Rx|Rx remote|Rx General|Local link integrity|Effective) Errors: (\d{1,18})"
    r"|(Link recovery failed) events: (\d{1,18})|(Link recovery) events: (\d{1,18})"
)
# -gt prints one way a line, the older -g both in one: "Rx0: 12 KBytes, Tx0: 34 KBytes".
_TRAFFIC = re.compile(r"(?:Raw |Data )?(Tx|Rx)(?:0|1)?: (\d+) K(?:iB|Bytes)")
_INACTIVE = re.compile(r"<?inactive>?\s*$", re.IGNORECASE)
_ALL_OFF = "all links are inActive"
_FIELDS = {"Replay": "replay_errors", "Recovery": "recovery_errors", "Tx": "tx_kib", "Rx": "rx_kib"}
_STATE = frozenset({"active", "gb_s"})
_MOST = 500  # readings of one link
_LONGEST = 300


def is_nvlink(text: str) -> bool:
    """Say whether a text tells of NVLinks, link by link, or that all are inactive."""
    if _ALL_OFF in text or _CHECKED.search(text):
        return True
    lines = (line for line in text.splitlines() if len(line) < _LONGEST)
    return any((found := _LINK.search(line)) and _told(found[2]) for line in lines)


def read_nvlink(text: str) -> Nvlinks:
    """Return the links of each GPU; a counter that comes again is a second reading."""
    names: dict[str, str] = {}
    links: dict[tuple[int, int], _Link] = {}
    gpu: int | None = None
    for line in text.splitlines():
        if len(line) > _LONGEST:
            continue
        if header := _GPU.search(line):
            gpu, names[header[1]] = int(header[1]), header[2]
        elif checked := _CHECKED.search(line):
            gpu = int(checked[1])
        if (found := _LINK.search(line)) and gpu is not None and (told := _told(found[2])):
            links.setdefault((gpu, int(found[1])), _Link()).take(told)
    return Nvlinks(
        gpu_names=names,
        links=tuple(
            each for (gpu, link), found in links.items() for each in found.readings(gpu, link)
        ),
    )


@dataclass
class _Link:
    """One link while it is read: its state, and each counter's readings in their order."""

    state: dict[str, Any] = field(default_factory=dict)
    counters: dict[str, list[int]] = field(default_factory=dict)

    def take(self, told: dict[str, Any]) -> None:
        for name, value in told.items():
            if name in _STATE:
                self.state[name] = value
            else:
                self.counters.setdefault(name, []).append(value)

    def readings(self, gpu: int, link: int) -> Iterator[Nvlink]:
        """Give the first reading with the state, then the others; CRC kinds are summed."""
        many = max((len(values) for values in self.counters.values()), default=1)
        for reading in range(min(many, _MOST)):
            known = {
                name: values[reading]
                for name, values in self.counters.items()
                if reading < len(values)
            }
            crc = [value for name, value in known.items() if name.startswith("CRC")]
            plain = {name: value for name, value in known.items() if not name.startswith("CRC")}
            yield Nvlink(
                gpu=gpu,
                link=link,
                reading=reading,
                crc_errors=sum(crc) if crc else None,
                **plain,
                **({} if reading else self.state),
            )


def _told(words: str) -> dict[str, Any]:
    if _INACTIVE.match(words):
        return {"active": False}
    if rate := _RATE.match(words):
        return {"active": True, "gb_s": float(rate[1].replace(",", "."))}
    if errors := _ERRORS.match(words):
        return {_FIELDS.get(errors[1], errors[1]): int(errors[2])}
    if found := _ERRORS_5.match(words):
        name, count = [part for part in found.groups() if part is not None]
        return {"recovery_errors" if name == "Link recovery" else f"CRC {name}": int(count)}
    return {_FIELDS[way]: int(kib) for way, kib in _TRAFFIC.findall(words)}
