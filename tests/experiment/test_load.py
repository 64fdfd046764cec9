"""One run of load as figures: what counts as one, what is tried again, and what is an error."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from bot.experiment import load
from bot.experiment.hands import Run
from tests.experiment.pretend import proposal
from tests.measure.told import burst, request
from tools.errors import HostError
from tools.host import STOPPED, Asks, Output


class Host:
    """Answers a run of load with one text."""

    name = "CT129"

    def __init__(self, output: Output) -> None:
        self.output, self.asked = output, 0

    def answer(self, probes: Sequence[Asks], /) -> Sequence[Output]:
        self.asked += 1
        return [self.output]

    def close(self) -> None:
        return


def run(output: Output | str, **more: object) -> Run:
    told = output if isinstance(output, Output) else Output(stdout=output)
    return load.one_run(Host(told), proposal(**more))


def told(*requests: dict[str, object], **more: object) -> str:
    return json.dumps({"burst": burst(*requests, **more)})


ONE = request(1, step_ms=20.0, steps=20)
COLD = request(1, step_ms=1.0, steps=0, first_ms=1000.0, kind="cold", prompt=4000)
FOUR = [request(4, step_ms=25.0, steps=20, first_ms=200.0) for _ in range(4)]


def test_a_burst_gives_its_figures_and_the_first_token_of_many_streams() -> None:
    found = run(told(ONE, *FOUR, COLD))
    assert found.figures == {
        "step with one stream, ms": pytest.approx(20.0),
        "step with 4 streams, ms": pytest.approx(25.0),
        "cold prefill, tok/s": pytest.approx(4000.0),
        "first token with 4 streams, ms": pytest.approx(200.0),
    }
    assert (found.errors, found.trouble, found.busy) == (0, "", False)


def test_a_server_that_others_use_is_tried_again() -> None:
    assert run(
        '{"failed": "the server is busy: 3 requests run and 0 wait (/v1/loads); try later"}'
    ).busy
    assert run(told(ONE, stopped="the server turned busy: 3 requests of others")).busy
    foreign = run(told(ONE, counters={"generation_tokens_total": 900.0}))
    assert (foreign.busy, foreign.figures) == (True, {})


def test_a_request_that_fails_is_an_error() -> None:
    found = run(told(ONE, stopped="a request of ours failed: status 500"))
    assert (found.errors, found.busy) == (1, False)
    assert "status 500" in found.trouble


def test_a_long_prompt_that_had_no_time_leaves_the_rest_valid() -> None:
    found = run(told(ONE, stopped="no time was left for the long prompt"))
    assert list(found.figures) == ["step with one stream, ms"]
    assert not found.trouble


def test_what_was_stopped_by_a_person_is_no_trouble_of_the_server() -> None:
    with pytest.raises(HostError, match=STOPPED):
        run(Output(status=None, lost=STOPPED))


def test_a_serving_benchmark_counts_the_requests_that_failed() -> None:
    answer = json.dumps({"backend": "sglang", "completed": 14, "num_prompts": 16, "output_throughput": 700.0,
                         "median_ttft_ms": 80.0, "median_tpot_ms": 11.0, "duration": 3.0, "failed": 2})  # fmt: skip
    found = run(answer, load="serving")
    assert found.errors == 2


@pytest.mark.parametrize(("kind", "bound_s"), [("burst", 35.0), ("serving", 115.0)])
def test_the_longest_run_is_that_of_its_command(kind: str, bound_s: float) -> None:
    assert load.longest_s(proposal(load=kind)) == bound_s
    assert load.stated(proposal(load=kind))
