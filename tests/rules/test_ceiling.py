from __future__ import annotations

from collections.abc import Callable

import pytest

from tools.engine import Benchmark, DecodeLine, Launch, ModelConfig, ServerLog
from tools.errors import Undecided
from tools.nvidia.gpus import Gpus, GpuSample
from tools.rule import Cleared, Finding
from tools.rules import ceiling, cpu_ceiling, cuda_graphs

Judged = Callable[..., object]


def steps(ms: float, **said: object) -> ServerLog:
    line = DecodeLine(running=1, tok_s=1e3 / ms, tokens=500, graph=True)
    return ServerLog(decode=(line,) * 4, **said)  # type: ignore[arg-type]


def card(name: str) -> Gpus:
    return Gpus(samples=(GpuSample(index=0, name=name),))


def dense(ms: float, model: str = "/models/Llama-3.3-70B-NVFP4") -> tuple[ServerLog, Gpus]:
    return steps(ms, weights_gb=39.92, resolved={"model": model}), card(
        "NVIDIA GB10"
    )  # 157 ms, .85 reached


def test_a_dense_model_that_reads_its_weights_is_at_the_ceiling(judged: Judged) -> None:
    assert isinstance(judged(ceiling.memory_is_the_limit, *dense(283)), Finding)
    assert isinstance(judged(ceiling.memory_is_the_limit, *dense(286)), Cleared)


def test_experts_are_not_judged_by_the_size_of_all_weights(judged: Judged) -> None:
    with pytest.raises(Undecided):
        judged(ceiling.memory_is_the_limit, *dense(200, "/models/Qwen3-235B-A22B"))


def test_with_a_config_the_step_model_decides(judged: Judged) -> None:
    config = ModelConfig(
        layers=36,
        hidden=4096,
        intermediate=12288,
        heads=32,
        kv_heads=8,
        head_dim=128,
        vocabulary=151936,
        dtype="bfloat16",
    )
    gpus, launch = (
        card("NVIDIA RTX PRO 6000 Blackwell Workstation Edition"),
        Launch(engine="sglang", flags={"tp_size": 1}),
    )
    assert isinstance(
        judged(ceiling.memory_is_the_limit, steps(11.0), gpus, config, launch), Finding
    )
    assert isinstance(
        judged(ceiling.memory_is_the_limit, steps(16.0), gpus, config, launch), Cleared
    )


def busy(
    util: float = 100,
    memory: float = 22,
    watts: float = 299,
    reasons: tuple[str, ...] = ("sw_power_cap",),
) -> Gpus:
    look = GpuSample(
        index=0,
        pstate=2,
        util_pct=util,
        mem_util_pct=memory,
        power_w=watts,
        power_limit_w=300,
        reasons=frozenset(reasons),
    )
    return Gpus(samples=(look,) * 3)


def test_a_gpu_that_computes_and_hardly_reads_is_bound_by_arithmetic(judged: Judged) -> None:
    rule = ceiling.arithmetic_is_busy
    assert isinstance(judged(rule, busy()), Finding)
    assert isinstance(judged(rule, busy(memory=41)), Cleared)
    assert isinstance(judged(rule, busy(util=96)), Cleared)
    assert isinstance(judged(rule, busy(watts=284)), Cleared)
    assert isinstance(judged(rule, busy(reasons=("hw_thermal_slowdown",))), Cleared)
    assert isinstance(judged(rule, busy(), steps(30)), Cleared)
    with pytest.raises(Undecided):
        judged(rule, Gpus(samples=busy().samples[:2]))


def on_cpu(ms: float, **more: object) -> ServerLog:
    resolved = {
        "device_config": "cpu",
        "model": "/models/Llama-3.1-8B-Instruct",
        "dtype": "torch.float32",
        **more,
    }
    return steps(ms, resolved=resolved)


def test_processors_are_bound_by_the_memory_that_stream_measures(judged: Judged) -> None:
    rule, stream = (
        cpu_ceiling.host_memory_is_the_limit,
        Benchmark(stream_triad_gb_s=280.0),
    )  # 114 ms
    assert isinstance(judged(rule, on_cpu(190), stream), Finding)
    assert isinstance(judged(rule, on_cpu(191), stream), Cleared)
    assert isinstance(judged(rule, steps(190), stream), Cleared)
    for unknown in (
        (on_cpu(190),),
        (on_cpu(190, model="/models/Qwen3-30B-A3B"), stream),
        (on_cpu(190, quantization="awq"), stream),
    ):
        with pytest.raises(Undecided):
            judged(rule, *unknown)


def test_weights_in_host_memory_make_graphs_matter_less(judged: Judged) -> None:
    flags = {"enforce_eager": True}
    plain = judged(cuda_graphs.graphs_disabled_by_flag, Launch(engine="vllm", flags=flags))
    offloaded = judged(
        cuda_graphs.graphs_disabled_by_flag,
        Launch(engine="vllm", flags={**flags, "cpu_offload_gb": 4}),
    )
    assert isinstance(plain, Finding)
    assert isinstance(offloaded, Finding)
    assert offloaded.confidence < plain.confidence
