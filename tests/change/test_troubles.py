"""What real logs say of a start that failed, in one line each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.change.troubles import recognised, shown, trouble_of

LOGS = Path(__file__).parent / "logs"  # the ends of logs of SGLang 0.5.23 on a CPU, verbatim
SCENARIOS = Path(__file__).parents[1] / "scenarios/more"
ENDED = "the server ended while it started (status {})"


@pytest.mark.parametrize(
    ("name", "status", "kind", "says"),
    [
        ("badflag", 2, "unknown_flag", "The installed version does not know --no-such-flag. It ended with status 2."),
        ("badchoice", 2, "bad_value",
         "The installed version does not take that value for --attention-backend: invalid choice: 'nosuch'. It ended with status 2."),
        ("badmodel", 1, "bad_value", "The model cannot be found at the path that was given. It ended with status 1."),
        ("ctxlen", 1, "bad_value", "A context of 100000 tokens is longer than the model's 4096. It ended with status 1."),
        ("flashinfer_cpu", 1, "crashed",
         "A package is missing: flashinfer_python with minimum required version 0.7.2 is not installed. It ended with status 1."),
        ("memfrac", 137, "out_of_memory", "No memory was left for the KV cache after the weights. It ended with status 137."),
        ("kvoom_ulimit", 137, "out_of_memory", "The host's memory ran out. It ended with status 137."),
        ("port-held-by-another-sglang", 3, "port_in_use",
         "Its port was taken: it could not listen, whatever its log says of being ready. It ended with status 3."),
        ("scheduler-stopped-then-kill9", 137, "crashed", "A process of it died while it started. It ended with status 137."),
    ],
)  # fmt: skip
def test_a_real_log_is_recognised(name: str, status: int, kind: str, says: str) -> None:
    lines = shown((LOGS / f"{name}.log").read_text().splitlines())
    trouble = recognised(lines, ENDED.format(status))
    assert (trouble.kind, trouble.sentence) == (kind, says)
    assert trouble.line
    assert len(trouble.line) <= 300


@pytest.mark.parametrize(
    ("name", "kind", "says"),
    [
        ("st-02-oom-while-capturing/evidence/serve.log", "out_of_memory", "The GPU's memory ran out while CUDA graphs were captured."),
        ("st-03-port-taken-0505/evidence/start.log", "port_in_use", "Its port was taken"),
        ("time-03-fails-to-start-since-a-change/evidence/server.log", "out_of_memory", "The GPU's memory ran out."),
    ],
)  # fmt: skip
def test_logs_of_gpu_hosts_are_recognised(name: str, kind: str, says: str) -> None:
    trouble = recognised(shown((SCENARIOS / name).read_text().splitlines()), ENDED.format(1))
    assert trouble.kind == kind
    assert says in trouble.sentence


def test_a_log_without_a_sign_says_how_it_ended_and_its_last_error() -> None:
    lines = [
        "Traceback (most recent call last):",
        "  File x",
        "[2026-11-29 22:57:28] KeyError: 'rope_theta'",
        "bye",
    ]
    trouble = recognised(lines, ENDED.format(1))
    assert trouble.kind == "crashed"
    assert trouble.sentence == "The server ended while it started (status 1)."
    assert trouble.line == "KeyError: 'rope_theta'"
    assert recognised([], "the keeper could not stop: x").kind == "other"


def test_a_healthy_log_holds_no_sign() -> None:
    lines = [
        "[2026-11-29 23:00:33] The server is fired up and ready to roll!",
        "Decode batch, #running-req: 1, #token: 34",
    ]
    assert recognised(lines, "hung: it is not ready after 900 s").kind == "hung"


def test_no_secret_and_no_prompt_stands_in_what_is_told() -> None:
    lines = [
        "server_args={'api_key': 'sk-very-secret-key-of-somebody', 'port': 1}",
        "Receive: obj=GenerateReqInput(text='a private prompt')",
    ]
    told = "\n".join(shown(lines))
    assert "very-secret" not in told
    assert "private prompt" not in told
    failed = {
        "how": "other",
        "sentence": "no: token=abcdefghijklmnop",
        "line": None,
        "tail": lines,
        "exit": None,
    }
    trouble = trouble_of(failed)
    assert trouble
    assert "abcdefghijklmnop" not in trouble.sentence
