"""The machine on a stand-in server with its real keeper, over /proc, sockets and signals as they are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.experiment.books import Approved
from bot.experiment.machine import Experiment
from bot.experiment.record import Record
from tests.change.engine import KEY, SECRET, StandIn, keepers, stand_in
from tests.experiment.live import BOUNDS, SureLoad
from tests.experiment.pretend import PretendBooks
from tests.lab.sshd import wait_for
from tools.change import Change, Edit, KeepRule
from tools.hosts.local import LocalHost

RULE = KeepRule(goal="throughput", better_pct=10)
FEW = ("--max-running-requests", "2")
TAKEN_OUT = Edit(drop=("--max-running-requests",))
RUN = 1


class Tried:
    """One change of a stand-in, carried out."""

    def __init__(self, server: StandIn, change: Change, *edits: Edit, **more: object) -> None:
        self.server, self.first = server, server.start()
        self.pid = server.pid
        proposal = server.proposal(
            *edits, change=change, keep=RULE, repeats=3, bounds=BOUNDS, **more
        )
        self.books = PretendBooks(Approved(proposal, proposal.digest, "UANA", 1.0))
        self.stop_by: str | None = None
        self.machine = Experiment(
            self.books, SureLoad(LocalHost(), KEY), stopped=lambda: self.stop_by, poll_s=0.1
        )

    def carry_out(self) -> Record:
        record = self.machine.carry_out(RUN)
        wait_for(lambda: not keepers(self.server.port), "the keeper stays after its dismissal")
        assert len(self.server.pids()) == 1
        assert self.server.serves()
        for text in (*self.books.records.values(), *(one.text for one in self.books.steps)):
            assert KEY not in text
            assert SECRET not in text
        return record


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[StandIn]:
    """A server that takes two requests at once, though it could take more."""
    with stand_in(tmp_path, *FEW) as server:
        yield server


def test_a_cap_that_is_taken_out_helps_and_is_kept(slow: StandIn) -> None:
    tried = Tried(slow, Change(unset=("max_running_requests",)), TAKEN_OUT)
    record = tried.carry_out()
    assert record.phase == "kept", tried.books.steps
    assert record.judged
    assert record.judged.gain_pct
    assert record.judged.gain_pct[0] > 10
    assert "--max-running-requests" not in [word.decode() for word in slow.start()[0]]
    assert slow.pid != tried.pid


def test_a_cap_that_is_put_in_hurts_and_is_taken_back_byte_for_byte(tmp_path: Path) -> None:
    with stand_in(tmp_path) as server:
        tried = Tried(server, Change(set={"max_running_requests": 2}), Edit(add=FEW))
        record = tried.carry_out()
        assert record.phase == "restored", tried.books.steps
        assert record.reason.endswith(").")
        assert "worse" in record.reason
        assert [one.effective for one in record.proofs] == [True]
        assert server.start() == tried.first
        assert server.pid != tried.pid


def test_a_flag_that_the_engine_does_not_know_is_taken_back_and_explained(slow: StandIn) -> None:
    new = (*slow.proposal().old, "--nonsense", "<dropped>")
    tried = Tried(slow, Change(set={"nonsense": 1}), Edit(add=("--nonsense", "1")), new=new)
    record = tried.carry_out()
    assert record.phase == "restored"
    assert record.trouble
    assert record.trouble.kind == "unknown_flag"
    assert "--nonsense" in record.reason
    assert record.trouble.line
    assert slow.start() == tried.first


def test_memory_that_does_not_suffice_is_taken_back_and_explained(slow: StandIn) -> None:
    fails = '{"stand_in": {"fail": "cuda_oom"}}'
    tried = Tried(
        slow,
        Change(set={"json_model_override_args": fails}),
        Edit(add=("--json-model-override-args", fails)),
    )
    record = tried.carry_out()
    assert record.phase == "restored"
    assert record.trouble
    assert record.trouble.kind == "out_of_memory"


def test_a_server_that_was_restarted_by_hand_since_is_left_as_it_is(slow: StandIn) -> None:
    tried = Tried(slow, Change(unset=("max_running_requests",)), TAKEN_OUT)
    slow.clear()
    slow.launch()
    wait_for(slow.serves, "it does not come up again")
    pid = slow.pid
    record = tried.carry_out()
    assert record.phase == "withdrawn"
    assert record.trouble
    assert record.trouble.kind == "host_changed"
    assert slow.pid == pid


def test_a_stop_in_the_middle_brings_the_old_one_back(slow: StandIn) -> None:
    tried = Tried(slow, Change(unset=("max_running_requests",)), TAKEN_OUT)

    def pressed(record: Record) -> None:
        tried.stop_by = "ana" if record.phase == "verifying" else tried.stop_by

    tried.books.after_save = pressed
    record = tried.carry_out()
    assert (record.phase, record.stop_by) == ("restored", "ana")
    assert slow.start() == tried.first
