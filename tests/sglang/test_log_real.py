"""Every line of the logs of real engines is accounted for; a dumb count by substrings agrees."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from tools.engine import ServerLog
from tools.linux.wrappers import unwrap
from tools.probes.server_log import ReadServerLog
from tools.sglang.log import read_log

LOGS = Path(__file__).parents[1] / "real" / "logs"
SGLANG = sorted(path for path in LOGS.glob("*.gz") if not path.name.startswith("vllm"))


def text_of(path: Path) -> str:
    return gzip.decompress(path.read_bytes()).decode("utf-8", "replace")


def log_of(name: str) -> ServerLog:
    return ReadServerLog().parse(text_of(LOGS / f"{name}.log.gz"))


@pytest.mark.parametrize("path", SGLANG, ids=lambda path: path.name.partition(".log")[0])
def test_no_line_of_a_real_log_is_lost(path: Path) -> None:
    text = text_of(path)
    log = read_log(unwrap(text))
    lines = text.split("\n")
    assert len(log.decode) == sum("Decode batch" in line for line in lines)
    assert len(log.prefill) + log.health_prefills == sum("Prefill batch" in line for line in lines)
    assert (log.resolved is not None) == ("server_args=" in text)
    assert bool(log.started) == ("fired up and ready" in text)
    assert log.unexplained == ()
    assert log.unexplained_count == 0


@pytest.mark.parametrize("path", SGLANG, ids=lambda path: path.name.partition(".log")[0])
def test_each_figure_of_a_traffic_line_is_read(path: Path) -> None:
    text = text_of(path)
    log = read_log(unwrap(text))
    said = [float(hit) for hit in re.findall(r"gen throughput \(token/s\): ([\d.]+)", text)]
    assert [line.tok_s for line in log.decode] == said
    queued = [int(hit) for hit in re.findall(r"Decode batch.*#queue-req: (\d+)", text)]
    assert [line.queued for line in log.decode] == queued
    assert all(line.graph is None for line in log.decode), (
        "a CPU graph tells nothing of CUDA graphs"
    )
    new = [int(hit) for hit in re.findall(r"Prefill batch.*#new-token: (\d+)", text)]
    assert sum(line.new_tokens or 0 for line in log.prefill) + log.health_prefills == sum(new)


@pytest.mark.parametrize("path", SGLANG, ids=lambda path: path.name.partition(".log")[0])
def test_a_line_of_trouble_is_a_notice(path: Path) -> None:
    text = text_of(path)
    log = read_log(unwrap(text))
    said = " ".join(notice.text for notice in log.notices if notice.kind != "benign")
    for sign in ("Errno 98", "Health check failed", "crashed with exit code", "Received sigquit", "unrecognized arguments",
                 "invalid choice", "Loaded weights leave no", "is larger than the profiled", "warmup error", "SIGTERM received",
                 "graph is disabled", "Disable prefill CUDA graph", "fewer than --context-length", "can't allocate memory"):  # fmt: skip
        assert (sign in text) == (sign in said), sign


def test_a_log_of_an_endpoint_that_is_asked_counts_probes_apart() -> None:
    log = log_of("sglang-0.5.23-start")
    assert (len(log.prefill), log.health_prefills) == (14, 3)
    assert all((line.new_tokens, line.cached_tokens) != (1, 0) for line in log.prefill)


def test_a_start_up_gives_pools_limits_and_weights() -> None:
    log = log_of("sglang-0.5.23-kv700")
    assert (log.max_total_tokens, log.max_running, log.chunked_prefill, log.context_len) == (
        1400,
        700,
        4096,
        4096,
    )
    assert log.model_type == "LlamaForCausalLM"
    assert [notice.numbers for notice in log.said("clamp")] == [
        {"tokens": 1400.0, "context_length": 4096.0}
    ]


def test_speculation_shows_its_accept_length() -> None:
    high, low = (
        log_of("sglang-0.5.23-speculation-high-acceptance"),
        log_of("sglang-0.5.23-speculation-low-acceptance"),
    )
    assert max(line.accept_len or 0 for line in high.decode) == 4.0
    assert max(line.accept_len or 0 for line in low.decode) < 1.2


def test_a_dead_scheduler_is_a_crash_with_its_exit_code() -> None:
    log = log_of("failed-scheduler-stopped-then-kill9")
    crashed = [notice for notice in log.said("crash") if "crashed with exit code" in notice.text]
    assert crashed[0].numbers == {"exit_code": -9.0}
    assert sum(notice.times for notice in log.said("health")) == 6


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("badflag", "unrecognized arguments: --no-such-flag"),
        ("badchoice", "invalid choice: 'nosuch'"),
        ("badmodel", "OSError: Repo id must be in the form"),
        ("ctxlen", "User-specified context_length (100000)"),
        ("flashinfer_cpu", "flashinfer_python with minimum required version"),
        ("memfrac", "Loaded weights leave no GPU memory"),
        ("portinuse", "[Errno 98]"),
    ],
)
def test_a_start_that_failed_says_why_in_one_line(name: str, says: str) -> None:
    log = log_of(f"failed-{name}")
    assert any(says in notice.text for notice in log.said("start_failed"))
    assert not log.started


FAILED = sorted(LOGS.glob("failed-*.gz"))
_TROUBLES = ("start_failed", "crash", "oom", "watchdog", "health", "nccl_error")


@pytest.mark.parametrize("path", FAILED, ids=lambda path: path.name.partition(".log")[0])
def test_what_an_earlier_launch_died_of_is_not_said_of_the_run_after_it(path: Path) -> None:
    good = text_of(LOGS / "sglang-0.5.23-base.log.gz")
    alone, after = read_log(good), read_log(text_of(path) + "\n" + good)
    assert (after.runs, after.started) == (2, True)
    assert [n.text for n in after.said(*_TROUBLES)] == [n.text for n in alone.said(*_TROUBLES)]
    assert after.said("override") == alone.said("override")
