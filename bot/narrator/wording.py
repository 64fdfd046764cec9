"""How words of rules and probes stand in a sentence: capitals, shares, commands."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SHOWN = 3
_KEEPS = re.compile(r"\S*[A-Z0-9]\S*[A-Z0-9]|Xid\b|Triton\b")  # a first word with its own capital
_NARROW = re.compile(r"(\d)%")  # as Python formats a share
_PROBE = re.compile(r" \([A-Z]\w+\)(?=\.?$)")


def lowered(text: str) -> str:
    """Let a sentence begin inside another; names keep their capitals."""
    return text if _KEEPS.match(text) else f"{text[:1].lower()}{text[1:]}"


def raised(text: str) -> str:
    """Begin a sentence."""
    return f"{text[:1].upper()}{text[1:]}"


def spaced(text: str) -> str:
    """Write shares as a person reads them: 81 %."""
    return _NARROW.sub(r"\1 %", text)


def unnamed(text: str) -> str:
    """Take away the name of a probe at the end, which is for machines."""
    return _PROBE.sub("", text)


def joined(parts: Iterable[str]) -> str:
    """Join what is not empty."""
    return ", ".join(part for part in parts if part)


def some(parts: list[str]) -> str:
    """Join the first few, and count the rest."""
    more = f" and {len(parts) - _SHOWN} more" if len(parts) > _SHOWN else ""
    return ", ".join(parts[:_SHOWN]) + more


def span(name: str, values: Iterable[float | None], unit: str) -> str:
    """Tell a figure with its unit, or from where to where it goes; empty where there is none."""
    told = sorted(value for value in values if value is not None)
    if not told:
        return ""
    span = f"{told[0]:g}" if told[0] == told[-1] else f"{told[0]:g} to {told[-1]:g}"
    return f"{name} {span} {unit}".strip()
