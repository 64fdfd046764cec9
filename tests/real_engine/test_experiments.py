"""Experiments on a real SGLang: what helps is kept, what hurts or cannot start is taken back, whatever fails meanwhile."""

from __future__ import annotations

import functools
import multiprocessing
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.experiment.books import Approved
from bot.experiment.effects import LINE
from bot.experiment.machine import Experiment
from bot.experiment.record import Record
from bot.experiment.result import headline
from tests.change.engine import KEY, StandIn
from tests.change.units import may_have_groups
from tests.experiment.pretend import PretendBooks
from tests.experiment.struck import FEW, Case
from tests.experiment.worker import Fault
from tests.lab import sshd
from tests.lab.sshd import Lab
from tests.real_engine.engine import START_S
from tests.real_engine.served import Served, ServedBox, ServedUnit, flags
from tests.real_engine.waits import FIRST, Waits
from tools.change import Bounds, Change, Edit, KeepRule, Proposal
from tools.hosts.local import LocalHost

long = pytest.mark.long  # a start takes 20 seconds, and there are two or three for each change

BOUNDS = Bounds(drain_s=10, stop_s=40, ready_s=START_S, silence_s=60, whole_s=1500)
RULE = KeepRule(goal="ttft", better_pct=20)
OUT = (Change(unset=("max_running_requests",)), Edit(drop=FEW[:1]))
IN = (Change(set={"max_running_requests": 2}), Edit(add=FEW))
LAUNCHERS = {ServedUnit: "systemd", ServedBox: "docker"}
NONSENSE = (
    Change(set={"attention_backend": "nonsense"}),
    Edit(drop=("--attention-backend",), add=("--attention-backend", "nonsense")),
)


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A real server takes its time until its port answers."""
    waits = functools.partial(sshd.wait_for, limit_s=START_S)
    monkeypatch.setattr("tests.change.engine.wait_for", waits)
    for name in (
        "STAND_IN_SYSTEMD",
        "XDG_CONFIG_HOME",
        "XDG_RUNTIME_DIR",
        "STAND_IN_DOCKER",
        "STAND_IN_PYTHON",
        "PATH",
    ):
        monkeypatch.setenv(name, os.environ.get(name, ""))


@pytest.fixture
def served(tmp_path: Path, venv: Path, model: Path) -> Iterator[Callable[..., StandIn]]:
    made: list[StandIn] = []

    def begin(kind: type[StandIn], *more: str, **how: Any) -> StandIn:
        made.append(kind(tmp_path / "server", venv, *flags(model, *more), **how))
        return made[-1]

    yield begin
    for one in made:
        one.clear()


def tried(server: StandIn, change: Change, edit: Edit) -> Record:
    """Carry one change out, with a load that shows it and a few runs."""
    first = server.start()
    told = {"change": change, "keep": RULE, "repeats": 4, "bounds": BOUNDS}
    proposal = server.proposal(edit, launcher=LAUNCHERS.get(type(server), "plain"), **told)
    books = PretendBooks(Approved(proposal, proposal.digest, "UANA", 1.0))
    record = Experiment(books, Waits(LocalHost(), KEY), poll_s=0.5).carry_out(1)
    assert len(server.pids()) == 1
    assert server.serves()
    assert (server.start() == first) == (record.phase != "kept")
    assert all(KEY not in text for text in books.records.values())
    return record


def is_kept(record: Record) -> None:
    """See the change kept: by numbers far outside their noise, and proven by the server's own words."""
    assert record.phase == "kept", record.reason
    assert record.judged
    assert record.judged.gain_pct
    assert record.judged.gain_pct[0] > RULE.better_pct, record.judged
    assert record.before
    assert record.after
    assert len(record.before.figures[FIRST]) == len(record.after.figures[FIRST]) == 4
    assert "first token" in headline(record).lower()
    (proof,) = record.proofs
    assert proof.effective
    assert (proof.source, "max_running_requests=" in proof.found) == (LINE, True), proof


def is_taken_back_for_it_hurts(record: Record) -> None:
    assert record.phase == "restored"
    assert "is worse" in record.reason
    assert record.proofs[0].effective


def is_taken_back_for_it_cannot_start(record: Record) -> None:
    assert record.phase == "restored"
    assert record.trouble
    assert record.trouble.kind == "bad_value", record.trouble
    assert "nonsense" in record.reason
    assert record.after is None


def made(served: Callable[..., StandIn], how: str, *flags: str) -> StandIn:
    """Start the real engine in one of five ways."""
    kind = {"systemd": ServedUnit, "docker": ServedBox}.get(how)
    if kind is None:
        return served(Served, *flags, how=how)
    if why := may_have_groups():
        pytest.skip(why)
    return served(kind, *flags)


def test_under_nohup_what_helps_is_kept_and_what_hurts_or_cannot_start_is_taken_back(
    served: Callable[..., StandIn],
) -> None:
    server = made(served, "nohup", *FEW)
    is_kept(tried(server, *OUT))
    is_taken_back_for_it_hurts(tried(server, *IN))
    is_taken_back_for_it_cannot_start(tried(server, *NONSENSE))


@pytest.mark.parametrize("how", ["tmux", "script", "systemd", "docker"])
def test_a_cap_that_is_taken_out_is_kept_with_its_numbers(
    served: Callable[..., StandIn], how: str
) -> None:
    is_kept(tried(made(served, how, *FEW), *OUT))


@long
@pytest.mark.parametrize("how", ["tmux", "script", "systemd", "docker"])
def test_what_hurts_or_cannot_start_is_taken_back_however_it_was_started(
    served: Callable[..., StandIn], how: str
) -> None:
    server = made(served, how)
    is_taken_back_for_it_hurts(tried(server, *IN))
    is_taken_back_for_it_cannot_start(tried(server, *NONSENSE))


# Twelve faults, one after the other on one server of each half; those before the stop cost no start of it.
AWAY_S = 12.0  # longer than the dead-man
BEFORE_THE_STOP = [
    Fault("kill", "before", "after", AWAY_S),
    Fault("sshd", "before", "after", AWAY_S),
    Fault("readonly", "draining", "before", AWAY_S),
    Fault("full", "draining", "before", AWAY_S),
    Fault("cut", "draining", "before", 0.0),  # goes on, and is kept
    Fault("kill", "draining", "after", AWAY_S),
]
FROM_THE_STOP_ON = [
    Fault("readonly", "stopping", "before", AWAY_S),
    Fault("kill", "starting", "after", AWAY_S),
    Fault("sshd", "starting", "after", AWAY_S),
    Fault("full", "verifying", "before", AWAY_S),
    Fault("cut", "after", "after", 0.0),
    Fault("kill", "restoring", "after", 0.0),
]


class RealCase(Case):
    """A fault on the server that is there."""

    bounds = BOUNDS.model_copy(update={"silence_s": AWAY_S - 4})
    back_s = START_S
    whole_s = 3 * START_S

    def proposal_of(self, server: StandIn) -> Proposal:
        """Take the cap out where there is one, which helps, and else put it in, which hurts."""
        capped = FEW[0].encode() in server.start()[0]
        self.fault = replace(self.fault, hurts=not capped)
        return super().proposal_of(server)


@long
@pytest.mark.parametrize("faults", [BEFORE_THE_STOP, FROM_THE_STOP_ON], ids=["before", "after"])
def test_after_each_of_twelve_faults_one_healthy_server_runs_as_the_record_says(
    served: Callable[..., StandIn], tmp_path: Path, faults: list[Fault]
) -> None:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.experiment.worker"])
    server, lab = served(Served, *FEW), Lab(tmp_path / "lab")
    troubles = []
    try:
        for number, fault in enumerate(faults):
            case = RealCase(fault, tmp_path / f"{number}", context)
            troubles.append(case.struck(lambda case=case: case.on(lab, server)))
    finally:
        lab.stop()
    assert [one for one in troubles if one] == []
