"""The playbook asks for what the rules still lack, and the loop ends in a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from bot.investigate import Asking, Judged, Learned, investigate
from bot.planner import Playbook
from bot.question import Question
from tools.errors import Unreachable
from tools.evidence import Evidence
from tools.host import Asks, Command, Output
from tools.probe import Facts, Probe
from tools.rule import Finding, rule


class Heat(Facts):
    celsius: float


class Wind(Facts):
    speed: float


class Unwanted(Facts):
    size: int = 0


class ReadHeat(Probe[Heat]):
    """Read the heat."""

    port: int | None = None

    def command(self) -> Command:
        return Command(argv=("heat", str(self.port)))

    def parse(self, stdout: str, /) -> Heat:
        return Heat(celsius=float(stdout))


class SampleWind(Probe[Wind]):
    """Sample the wind."""

    takes_s: ClassVar[float] = 5.0

    def command(self) -> Command:
        return Command(argv=("wind",))

    def parse(self, stdout: str, /) -> Wind:
        return Wind(speed=float(stdout))


class OnDemand(Probe[Heat]):
    """Read the heat of the past."""

    routine: ClassVar[bool] = False


class ReadUnwanted(Probe[Unwanted]):
    """Read what no rule needs."""

    def parse(self, stdout: str, /) -> Unwanted:
        return Unwanted()


@rule(cause="hw_thermal_slowdown")
def hot(heat: Heat, wind: Wind | None) -> Finding | None:
    """It is hot."""
    return None


PROBES: dict[str, type[Probe[Any]]] = {
    "ReadHeat": ReadHeat,
    "SampleWind": SampleWind,
    "OnDemand": OnDemand,
    "ReadUnwanted": ReadUnwanted,
}


def test_quick_looks_go_first_and_those_over_a_window_follow() -> None:
    playbook, asked = Playbook(PROBES, (hot,)), Question("?")
    first = playbook.next(asked, [])
    assert [type(probe) for probe in first] == [ReadHeat]
    seen = [Evidence("E1", first[0], "h", Output(), trouble="Failed: no")]
    second = playbook.next(asked, seen)
    assert [type(probe) for probe in second] == [SampleWind]
    assert playbook.next(asked, [*seen, Evidence("E2", second[0], "h", Output())]) == []


def test_what_is_known_of_the_host_goes_into_the_probes_that_have_a_field_for_it() -> None:
    playbook = Playbook(PROBES, (hot,), {"port": 30001, "log_path": "/x", "source_path": None})
    assert playbook.next(Question("?"), []) == [ReadHeat(port=30001)]
    assert playbook.next(Question("?", port=7), []) == [ReadHeat(port=7)]


class Scripted:
    name = "scripted"

    def __init__(self) -> None:
        self.batches: list[int] = []

    def answer(self, probes: Sequence[Asks], /) -> Sequence[Output]:
        self.batches.append(len(probes))
        return [Output(stdout="95") for _ in probes]


def test_an_investigation_tells_each_look_and_ends_in_a_verdict() -> None:
    host = Scripted()
    events = list(investigate(Question("?"), Playbook(PROBES, (hot,)), host))
    kinds = [type(event) for event in events]
    assert kinds == [Asking, Learned, Asking, Learned, Judged]
    assert host.batches == [1, 1]
    looks = [event.look.id for event in events if isinstance(event, Learned)]
    assert looks == ["E1", "E2"]


def test_a_host_that_does_not_answer_still_ends_in_an_honest_verdict() -> None:
    class Gone:
        name = "gone"

        def answer(self, probes: Sequence[Asks], /) -> Sequence[Output]:
            raise Unreachable("gone does not answer.")

    *_, end = investigate(Question("?"), Playbook(PROBES, (hot,)), Gone())
    assert isinstance(end, Judged)
    assert end.verdict.category == "inconclusive"
    assert {look.trouble for look in end.evidence} == {"gone does not answer."}


def test_a_host_that_answers_nothing_is_not_asked_again() -> None:
    class Gone(Scripted):
        def answer(self, probes: Sequence[Asks], /) -> Sequence[Output]:
            self.batches.append(len(probes))
            raise Unreachable("gone does not answer.")

    host = Gone()
    list(investigate(Question("?"), Playbook(PROBES, (hot,)), host))
    assert host.batches == [1]


def test_the_time_bound_ends_the_asking_and_not_the_judging() -> None:
    *_, end = investigate(Question("?"), Playbook(PROBES, (hot,)), Scripted(), bound_s=-1)
    assert isinstance(end, Judged)
    assert end.evidence == ()
