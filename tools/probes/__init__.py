"""probes are all the read-only questions there are; PROBES is the table of contents."""

from __future__ import annotations

from typing import Any

from tools.probe import Probe

PROBES: dict[str, type[Probe[Any]]] = {}
