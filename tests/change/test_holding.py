"""Who holds a host, who may speak, and which word changes nothing."""

from __future__ import annotations

import pytest

from tests.change.engine import StandIn, until
from tests.change.held import GONE, begun, changed
from tools.change import Change, Identity, Proposal
from tools.change.keeper import Held, Keeper
from tools.hosts.local import LocalHost


def test_the_same_name_learns_how_it_is_and_another_one_is_refused(server: StandIn) -> None:
    keeper = begun(server)
    keeper.stop()
    until(keeper, "stopped")
    again = server.keeper().begin(keeper_proposal(server), "e1", 1)
    assert again.state == "stopped"
    with pytest.raises(Held, match="held by e1"):
        Keeper(LocalHost(), server.port).begin(keeper_proposal(server), "e2", 9)
    with pytest.raises(Held, match="held by e1"):
        Keeper(LocalHost(), server.port, name="e2", fence=9).restore()
    who = Keeper(LocalHost(), server.port).status()
    assert who
    assert who.name == "e1"


def keeper_proposal(server: StandIn) -> Proposal:
    """Any proposal of this port; the server need not run."""
    return Proposal(host="here", port=server.port, engine="sglang", version=None, model=None, change=Change(unset=("x",)),
                    identity=Identity(pid=1, started_ticks=1, boot_id="x", digest="0" * 64), launcher="plain", old=(), new=(), edits=())  # fmt: skip


def test_who_was_overtaken_is_not_heard_any_more(server: StandIn) -> None:
    old = begun(server)
    new = Keeper(LocalHost(), server.port, name="e1", fence=2)
    assert new.status()
    with pytest.raises(Held, match="fence 1 is older than 2"):
        old.stop()
    assert until(new, "armed").fence == 2


def test_after_an_end_the_next_change_takes_its_place(server: StandIn) -> None:
    keeper = changed(server)
    keeper.keep()
    until(keeper, "kept")
    second = changed(server, GONE, name="e2")
    assert server.info()["max_running_requests"] == 64, "the engine's default"
    second.restore()
    until(second, "restored")
    assert server.info()["max_running_requests"] == 2
    with pytest.raises(Held):
        keeper.status()


def test_verbs_that_do_not_fit_change_nothing(server: StandIn) -> None:
    keeper, first = begun(server), server.pid
    for verb in (Keeper.start, Keeper.keep):
        assert verb(keeper).state == "armed"
    keeper.stop()
    until(keeper, "stopped")
    assert keeper.withdraw().state == "stopped"
    assert keeper.dismiss().state == "stopped"
    assert not server.pids()
    keeper.restore()
    until(keeper, "restored")
    assert server.pid != first
