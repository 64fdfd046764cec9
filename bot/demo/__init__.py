"""Synthetic cases that are shipped, so that anybody can see a whole investigation: CT129, and a healthy twin."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from tools.case import Case

CASES = ("ct129", "ct130")


def shipped(name: str = "ct129") -> Case:
    """Return a shipped case: "ct129" with a slow link, "ct130" the same machine in health."""
    return Case.load(shipped_path(name).read_text(encoding="utf-8"), name=f"{name}.json")


def shipped_path(name: str = "ct129") -> Path:
    """Return where the file of a shipped case lies."""
    if name not in CASES:
        raise ValueError(f"no case called {name} is shipped")
    return Path(str(files(__package__) / f"{name}.json"))
