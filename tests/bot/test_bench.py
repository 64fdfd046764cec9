"""`perfsleuth bench` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.bot.test_cli import run
from tests.measure.serving import KEY, counting

RUNS = Path(__file__).parents[1] / "measure" / "runs_0_5_23_cpu.jsonl"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "name a host"),
        (("localhost", "--compare", "a", "b"), "and no host"),
        (("localhost", "--judge"), "--judge goes with --burst"),
        (("localhost", "--burst", "--streams", "1,x"), "is no list of counts"),
        (("localhost", "--burst", "--streams", "1,9"), "1 to 8 streams at once"),
        (("localhost:1", "--port", "2", "--burst"), "two ports"),
        (("localhost", "--burst", "--seconds", "60"), "less than or equal to 15"),
        (("--compare", str(RUNS), "no-such.jsonl"), "no-such.jsonl is no file here"),
        (("--compare", str(RUNS), "bot/demo/ct129.json"), "no result of bench_serving"),
    ],
)
def test_a_wrong_bench_is_status_2_and_says_what_is_wrong(
    arguments: tuple[str, ...], says: str
) -> None:
    done = run("bench", *arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_a_burst_is_told_kept_and_judged_again(tmp_path: Path) -> None:
    kept = tmp_path / "burst.case.json"
    with counting(tmp_path / "log", key=KEY, pace_ms=10.0) as server:
        told = run(
            "bench", f"localhost:{server.port}", "--burst", "--seconds", "5", "--save", str(kept)
        )
    assert told.returncode == 0, told.stderr
    assert "At most 5 s, 4 requests at once" in told.stdout
    assert "one stream" in told.stdout
    assert "A cold prompt of" in told.stdout
    assert KEY not in told.stdout + told.stderr + kept.read_text()
    case = json.loads(kept.read_text())
    assert case["asked"][0]["command"].endswith("< burst.py")
    again = run("replay", str(kept), "--json")
    assert json.loads(again.stdout)["evidence"][0]["probe"] == "ReadBurst"


def test_a_burst_may_be_judged_with_what_the_host_tells(tmp_path: Path) -> None:
    with counting(tmp_path / "log", pace_ms=10.0) as server:
        done = run(
            "bench",
            "localhost",
            "--port",
            str(server.port),
            "--burst",
            "--seconds",
            "5",
            "--judge",
            "--json",
        )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["evidence"][0]["probe"] == "ReadBurst"
    assert {"ReadLaunch", "ReadMachine"} <= {one["probe"] for one in told["evidence"]}


def test_a_refused_burst_is_status_3_and_says_why(tmp_path: Path) -> None:
    with counting(tmp_path / "log", others=2) as server:
        done = run("bench", f"localhost:{server.port}", "--burst", "--json")
    assert done.returncode == 3
    assert "the server is busy: 2 requests run" in done.stderr


def test_runs_are_told_one_by_one_and_as_a_set(tmp_path: Path) -> None:
    kept = tmp_path / "runs.case.json"
    with counting(tmp_path / "log", environment={"HOME": str(tmp_path)}) as server:
        done = run(
            "bench", "localhost", "--port", str(server.port), "--runs", "2", "--save", str(kept)
        )
    assert done.returncode == 0, done.stderr
    assert "run 1 of 2: 256 tok/s out, first token 30 ms, then 4.0 ms a token" in done.stdout
    assert "runs to show 5 %" in done.stdout
    same = run("bench", "--compare", str(kept), str(kept), "--json")
    assert [one["differs"] for one in json.loads(same.stdout)["differences"]] == [
        False,
        False,
        False,
    ]


def test_two_sets_of_results_are_set_beside_each_other(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in RUNS.read_text().splitlines()]
    slow = tmp_path / "slow.jsonl"
    slow.write_text(
        "\n".join(
            json.dumps(one | {"output_throughput": one["output_throughput"] / 3}) for one in lines
        )
    )
    done = run("bench", "--compare", str(RUNS), str(slow))
    assert done.returncode == 0
    assert "They differ: output rate -66.7 % from A to B." in done.stdout
    alike = run("bench", "--compare", str(RUNS), str(RUNS))
    assert "No difference is shown" in alike.stdout
    few = tmp_path / "few.jsonl"
    few.write_text(json.dumps(lines[0]))
    assert "two of each are the fewest" in run("bench", "--compare", str(RUNS), str(few)).stderr
