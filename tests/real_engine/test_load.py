"""Our load on a real engine: figures that agree with its own log and counters, and nothing that is left behind."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from statistics import mean, median

import pytest

from tests.lab.sshd import alive, descendants, wait_for
from tests.real_engine.conftest import KEY
from tests.real_engine.engine import RealEngine
from tools.engine import Benchmark, Burst
from tools.engine.burst_text import Request
from tools.evidence import Evidence
from tools.hosts.local import LocalHost
from tools.measure.load import Load, put
from tools.measure.serving import Serving, runs

ROOT = Path(__file__).parents[2]
NEAR = 0.1  # share by which our figures may lie off the engine's own
PROMPT = 200  # tokens: more than a short prompt and what is generated until the first line
RATE, INPUT = "gen throughput (token/s)", "input throughput (token/s)"


class Measured:
    """One burst, and what the engine's log says of it."""

    def __init__(self, engine: RealEngine, load: Load) -> None:
        wait_for(lambda: engine.running() == 0, "the engine is not idle")
        since = engine.log.stat().st_size
        self.looks: list[Evidence] = put(load, LocalHost())
        facts = self.looks[0].facts
        assert isinstance(facts, Burst), self.looks[0].trouble
        assert not facts.stopped
        self.facts, self.decode, self.prefill = (
            facts,
            engine.lines("Decode", since),
            engine.lines("Prefill", since),
        )

    def steps_ms(self, streams: int) -> float:
        """Return the engine's own step time, of the rounds of requests that ours is the median of.

        A round's first line counts from the round before; the very first request has a longer prompt.
        """
        rounds: list[list[dict[str, float]]] = [[]]
        for before, line in pairwise([self.decode[0], *self.decode]):
            if line["#running-req"] != before["#running-req"] or line["#token"] < before["#token"]:
                rounds.append([])
            rounds[-1].append(line)
        short = [one for one in rounds if len(one) > 2 and one[0]["#token"] < PROMPT * streams]
        own = [one[1:] for one in short if one[0]["#running-req"] == streams]
        return (
            median(
                mean(streams * line.get("accept len", 1.0) / line[RATE] for line in one)
                for one in own
            )
            * 1e3
        )

    def prefill_tok_s(self) -> float:
        """Return the engine's own rate over the chunks of the cold prompt."""
        long = [line for line in self.prefill if line["#new-token"] == 512]
        assert len(long) >= 4
        spent = [line["#new-token"] / line[INPUT] for line in long]
        # what the first says counts from the batch before; each chunk attends to more
        spent[0] = 2 * spent[1] - spent[2]
        return sum(line["#new-token"] for line in long) / sum(spent)


def nearest(ratios: Iterable[float]) -> float:
    """Two cores have other things to do, which shifts one burst; a figure that is wrong is wrong in all."""
    return min(ratios, key=lambda one: abs(one - 1))


@pytest.fixture(scope="module")
def bursts(engine: RealEngine) -> list[Measured]:
    return [Measured(engine, Load(port=engine.port, seconds=12)) for _ in range(3)]


@pytest.fixture(scope="module")
def measured(bursts: list[Measured]) -> Measured:
    return bursts[0]


@pytest.mark.parametrize("streams", [1, 4])
def test_the_step_is_that_of_the_engines_log(bursts: list[Measured], streams: int) -> None:
    ratios = []
    for one in bursts:
        told = one.facts.at(streams)
        assert told
        assert told.step_ms
        ratios.append(one.steps_ms(streams) / told.step_ms)
    assert nearest(ratios) == pytest.approx(1.0, rel=NEAR), ratios


def test_the_time_to_the_first_token_is_that_of_the_engines_counters(measured: Measured) -> None:
    output = measured.looks[0].output
    assert output
    burst = json.loads(output.stdout)["burst"]
    ours = sum(Request(one).first_s for one in burst["requests"])
    assert burst["counters"]["time_to_first_token_seconds_count"] == len(burst["requests"])
    assert ours == pytest.approx(burst["counters"]["time_to_first_token_seconds_sum"], rel=NEAR)
    cold = next(one for one in burst["requests"] if one["kind"] == "cold")
    seen_s, own_s = cold["chunks"][0][0] / 1e4, cold["meta"]["first_token_latency"]
    assert own_s * 0.98 <= seen_s < 3 * own_s, "who waits for a core sees it late, never early"


def test_the_prefill_rate_is_that_of_the_engines_log(bursts: list[Measured]) -> None:
    """A burst has one cold prompt, of .2 s here."""
    ratios = [one.prefill_tok_s() / (one.facts.prefill_tok_s or 0.0) for one in bursts]
    assert nearest(ratios) == pytest.approx(1.0, rel=NEAR), ratios


def test_the_tokens_are_those_of_the_engines_counters(measured: Measured) -> None:
    assert measured.facts.foreign_tokens == 0
    assert measured.facts.graph is False
    output = measured.looks[0].output
    assert output
    assert KEY not in output.stdout + output.stderr
    assert "/flush_cache" not in output.stdout


def test_step_and_accept_length_of_a_server_that_speculates(drafting: RealEngine) -> None:
    ratios = []
    for _ in range(2):
        told = Measured(drafting, Load(port=drafting.port, seconds=12, streams=(1,)))
        one = told.facts.at(1)
        assert one
        assert one.step_ms
        theirs = [line["accept len"] for line in told.decode if "accept len" in line]
        assert one.accept_len == pytest.approx(mean(theirs), rel=NEAR)
        ratios.append(told.steps_ms(1) / one.step_ms)
    assert nearest(ratios) == pytest.approx(1.0, rel=NEAR), ratios


BOT = """
import sys
from tools.hosts.local import LocalHost
from tools.measure.load import Load, put
put(Load(port=int(sys.argv[1]), seconds=15, streams=(4,)), LocalHost())
"""


def test_a_bot_that_is_killed_leaves_no_process_and_no_request(engine: RealEngine) -> None:
    wait_for(lambda: engine.running() == 0, "the engine is not idle")
    bot = subprocess.Popen([sys.executable, "-c", BOT, str(engine.port)], cwd=ROOT)
    wait_for(lambda: engine.running() >= 4, "the burst never ran")
    left = descendants(bot.pid)
    bot.kill()
    bot.wait()
    wait_for(lambda: not any(map(alive, left)), "a process lives on")
    wait_for(lambda: engine.running() == 0, "requests run on")


class User(threading.Thread):
    """Somebody else, whose request takes some seconds."""

    def __init__(self, engine: RealEngine, tokens: int) -> None:
        super().__init__(daemon=True)
        self.engine, self.tokens = engine, tokens
        self.start()

    def run(self) -> None:
        sampling = {"max_new_tokens": self.tokens, "ignore_eos": True}
        self.engine.ask("POST", "/generate", {"text": "a long story", "sampling_params": sampling})


def test_a_busy_engine_is_refused(engine: RealEngine) -> None:
    user = User(engine, 3500)
    wait_for(lambda: engine.running() >= 1, "the user never came")
    look = put(Load(port=engine.port), LocalHost())[0]
    assert "the server is busy" in look.trouble
    user.join()


def test_an_engine_that_turns_busy_ends_the_burst(engine: RealEngine) -> None:
    wait_for(lambda: engine.running() == 0, "the engine is not idle")
    looks: list[Evidence] = []
    load = Load(port=engine.port, seconds=15, streams=(2, 8))
    asking = threading.Thread(target=lambda: looks.extend(put(load, LocalHost())))
    asking.start()
    wait_for(lambda: engine.running() >= 2, "the burst never ran")
    users = [User(engine, 1500) for _ in range(3)]
    asking.join()
    said = looks[0].trouble + getattr(looks[0].facts, "stopped", "")
    assert "the server turned busy" in said
    for user in users:
        user.join()


def test_the_engines_own_benchmark_runs_on_it(engine: RealEngine) -> None:
    wait_for(lambda: engine.running() == 0, "the engine is not idle")
    since = engine.log.stat().st_size
    look = next(
        runs(
            Serving(port=engine.port, requests=12, input_tokens=64, output_tokens=32),
            LocalHost(),
            1,
        )
    )
    assert isinstance(look.facts, Benchmark), look.trouble
    assert (look.facts.prompts, look.facts.output_tokens) == (12, 384)
    assert look.output
    assert KEY not in look.output.stdout
    assert b"/flush_cache" not in engine.log.read_bytes()[since:]
