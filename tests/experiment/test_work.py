"""A run of kind experiment in the worker: letters, chart and audit at its end, and again after a crash."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.experiment.hands import Hands
from bot.experiment.step import Step
from bot.settings import HostSettings, Settings
from bot.store import Run, Store
from bot.work.content import Content
from bot.work.ends import Ends
from bot.work.experiments import MOST_RESTARTS, Experiments
from bot.work.stops import Stops
from tests.experiment.pretend import Clock, Killed, PretendHost, proposal
from tests.work.room import Watching, text_of
from tools.change import Trouble
from tools.errors import Unreachable
from tools.host import Host


class Bench:
    """A store with one approved experiment, and a worker for it."""

    def __init__(self, folder: Path, **more: object) -> None:
        self.store = Store.open(f"sqlite:///{folder / 'store.sqlite'}")
        self.settings = Settings(hosts={"CT129": HostSettings(local=True)})
        self.watching = Watching()
        self.clock = Clock()
        self.host = PretendHost(self.clock)
        self.run = self.approve(**more)
        self.anew: list[int] = []

    def approve(self, **more: object) -> Run:
        where = {"channel": "CGPU", "thread": "1.1", "user": "USAM"}
        made = self.store.runs.add("propose", "proposal", host="CT129", **where)
        run = self.store.runs.add("try", "experiment", host="CT129", port=30000, **where)
        assert made
        assert run
        wanted = proposal(**more)
        offer = self.store.proposals.add(made.id, wanted, lives_s=600, **where)
        assert self.store.proposals.approve(offer.id, wanted.digest, "UANA")
        self.store.proposals.begun(offer.id, run.id)
        return run

    def carry_out(self) -> None:
        stops = Stops(self.store, beat_s=0.01)
        worker = Experiments(
            self.store, self.settings, self.watching, Ends(self.store, self.watching), stops,
            lambda name, _: _Named(name), {"UANA": "ana"}.get,
            on_host=self._hands, anew=lambda run, _proposal: self.anew.append(run.id) or (),
        )  # fmt: skip
        run = self.store.runs.begin(self.run.id)
        assert run
        worker.carry_out(run)

    def _hands(self, _host: Host) -> Hands:
        return self.host

    def letters(self) -> list[str]:
        return [text_of(one.letter) for one in self.store.letters.due() if one.letter.parts]


class _Named:
    def __init__(self, name: str) -> None:
        self.name = name

    def answer(self, _probes: object, /) -> list[object]:
        raise Unreachable("nobody")

    def close(self) -> None:
        return


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    made = Bench(tmp_path)
    monkeypatch.setattr("bot.work.experiments.time.sleep", made.clock.sleep)
    yield made
    made.store.close()


def test_the_end_is_a_letter_a_chart_and_a_line_of_the_audit(bench: Bench) -> None:
    bench.carry_out()
    run = bench.store.runs.get(bench.run.id)
    assert run
    assert (run.state, run.category) == ("done", "kept")
    story = bench.letters()[0]
    assert story.startswith(
        "Kept on CT129 port 30000: Step with one stream is better: 15.0 ms instead of 20.0 ms"
    )
    assert "In effect: max_running_requests is 48 by /server_info." in story
    due = bench.store.letters.due()
    chart = next(one.letter.attached for one in due if one.letter.attached)
    assert chart
    assert chart.alt.startswith("CT129, without --max-running-requests: Step with one stream")
    drawn = Content(bench.store, bench.settings).of(chart)
    assert drawn
    assert drawn.startswith(b"\x89PNG")
    assert due[-1].letter.key == f"run:{run.id}:trail-end"
    assert bench.store.experiments.holder("CT129", 30000) is None
    assert bench.store.audit.newest(1)[0].act == "end of experiment"


def test_each_step_is_told_while_it_happens(bench: Bench) -> None:
    bench.carry_out()
    steps = [event for _, event in bench.watching.events if isinstance(event, Step)]
    done = [one.title for one in steps if one.status == "complete"]
    assert done[0] == "Comparing the host with what was approved"
    assert "Measuring with the change: run 3 of 3" in [one.title for one in steps]


def test_a_taking_back_tells_why_with_the_line_of_the_log(bench: Bench) -> None:
    bench.host.fails = Trouble(kind="unknown_flag", sentence="The engine does not know --nonsense.",
                               line="error: unrecognized arguments: --nonsense")  # fmt: skip
    bench.carry_out()
    story = bench.letters()[0]
    assert story.startswith("Taken back on CT129 port 30000: the server runs as before.")
    assert "The engine does not know --nonsense." in story
    assert "error: unrecognized arguments: --nonsense" in story


def test_a_stop_is_told_by_name(bench: Bench) -> None:
    bench.store.runs.ask_stop(bench.run.id, "UANA")
    bench.carry_out()
    run = bench.store.runs.get(bench.run.id)
    assert run
    assert run.state == "stopped"
    assert "Stopped by ana." in bench.letters()[0]
    assert bench.host.server == "old"


def test_a_changed_host_is_proposed_anew(bench: Bench) -> None:
    bench.host.changed = True
    bench.carry_out()
    assert bench.anew == [bench.run.id]
    assert bench.letters()[0].startswith("Nothing was changed on CT129 port 30000.")


def test_a_run_that_is_begun_again_goes_on_where_it_was(bench: Bench) -> None:
    calls: list[str] = []

    def die(verb: str) -> None:
        calls.append(verb)
        if verb == "start":
            raise Killed

    bench.host.on_call = die
    with pytest.raises(Killed):
        bench.carry_out()
    bench.host.on_call = lambda _verb: None
    bench.carry_out()
    assert bench.watching.began_with[-1] == (bench.run.id, 4)
    assert bench.letters()[0].startswith("Kept on CT129")
    assert bench.host.calls.count("stop") == 1
    assert len(bench.letters()) == 1


def test_a_fault_of_ours_brings_the_old_server_back(bench: Bench) -> None:
    def fall(verb: str) -> None:
        if verb == "run" and bench.host.server == "new":
            bench.host.on_call = lambda _verb: None
            raise ZeroDivisionError

    bench.host.on_call = fall
    bench.carry_out()
    assert bench.host.server == "old"
    assert "A fault of mine ended it (ZeroDivisionError)." in bench.letters()[0]


def test_a_fault_that_comes_again_is_left_to_a_person_and_to_the_host(bench: Bench) -> None:
    def fall(verb: str) -> None:
        if bench.host.server == "new":
            raise ZeroDivisionError

    bench.host.on_call = fall
    bench.carry_out()
    run = bench.store.runs.get(bench.run.id)
    assert run
    assert (run.state, run.category) == ("failed", "needs_person")
    story = bench.letters()[0]
    assert story.startswith("CT129 port 30000 needs a person.")
    assert "The host brings the old server back by itself" in story
    bench.clock.sleep(100)  # the dead-man,
    bench.clock.sleep(100)  # and a start
    assert bench.host.server == "old"


def test_a_run_that_ended_the_process_too_often_is_taken_back(bench: Bench) -> None:
    def die(verb: str) -> None:
        if verb == "run" and bench.host.server == "new":
            raise Killed

    bench.host.on_call = die
    for _ in range(MOST_RESTARTS):
        with pytest.raises(Killed):
            bench.carry_out()
    bench.carry_out()
    assert bench.host.server == "old"
    assert "restarted too often" in bench.letters()[0]


def test_what_was_tried_is_remembered(bench: Bench) -> None:
    bench.carry_out()
    record = bench.store.experiments.results("ct129", None, 5)[0]
    assert record.phase == "kept"
    assert record.judged
    assert record.judged.gain_pct
