"""The CT129 story: a synthetic case that is shipped, so that anybody can see a whole investigation."""

from __future__ import annotations

from importlib.resources import files

from tools.case import Case


def shipped() -> Case:
    """Return the shipped case."""
    return Case.load(
        (files(__package__) / "ct129.json").read_text(encoding="utf-8"), name="ct129.json"
    )
