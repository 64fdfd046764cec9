"""A keeper that holds a stand-in for one change: begun, or as far as the new server."""

from __future__ import annotations

from tests.change.engine import StandIn, until
from tools.change import Edit
from tools.change.keeper import Keeper

TWO = Edit(drop=("--max-running-requests",), add=("--max-running-requests", "2"))
GONE = Edit(drop=("--max-running-requests",))


def begun(server: StandIn, *edits: Edit, name: str = "e1", **more: object) -> Keeper:
    keeper = server.keeper(name)
    status = keeper.begin(server.proposal(*(edits or (TWO,)), **more), name, 1)  # type: ignore[arg-type]
    assert status.state == "armed", status.trouble
    return keeper


def changed(server: StandIn, *edits: Edit, **more: object) -> Keeper:
    keeper = begun(server, *edits, **more)
    keeper.stop()
    until(keeper, "stopped")
    keeper.start()
    until(keeper, "ready")
    return keeper
