"""Benchmarks: secrets go, figures stay, serve logs are none."""

import json

import pytest

from tools.probes.benchmark import ReadBenchmark


def test_what_the_server_was_started_with_is_dropped_before_anything_is_kept() -> None:
    line = {
        "duration": 2.0,
        "completed": 3,
        "server_info": {"api_key": "hunter2"},
        "generated_texts": ["my secret"],
        "tag": None,
    }
    text = json.dumps(line) + "\nbenchmark_args=Namespace(header=['X: hunter2'])\n"
    kept = ReadBenchmark().clean(text)
    assert "hunter2" not in kept
    assert "my secret" not in kept
    assert ReadBenchmark().parse(kept).duration_s == 2.0


def test_the_last_of_several_runs_counts() -> None:
    runs = "\n".join(json.dumps({"duration": n, "completed": n}) for n in (1, 2, 3))
    assert ReadBenchmark().parse(runs).prompts == 3


@pytest.mark.parametrize("text", [
    "[2026-07-04 20:59:20 TP0] Decode batch, gen throughput (token/s): 55.0\nAccept length: 3\n",
    "gpu, tok/s\n", "throughput is 5 tok/s\nnot 6\n", '{"model": "x", "duration": 3}\n', "Benchmarking is fun: 5\n",
])  # fmt: skip
def test_other_texts_are_none(text: str) -> None:
    assert not ReadBenchmark().recognises(text)


def test_a_path_may_not_look_like_an_option() -> None:
    with pytest.raises(ValueError, match="path"):
        ReadBenchmark(path="-x")
