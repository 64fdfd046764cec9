"""An approved plan in the worker: one change after the other, crashes between any two steps, stops, and the ledger."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bot.proposal.wanted import NotPossible
from bot.store import Run
from bot.work.proposals import Anew
from tests.experiment.pretend import NEW, OLD, Clock, Killed, PretendHost, proposal
from tests.work.room import Room, text_of
from tools.change import Change, Identity, Plan, Predicted, Proposal
from tools.errors import Unreachable

START = Identity(pid=10, started_ticks=1, boot_id="boot", digest=OLD)
TS = "1700000000.000777"
GAIN = Predicted(decode_pct=(10.0, 20.0, 30.0))


def wanted(size: int, **more: object) -> Proposal:
    change = Change(set={"chunked_prefill_size": size})
    told: dict[str, Any] = {"change": change, "predicted": GAIN, "identity": START}
    return proposal(**(told | more))


class Server:
    """What the plan meets: a host for each change, which helps where it is said so."""

    def __init__(self, room: Room, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
        self.room, self.clock = room, clock
        self.digest, self.pid = OLD, 10
        self.helps: set[int] = set()
        self.looked: list[int] = []
        self.before: Callable[[int], None] = lambda _size: None
        self.prepare: Callable[[PretendHost, int], None] = lambda _host, _size: None
        monkeypatch.setattr("bot.work.campaigns.anew", self.anew)
        monkeypatch.setattr("bot.work.experiments.time.sleep", clock.sleep)

    def anew(self, _host: object, planned: Proposal, _scope: object) -> Proposal:
        size = int(str(planned.change.set["chunked_prefill_size"]))
        self.looked.append(size)
        self.before(size)
        host = PretendHost(self.clock)
        if size not in self.helps:
            host.step_ms["new"] = [20.0, 20.1, 19.9]
        self.prepare(host, size)
        self.room.hands.append(host)
        identity = START.model_copy(update={"digest": self._digest(), "pid": self.pid})
        return planned.model_copy(update={"identity": identity})

    def _digest(self) -> str:
        results = self.room.store.experiments.results("CT129", None, 9)
        return NEW if any(one.phase == "kept" for one in results) else self.digest


def approve(room: Room, plan: Plan) -> Run:
    """Let a plan be approved, as the desk does."""
    where = {"channel": "CGPU", "thread": TS, "user": "USAM"}
    made = room.store.runs.add("plan", "plan", host="CT129", state="done", **where)  # type: ignore[arg-type]
    assert made
    offer = room.store.proposals.add(made.id, plan, lives_s=600, **where)
    with room.store.together():
        run = room.desk._deciding_on._approvals.approve(offer, plan.digest, "UANA", "CGPU", TS)
    assert isinstance(run, Run), run
    room.queue.append(run)
    return run


def plan_of(*sizes: int, budget_s: float = 36_000) -> Plan:
    return Plan(
        goal="decode",
        budget_s=budget_s,
        proposals=tuple(map(wanted, sizes)),
        sources=tuple("it may help" for _ in sizes),
    )


@pytest.fixture
def room(make_room: Callable[..., Room]) -> Room:
    return make_room(access={"approve": ("USAM", "UANA")})


@pytest.fixture
def server(room: Room, monkeypatch: pytest.MonkeyPatch) -> Server:
    return Server(room, Clock(), monkeypatch)


def kinds(room: Room) -> list[tuple[str, str]]:
    return [(run.kind, run.state) for run in room.runs() if run.kind != "plan"]


def ledger(room: Room) -> str:
    (told,) = [one for one in room.said(TS) if "kept." in one or "Nothing was tried" in one]
    return told


def test_each_change_is_an_experiment_of_its_own_and_the_ledger_tells_all(
    room: Room, server: Server
) -> None:
    server.helps = {4096}
    approve(room, plan_of(2048, 4096, 8192))
    room.work()
    assert server.looked == [2048, 4096, 8192]
    told = ledger(room)
    assert told.startswith("1 of 3 changes kept. Nothing that is predicted to help is left.")
    assert told.count("taken back") == 2
    assert told.count("'kept'") == 1
    assert "'+20 % (+10 to +30)', '+3" in told, "predicted beside measured"
    trails = [text_of(one) for one in room.letters(TS, "trail") if one.parts]
    assert [one.splitlines()[0] for one in trails] == [
        f"Change {n} of 3 on CT129: --chunked-prefill-size {size}."
        for n, size in enumerate((2048, 4096, 8192), start=1)
    ]
    assert len(room.letters(TS, "verdict")) == 3, "each has its own result"
    assert kinds(room) == [("campaign", "done"), ("experiment", "done")] * 3 + [
        ("campaign", "done")
    ]
    approved = [room.store.experiments.approved(run.id) for run in room.runs() if run.kind == "experiment"]  # fmt: skip
    assert [one.by for one in approved if one] == ["UANA"] * 3
    acts = [act for act in room.store.audit.newest(50) if act.act == "try of a plan"]
    assert [(act.user, act.host) for act in acts] == [("UANA", "CT129")] * 3


def test_a_change_that_cannot_start_stands_in_the_ledger_and_the_next_one_comes(
    room: Room, server: Server
) -> None:
    from tools.change import Trouble

    def fail(host: PretendHost, size: int) -> None:
        if size == 2048:
            host.fails = Trouble(kind="out_of_memory", sentence="The GPU memory was not enough.")

    server.prepare, server.helps = fail, {4096}
    approve(room, plan_of(2048, 4096))
    room.work()
    told = ledger(room)
    assert "'not measured', 'taken back', 'The GPU memory was not enough'" in told
    assert told.startswith("1 of 2 changes kept.")


def test_killed_at_any_place_it_goes_on_and_tries_each_change_once(
    room: Room, server: Server
) -> None:
    """A step that dies before, while, or after it begins a change is begun again, as the queue does."""
    places: list[str] = []
    server.helps = {4096}

    def die(what: str) -> None:
        if what not in places:
            places.append(what)
            raise Killed

    server.before = lambda size: die(f"look {size}")
    enqueue, began = room.worker._ends.enqueue, []
    room.worker._ends.enqueue = lambda run: (began.append(run.id), die(f"begun {run.kind}"))  # type: ignore[func-returns-value]
    server.prepare = lambda host, size: setattr(
        host, "on_call", lambda verb: die(f"{verb} {size}") if verb == "start" else None
    )
    approve(room, plan_of(2048, 4096))
    for _ in range(60):
        waiting = [run for run in room.store.runs.open() if run.state in ("waiting", "running")]
        if not waiting:
            break
        try:
            room.worker.carry_out(waiting[0].id)
        except Killed:
            continue
    room.worker._ends.enqueue = enqueue
    assert {"look 2048", "look 4096", "begun experiment", "start 2048", "begun campaign"} <= set(
        places
    )
    assert ledger(room).startswith("1 of 2 changes kept.")
    assert len([run for run in room.runs() if run.kind == "experiment"]) == 2
    assert len(room.letters(TS, "verdict")) == 2
    assert not room.store.runs.open()


def test_stop_takes_back_the_one_that_is_on_and_ends_the_plan(room: Room, server: Server) -> None:
    def stop(host: PretendHost, _size: int) -> None:
        def on_call(verb: str) -> None:
            if verb == "start":
                host.on_call = lambda _verb: None
                room.say("stop", thread=TS)

        host.on_call = on_call

    server.prepare = stop
    approve(room, plan_of(2048, 4096))
    room.work()
    assert server.looked == [2048]
    told = ledger(room)
    assert told.startswith("0 of 1 change kept. Stopped by sam.")
    assert "'taken back'" in told
    assert kinds(room)[-1] == ("campaign", "stopped")
    assert not room.store.runs.open()


def test_stop_while_the_next_change_is_prepared_begins_none(room: Room, server: Server) -> None:
    run = approve(room, plan_of(2048, 4096))
    server.before = lambda _size: room.store.runs.ask_stop(run.id, "USAM")
    room.work()
    assert ledger(room) == "Nothing was tried. Stopped by sam."
    assert kinds(room) == [("campaign", "stopped")]


def test_a_host_that_changed_since_the_approval_is_planned_anew(room: Room, server: Server) -> None:
    server.pid = 99  # restarted by hand, with the same command line
    approve(room, plan_of(2048))
    room.queue, first = [], room.queue[0]
    room.worker.enqueue = room.queue.append
    room.worker.carry_out(first.id)
    (again,) = room.queue
    assert (again.kind, again.host, again.port) == ("plan", "CT129", 30000)
    assert again.message == '{"goal":"decode","budget_s":36000.0}'
    assert "is not the one that was approved any more, so nothing was done" in room.said(TS)[-1]
    assert not [run for run in room.runs() if run.kind == "experiment"]
    room.worker.carry_out(first.id)
    assert len(room.queue) == 1, "a step is done once"


def test_what_somebody_changed_between_two_tries_is_left_alone(room: Room, server: Server) -> None:
    def change(size: int) -> None:
        server.digest = "f" * 64 if size == 4096 else OLD

    server.before = change
    approve(room, plan_of(2048, 4096))
    room.work()
    assert "the server was changed by somebody else meanwhile" in ledger(room)
    assert len([run for run in room.runs() if run.kind == "experiment"]) == 1


def test_what_can_no_longer_be_tried_and_a_host_that_is_away_stand_in_the_ledger(
    room: Room, server: Server
) -> None:
    def refuse(size: int) -> None:
        if size == 2048:
            raise NotPossible("It runs like that already: there is nothing to try.")
        raise Unreachable("CT129: no route to host")

    server.before = refuse
    approve(room, plan_of(2048, 4096))
    room.work()
    told = ledger(room)
    assert "The host does not answer: CT129: no route to host." in told
    assert "'left out', 'It runs like that already: there is nothing to try'" in told


def test_it_ends_when_its_time_is_over(room: Room, server: Server) -> None:
    now = room.store._database.now
    later = [0.0]
    room.store._database.now = lambda: now() + later[0]

    def slow(size: int) -> None:
        later[0] += 2000

    server.before = slow
    approve(room, plan_of(2048, 4096, budget_s=2100))
    room.work()
    assert server.looked == [2048]
    assert "The budget is over" in ledger(room)


def test_an_approved_plan_that_was_edited_afterwards_begins_nothing(
    room: Room, server: Server
) -> None:
    from bot.store.change_tables import proposals as rows

    approve(room, plan_of(2048))
    with room.store._database.writing() as connection:
        connection.execute(rows.update().values(body=plan_of(16384).model_dump_json()))
    room.work()
    assert "This plan is not the one that was approved any more" in room.said(TS)[-1]
    assert server.looked == []


def test_a_change_of_a_plan_is_not_proposed_anew_by_itself(room: Room, server: Server) -> None:
    server.prepare = lambda host, _size: setattr(host, "changed", True)
    approve(room, plan_of(2048))
    room.work()
    assert "'not begun'" in ledger(room)
    assert not [run for run in room.runs() if run.kind == "proposal"]
    experiment = next(run for run in room.runs() if run.kind == "experiment")
    assert Anew(room.store, room.queue.append)(experiment, wanted(2048)) == ()


def test_of_two_replicas_that_carry_out_the_same_step_one_begins_the_change(
    room: Room, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    run = approve(room, plan_of(2048))

    def twice(_size: int) -> None:
        server.before = lambda _size: None
        room.worker._kinds["campaign"](run)  # the other replica, whole, while this one looks

    server.before = twice
    room.work()
    assert server.looked == [2048, 2048]
    assert len([one for one in room.runs() if one.kind == "experiment"]) == 1
    assert ledger(room).startswith("0 of 1 change kept. Nothing that is predicted to help is left.")
    assert "fell over" not in caplog.text
