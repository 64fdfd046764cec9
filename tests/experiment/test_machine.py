"""The state machine against a host and books in memory: every end is known, wherever it is interrupted."""

from __future__ import annotations

import pytest

from bot.experiment.books import Held, Overtaken
from bot.experiment.machine import Experiment, NotApproved
from bot.experiment.record import Phase, Record
from bot.experiment.step import Step
from tests.experiment.pretend import (
    OLD,
    STEP,
    Clock,
    Killed,
    PretendBooks,
    PretendHost,
    approval,
    cut,
    replace,
)
from tools.change import Trouble
from tools.errors import ToolsError, Unreachable

RUN = 7
NONSENSE = Trouble(
    kind="unknown_flag",
    sentence="The engine does not know --nonsense.",
    line="error: unrecognized arguments: --nonsense",
)


class World:
    """One experiment with all that it needs."""

    def __init__(self, **more: object) -> None:
        self.clock = Clock()
        self.books = PretendBooks(approval(**more))
        self.host = PretendHost(self.clock)
        self.told: list[Step] = []
        self.stop_by: str | None = None

    def carry_out(self, **more: str) -> Record:
        machine = Experiment(
            self.books, self.host, tell=self.told.append, stopped=lambda: self.stop_by,
            now=self.clock.now, sleep=self.clock.sleep,
        )  # fmt: skip
        return machine.carry_out(RUN, **more)

    def said(self) -> str:
        return " | ".join(one.text for one in self.books.steps)


def holds(world: World, record: Record) -> None:
    """Exactly one healthy server runs, and it is the one that the record names."""
    meant = {"kept": "new", "restored": "old", "withdrawn": "old"}
    assert record.over
    assert record.phase in meant, (record.phase, world.said())
    assert world.host.server == meant[record.phase]
    kept = world.books.load(RUN)
    assert kept
    assert kept.model_copy(update={"fence": record.fence}) == record
    assert world.books.holder is None


def test_a_change_that_helps_is_kept_with_its_numbers() -> None:
    world = World()
    record = world.carry_out()
    holds(world, record)
    assert record.phase == "kept"
    assert record.before
    assert record.after
    assert record.before.figures == {STEP: (19.9, 20.0, 20.1)}  # the first run warmed it up
    assert len(record.after.figures[STEP]) == 3
    assert record.judged
    assert record.judged.why.startswith(
        "Step with one stream is better: 15.0 ms instead of 20.0 ms (−25.0 %"
    )
    assert [one.phase for one in world.books.steps] == [
        "arming", "before", "draining", "stopping", "starting", "verifying", "after", "keeping",
    ]  # fmt: skip
    assert world.host.calls[-1] == "dismiss"


def test_a_change_that_hurts_is_taken_back() -> None:
    world = World()
    world.host.step_ms["new"] = [25.0, 25.1, 24.9]
    record = world.carry_out()
    holds(world, record)
    assert record.phase == "restored"
    assert "worse" in record.reason


def test_no_difference_is_taken_back_and_says_what_it_could_have_shown() -> None:
    world = World()
    world.host.step_ms["new"] = [20.1, 19.9, 20.0]
    record = world.carry_out()
    holds(world, record)
    assert record.phase == "restored"
    assert "No difference is shown: 3 and 3 runs would have shown" in record.reason


def test_a_server_that_cannot_start_is_taken_back_and_explained() -> None:
    world = World()
    world.host.fails = NONSENSE
    record = world.carry_out()
    holds(world, record)
    assert record.phase == "restored"
    assert record.reason == NONSENSE.sentence
    assert record.trouble == NONSENSE
    assert record.log == ("error: unrecognized arguments: --nonsense",)
    assert record.after is None


def test_a_flag_that_did_not_take_effect_is_not_measured() -> None:
    world = World()
    world.host.effective = False
    record = world.carry_out()
    holds(world, record)
    assert record.phase == "restored"
    assert record.reason.startswith("max_running_requests did not take effect")
    assert world.host.runs["new"] == 0


def test_a_server_that_fails_requests_with_the_change_is_taken_back() -> None:
    world = World()
    world.host.errors_with_the_change = 2
    record = world.carry_out()
    holds(world, record)
    assert record.phase == "restored"
    assert "2 requests of the load failed" in record.reason


def test_a_host_that_changed_since_the_approval_is_left_as_it_is() -> None:
    world = World()
    world.host.changed = True
    record = world.carry_out()
    holds(world, record)
    assert record.phase == "withdrawn"
    assert record.trouble
    assert record.trouble.kind == "host_changed"
    assert not world.host.touched


def test_a_server_that_others_use_all_the_time_is_left_as_it_is() -> None:
    world = World()
    world.host.busy_runs = 1000
    record = world.carry_out()
    holds(world, record)
    assert record.phase == "withdrawn"
    assert "busy" in record.reason


def test_a_server_that_others_use_for_a_moment_is_waited_for() -> None:
    world = World()
    world.host.busy_runs = 1
    assert world.carry_out().phase == "kept"


def test_an_edited_proposal_is_not_carried_out() -> None:
    world = World()
    assert world.books.approval
    world.books.approval = replace(world.books.approval, digest="0" * 64)
    with pytest.raises(NotApproved, match="was edited since it was approved"):
        world.carry_out()
    world.books.approval = None
    with pytest.raises(NotApproved, match="is not approved"):
        world.carry_out()
    assert world.host.calls == []


def test_a_host_that_another_experiment_holds_is_left_alone() -> None:
    world = World()
    world.books.holder = 99
    with pytest.raises(Held):
        world.carry_out()
    assert world.host.calls == []


def test_a_process_that_was_overtaken_does_nothing_more() -> None:
    world = World()

    def another_takes_it(record: Record) -> None:
        if record.phase == "stopping":
            world.books.fence += 1

    world.books.before_save = another_takes_it
    with pytest.raises(Overtaken):
        world.carry_out()
    assert "stop" not in world.host.calls


STOPPABLE: list[tuple[Phase, str]] = [
    ("arming", "withdrawn"),
    ("before", "withdrawn"),
    ("draining", "withdrawn"),
    ("stopping", "restored"),
    ("starting", "restored"),
    ("verifying", "restored"),
    ("after", "restored"),
]


@pytest.mark.parametrize(("phase", "end"), STOPPABLE)
def test_the_stop_button_takes_it_back_at_any_moment(phase: Phase, end: str) -> None:
    world = World()

    def pressed(record: Record) -> None:
        world.stop_by = "ana" if record.phase == phase else world.stop_by

    world.books.after_save = pressed
    record = world.carry_out()
    holds(world, record)
    assert record.phase in (end, "withdrawn")  # nothing was touched yet, where the stop was faster
    assert record.stop_by == "ana"


def test_after_too_many_restarts_it_is_taken_back_at_once() -> None:
    world = World()
    _killed_at(world, "save after")
    record = world.carry_out(hurry="I was restarted too often.")
    holds(world, record)
    assert record.phase == "restored"
    assert record.reason == "I was restarted too often."


# Interruptions: each event of a whole run is a place where the process may end, the line be cut, the
# database refuse. An event is a save or a call of the host, by its number.


class Events:
    """Counts the saves and calls of a world, and does something at one of them."""

    def __init__(self, world: World) -> None:
        self.names: list[str] = []
        world.books.before_save = lambda record: self._count(f"save {record.phase}")
        world.host.on_call = lambda verb: self._count(f"call {verb}")
        self.at: int | None = None
        self.do = lambda: None

    def _count(self, name: str) -> None:
        self.names.append(name)
        if self.at is not None and len(self.names) == self.at + 1:
            self.do()


def _whole() -> list[str]:
    world = World()
    events = Events(world)
    world.carry_out()
    return events.names


WHOLE = _whole()


def _kill() -> None:
    raise Killed


def _killed_at(world: World, name: str) -> None:
    events = Events(world)
    events.at, events.do = WHOLE.index(name), _kill
    with pytest.raises(Killed):
        world.carry_out()
    world.books.before_save = lambda _record: None
    world.host.on_call = lambda _verb: None


@pytest.mark.parametrize("away_s", [0.0, 10.0, 100.0, 5000.0])
@pytest.mark.parametrize("at", range(len(WHOLE)))
def test_a_process_that_is_killed_anywhere_leaves_an_end_that_is_known(
    at: int, away_s: float
) -> None:
    world = World()
    events = Events(world)
    events.at, events.do = at, _kill
    with pytest.raises(Killed):
        world.carry_out()
    world.clock.sleep(away_s)
    touched = world.host.touched
    record = world.carry_out()
    holds(world, record)
    if away_s > 30 and touched:
        assert record.phase == "restored" or at >= WHOLE.index("call keep")


@pytest.mark.parametrize("at", range(len(WHOLE)))
def test_a_process_that_is_killed_after_its_call_was_heard_looks_first(at: int) -> None:
    """The act is done, and the answer never read."""
    world = World()
    events = Events(world)
    done: list[str] = []

    def act_and_die(verb: str) -> None:
        events._count(f"call {verb}")
        if len(events.names) == at + 1 and verb not in ("run", "effects", "running", "log"):
            world.host.on_call = lambda _verb: None
            done.append(verb)
            arguments = {
                "drain": (20.0,),
                "begin": (_approved(world), "run-7-" + _digest(world), 1),
            }
            getattr(world.host, verb)(*arguments.get(verb, ()))
            raise Killed

    world.host.on_call = act_and_die
    try:
        world.carry_out()
    except Killed:
        world.host.on_call = lambda _verb: None
        record = world.carry_out()
        holds(world, record)
        assert record.phase == "kept" or done == []


def _approved(world: World) -> object:
    assert world.books.approval
    return world.books.approval.proposal


def _digest(world: World) -> str:
    assert world.books.approval
    return world.books.approval.digest[:12]


@pytest.mark.parametrize("times", [1, 3, 12])
@pytest.mark.parametrize("at", [n for n, name in enumerate(WHOLE) if name.startswith("call")])
def test_a_line_that_is_cut_anywhere_leaves_an_end_that_is_known(at: int, times: int) -> None:
    world = World()
    events = Events(world)
    line = cut(times)

    def on_call(verb: str) -> None:
        events.names.append(verb)
        if len(events.names) > at:
            line(verb)

    world.host.on_call = on_call
    world.books.before_save = lambda _record: events.names.append("save")
    record = world.carry_out()
    holds(world, record)
    if times == 1:
        assert record.phase == "kept"


@pytest.mark.parametrize("refusals", [2, 4, 40])
@pytest.mark.parametrize("at", [n for n, name in enumerate(WHOLE) if name.startswith("save")])
def test_a_database_that_refuses_anywhere_leaves_an_end_that_is_known(
    at: int, refusals: int
) -> None:
    """The job tries again, as bot/jobs.py does, until the database writes."""
    world = World()
    events = Events(world)
    left = [refusals]

    def before_save(_record: Record) -> None:
        events.names.append("save")
        if len(events.names) > at and left[0] > 0:
            left[0] -= 1
            raise ToolsError("The disk that holds the store is full: make room there.")

    world.host.on_call = lambda verb: events.names.append(verb)
    world.books.before_save = before_save
    for _ in range(20):
        try:
            record = world.carry_out()
            break
        except ToolsError:
            world.clock.sleep(2.0)
    holds(world, record)


def test_nothing_is_done_on_the_host_while_the_database_refuses() -> None:
    world = World()

    def refuse(record: Record) -> None:
        if record.phase == "stopping":
            raise ToolsError("The disk that holds the store is full: make room there.")

    world.books.before_save = refuse
    with pytest.raises(ToolsError, match="full"):
        world.carry_out()
    assert "stop" not in world.host.calls
    assert world.host.server == "old"


# A keeper that is gone, and a host that never comes back.


def _without_keeper(world: World, name: str, alone: str | None) -> Record:
    _killed_at(world, name)
    world.host.alone = alone or "nothing"
    if alone is None:
        world.host.running = lambda _proposal: None  # type: ignore[method-assign]
    return world.carry_out()


def test_a_keeper_that_is_gone_with_the_old_server_running_ends_as_restored() -> None:
    record = _without_keeper(World(), "save after", "old")
    assert record.phase == "restored"


def test_a_keeper_that_is_gone_before_anything_was_touched_ends_as_withdrawn() -> None:
    record = _without_keeper(World(), "save draining", "old")
    assert record.phase == "withdrawn"


def test_a_keeper_that_is_gone_with_the_new_server_running_is_kept_only_if_that_was_decided() -> (
    None
):
    assert _without_keeper(World(), "call keep", "new").phase == "kept"
    record = _without_keeper(World(), "save after", "new")
    assert record.phase == "needs_person"


def test_a_keeper_that_is_gone_with_no_server_running_needs_a_person() -> None:
    world = World()
    record = _without_keeper(world, "call start", None)
    assert record.phase == "needs_person"
    assert "No server has the port." in world.said()


def test_a_host_that_never_answers_again_is_left_to_its_dead_man() -> None:
    world = World()
    _killed_at(world, "save after")
    world.host.on_call = cut(10**9)
    record = world.carry_out()
    assert record.phase == "needs_person"
    assert "By itself it brings the old server back 30 s after it last heard of me." in world.said()


def test_a_host_that_does_not_answer_at_first_is_not_waited_for_long() -> None:
    world = World()
    world.host.on_call = cut(10**9)
    record = world.carry_out()
    assert record.phase == "withdrawn"
    assert "The server was not touched" in record.reason


def test_the_digest_of_the_record_is_the_one_that_was_approved() -> None:
    record = World().carry_out()
    assert record.proposal.identity.digest == OLD


def test_a_lost_line_is_told_once() -> None:
    world = World()
    events = Events(world)
    events.at, lost = WHOLE.index("call stop"), []

    def lose() -> None:
        lost.append(1)
        raise Unreachable("gone")

    events.do = lose
    assert world.carry_out().phase == "kept"
    assert lost
    assert sum("does not answer" in one.title for one in world.told) == 1
