"""The engine's own benchmark: how it is called, what of its result leaves the host, when it is not begun."""

from __future__ import annotations

import json
from pathlib import Path

from tests.measure.serving import KEY, counting
from tools.engine import Benchmark
from tools.hosts.local import LocalHost
from tools.measure.runs import figures
from tools.measure.serving import Serving, runs

NEVER = ("--flush-cache", "--profile", "--plot-throughput", "sharegpt")


def test_a_run_is_bounded_offline_and_keeps_no_key(tmp_path: Path) -> None:
    with counting(tmp_path / "log", key=KEY, environment={"HOME": str(tmp_path)}) as server:
        load = Serving(port=server.port, requests=8, at_once=2, input_tokens=80, output_tokens=80)
        looks = list(runs(load, LocalHost(), 2))
    every = [json.loads(line) for line in (tmp_path / "called.jsonl").read_text().splitlines()]
    for look in looks:
        assert isinstance(look.facts, Benchmark), look.trouble
        assert look.output
        said = json.loads(look.output.stdout)
        called = every[0]
        assert called[called.index("--dataset-name") + 1] == "random-ids"
        assert called[called.index("--num-prompts") + 1] == "8"
        assert called[called.index("--max-concurrency") + 1] == "2"
        assert called[called.index("--base-url") + 1] == f"http://127.0.0.1:{server.port}"
        assert "--ready-check-timeout-sec" in called, "this version knows it"
        assert not set(NEVER) & set(called)
        assert said["request_rate"] == 1.0, "it ran offline"
        assert KEY not in look.output.stdout + look.output.stderr
        assert "secret" not in look.output.stdout
    seeds = {one[one.index("--seed") + 1] for one in every}
    assert len(seeds) == 2, "the prefix cache would know the second run's prompts"
    assert figures(looks)["output rate, tok/s"] == [256.0, 256.0]


def test_what_it_says_when_it_fails_holds_no_key(tmp_path: Path) -> None:
    with counting(tmp_path / "log", key=KEY, environment={"VIRTUAL_ENV": "fails"}) as server:
        look = next(runs(Serving(port=server.port), LocalHost(), 1))
    assert (
        look.trouble == "Failed: bench_serving ended with status 1: could not log in with <dropped>"
    )


def test_a_busy_server_and_one_without_room_are_refused(tmp_path: Path) -> None:
    with counting(tmp_path / "log", others=1) as server:
        assert "1 requests run" in next(runs(Serving(port=server.port), LocalHost(), 1)).trouble
    with counting(tmp_path / "log", info={"max_req_input_len": 300}) as server:
        assert "does not fit" in next(runs(Serving(port=server.port), LocalHost(), 1)).trouble
    with counting(tmp_path / "log", info={"max_total_num_tokens": 3000}) as server:
        assert (
            "half of its KV pool" in next(runs(Serving(port=server.port), LocalHost(), 1)).trouble
        )
