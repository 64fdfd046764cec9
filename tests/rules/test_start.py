from __future__ import annotations

from collections.abc import Callable

import pytest

from tools.engine import Notice, NoticeKind, ServerLog
from tools.errors import Undecided
from tools.linux.kernel import KernelLog, XidLine
from tools.nvidia.gpus import GpuProcess, Gpus
from tools.rule import Cleared, Finding
from tools.rules import start

Judged = Callable[..., object]


def said(kind: NoticeKind, *texts: str, started: bool | None = None) -> ServerLog:
    return ServerLog(notices=tuple(Notice(kind=kind, text=text) for text in texts), started=started)


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (
            start.flag_unknown,
            "sglang serve: error: unrecognized arguments: --enforce-piecewise-cuda-graph",
        ),
        (
            start.flag_unknown,
            "sglang serve: error: argument --attention-backend: invalid choice: 'fa9'",
        ),
        (
            start.port_taken,
            "ERROR:    [Errno 98] error while attempting to bind on address ('127.0.0.1', 30000)",
        ),
        (
            start.no_memory_for_cache,
            "ValueError: Loaded weights leave no GPU memory for the KV cache under x",
        ),
        (
            start.context_too_long,
            "ValueError: Warning: User-specified context_length (100000) is greater than the derived context_length (4096).",
        ),
        (
            start.something_missing,
            "flashinfer_python with minimum required version 0.7.2 is not installed.",
        ),
        (
            start.gpu_memory_used_up,
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
        ),
    ],
    ids=["flag", "choice", "port", "fraction", "context", "package", "memory"],
)
def test_a_failed_start_is_told_by_its_own_words(judged: Judged, rule: object, text: str) -> None:
    assert isinstance(judged(rule, said("start_failed", text)), Finding)
    assert isinstance(judged(rule, said("start_failed", "something else")), Cleared)


def test_the_refused_flag_is_named(judged: Judged) -> None:
    found = judged(
        start.flag_unknown, said("start_failed", "error: unrecognized arguments: --no-such-flag")
    )
    assert isinstance(found, Finding)
    assert "--no-such-flag" in found.statement


def test_a_ready_line_is_no_proof_when_the_port_was_taken(judged: Judged) -> None:
    found = judged(
        start.port_taken, said("start_failed", "[Errno 98] address already in use", started=True)
    )
    assert isinstance(found, Finding)
    assert "proves nothing" in found.statement


def test_memory_that_another_process_holds_is_another_cause(judged: Judged) -> None:
    log = said("oom", "torch.OutOfMemoryError: CUDA out of memory.")
    other = Gpus(processes=(GpuProcess(gpu=0, pid=7, name="blender", used_mib=2000.0),))
    own = Gpus(processes=(GpuProcess(gpu=0, pid=7, name="sglang::scheduler", used_mib=40000.0),))
    assert isinstance(judged(start.gpu_memory_used_up, log, other), Cleared)
    assert isinstance(judged(start.gpu_memory_used_up, log, own), Finding)


def test_a_dead_server_is_its_own_fault_only_if_the_kernel_log_is_clean(judged: Judged) -> None:
    log = said("crash", "Scheduler hit an exception: Traceback", "RuntimeError: index out of range")
    with pytest.raises(Undecided):
        judged(start.server_crashes, log)
    assert isinstance(judged(start.server_crashes, log, KernelLog(lines=500)), Finding)
    xid = KernelLog(xids=(XidLine(bdf="0000:01:00.0", code=79, text="GPU has fallen off the bus"),))
    assert isinstance(judged(start.server_crashes, log, xid), Cleared)


def test_a_hang_beside_a_collective_error_is_judged_there(judged: Judged) -> None:
    log = said("watchdog", "Scheduler watchdog timeout (self.watchdog_timeout=300)")
    assert isinstance(judged(start.server_hangs, log, KernelLog()), Finding)
    both = log.model_copy(
        update={"notices": (*log.notices, Notice(kind="nccl_error", text="NCCL WARN timeout"))}
    )
    assert isinstance(judged(start.server_hangs, both, KernelLog()), Cleared)


@pytest.mark.parametrize(
    "text",
    [
        "OSError: /models/x does not appear to have a file named config.json.",
        "Scheduler hit an exception: AssertionError: assert self.total_num_heads % tp_size == 0",
        "Scheduler hit an exception: RuntimeError: The NVIDIA driver on your system is too old (found version 12040).",
        "ValueError: The repository /models/x contains custom code which must be executed to load it.",
    ],
)
def test_a_launch_that_refuses_what_it_was_given_is_configuration(
    judged: Judged, text: str
) -> None:
    assert isinstance(judged(start.something_missing, said("start_failed", text)), Finding)
    ready = said("start_failed", text, started=True)
    assert isinstance(judged(start.something_missing, ready), Cleared)


def test_what_another_rule_names_is_not_named_twice(judged: Judged) -> None:
    for text in (
        "ValueError: Loaded weights leave no GPU memory for the KV cache under x",
        "ValueError: The memory capacity is unbalanced.",
    ):
        assert isinstance(judged(start.something_missing, said("start_failed", text)), Cleared)


def test_a_start_that_ends_strangely_is_open_and_quoted(judged: Judged) -> None:
    log = said("start_failed", "Scheduler hit an exception: KeyError: 'q_proj'")
    with pytest.raises(Undecided, match="q_proj"):
        judged(start.server_crashes, log, KernelLog())


def test_the_last_word_is_the_error_and_not_the_signal_that_follows(judged: Judged) -> None:
    log = said(
        "crash", "Scheduler hit an exception: KeyError: 7", "Received sigquit from a child process."
    )
    found = judged(start.server_crashes, log, KernelLog())
    assert isinstance(found, Finding)
    assert found.statement.endswith("KeyError: 7")


def test_a_server_that_its_watchdog_ended_did_not_crash(judged: Judged) -> None:
    log = said("crash", "SIGQUIT received.")
    hung = log.model_copy(
        update={"notices": (*log.notices, Notice(kind="watchdog", text="watchdog timeout"))}
    )
    assert isinstance(judged(start.server_crashes, hung, KernelLog()), Cleared)


def test_a_server_that_was_told_to_stop_did_not_crash(judged: Judged) -> None:
    told = Notice(kind="shutdown", text="SIGTERM received. signum=None", at="2026-07-19 03:00:00")
    log = ServerLog(notices=(told,), last_request_at="2026-07-19 02:59:59")
    with pytest.raises(Undecided, match="told to stop") as why:
        judged(start.server_crashes, log)
    assert "list-timers" in why.value.settle
    later = log.model_copy(update={"last_request_at": "2026-07-19 03:00:01"})
    assert isinstance(judged(start.server_crashes, later), Cleared)
