from __future__ import annotations

from collections.abc import Callable

from tools.engine import Metrics
from tools.linux.machine import Process, Processes
from tools.nvidia.gpus import Gpus, GpuSample
from tools.rule import Finding
from tools.rules import at_rest

Judged = Callable[..., object]
NOBODY = Metrics(gauges={"num_running_reqs": 0.0, "num_queue_reqs": 0.0})


def core(pct: float, name: str = "sglang::schedul") -> Processes:
    return Processes(rows=(Process(pid=7, name=name, cpu_pct=pct),))


def gpu(util: float) -> Gpus:
    return Gpus(samples=(GpuSample(index=0, util_pct=util),))


def test_a_scheduler_that_polls_at_rest_is_a_false_alarm(judged: Judged) -> None:
    rule = at_rest.scheduler_polls_at_rest
    found = judged(rule, NOBODY, core(97), gpu(0))
    assert isinstance(found, Finding)
    assert found.benign
    vllm = Metrics(gauges={"num_requests_running": 0.0, "num_requests_waiting": 0.0})
    assert isinstance(judged(rule, vllm, core(100, "VLLM::EngineCore")), Finding)


def test_work_and_waiting_requests_are_none(judged: Judged) -> None:
    rule = at_rest.scheduler_polls_at_rest
    waiting = Metrics(gauges={"num_running_reqs": 0.0, "num_queue_reqs": 187.0})
    assert judged(rule, waiting, core(97)) is None
    assert judged(rule, NOBODY, core(97), gpu(60)) is None
    assert judged(rule, NOBODY, core(310)) is None
    assert judged(rule, NOBODY, core(3)) is None
    assert judged(rule, Metrics(), core(97)) is None
