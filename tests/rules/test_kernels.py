from __future__ import annotations

from collections.abc import Callable

import pytest

from tools.engine import DecodeLine, Launch, Notice, ServerLog
from tools.errors import Undecided
from tools.nvidia.gpus import Gpus, GpuSample
from tools.rule import Cleared, Finding
from tools.rules import attention, kernels, regressions

Judged = Callable[..., object]
FP8 = Notice(
    kind="kernel",
    text="Your GPU does not have native support for FP8 computation but FP8 is being used.",
)
MOE = "Using default MoE kernel config. Performance might be sub-optimal! Config file not found at /x/{}E=256,N=128,device_name=NVIDIA_H200,dtype=fp8_w8a8.json"


def card(
    name: str = "NVIDIA H20",
    cap: str | None = None,
    used_mib: float | None = None,
    *,
    mig: bool = False,
) -> Gpus:
    return Gpus(
        samples=(GpuSample(index=0, name=name, compute_cap=cap, mem_used_mib=used_mib, mig=mig),)
    )


def steps(
    ms: float, *, running: int = 1, usage: float = 0.0, graph: bool | None = True
) -> tuple[DecodeLine, ...]:
    line = DecodeLine(
        running=running, tok_s=running / ms * 1e3, usage=usage, graph=graph, queued=0, tokens=900
    )
    return (line,) * 4


def test_no_fp8_before_8_9_is_by_design(judged: Judged) -> None:
    found = judged(kernels.weights_only_in_fp8, ServerLog(notices=(FP8,)), card(cap="8.6"))
    assert isinstance(found, Finding)
    assert found.category == "at_ceiling"
    assert isinstance(
        judged(kernels.weights_only_in_fp8, ServerLog(notices=(FP8,)), card(cap="8.9")), Cleared
    )
    with pytest.raises(Undecided):
        judged(kernels.weights_only_in_fp8, ServerLog(notices=(FP8,)))


def test_the_same_warning_on_a_newer_gpu_is_wrong(judged: Judged) -> None:
    found = judged(kernels.fp8_denied_wrongly, ServerLog(notices=(FP8,)), card(cap="9.0", mig=True))
    assert isinstance(found, Finding)
    assert "MIG" in found.statement
    assert isinstance(
        judged(kernels.fp8_denied_wrongly, ServerLog(notices=(FP8,)), card(cap="8.6")), Cleared
    )
    assert isinstance(judged(kernels.fp8_denied_wrongly, ServerLog(), card(cap="9.0")), Cleared)


def test_the_product_s_name_tells_the_capability_too(judged: Judged) -> None:
    assert isinstance(
        judged(kernels.weights_only_in_fp8, ServerLog(notices=(FP8,)), card("NVIDIA RTX A6000")),
        Finding,
    )


def test_a_missing_setting_for_experts_decides_nothing_by_itself(judged: Judged) -> None:
    plain = Notice(kind="kernel", text=MOE.format(""))
    with pytest.raises(Undecided):
        judged(kernels.experts_not_tuned, ServerLog(notices=(plain,), decode=steps(30)))


def test_a_setting_lost_with_a_version_of_triton_costs_a_little(judged: Judged) -> None:
    lost = Notice(kind="kernel", text=MOE.format("triton_3_3_1/"))
    found = judged(kernels.experts_not_tuned, ServerLog(notices=(lost,), decode=steps(30)))
    assert isinstance(found, Finding)
    with pytest.raises(Undecided):
        judged(kernels.experts_not_tuned, ServerLog(notices=(lost,), decode=steps(30, graph=False)))


def test_a_slow_kernel_that_is_named_is_found(judged: Judged) -> None:
    text = "Layer 'x' is not supported by AWQMarlin. Falling back to unoptimized AWQ kernels."
    assert isinstance(
        judged(kernels.slow_kernel_named, ServerLog(notices=(Notice(kind="kernel", text=text),))),
        Finding,
    )
    assert isinstance(judged(kernels.slow_kernel_named, ServerLog()), Cleared)
    generic = "X has no SGLang implementation, falling back to Transformers implementation."
    log = ServerLog(notices=(Notice(kind="kernel", text=generic),))
    assert isinstance(judged(kernels.model_without_own_code, log), Finding)
    assert isinstance(judged(kernels.slow_kernel_named, log), Cleared)


def test_a_reference_backend_is_named(judged: Judged) -> None:
    log = ServerLog(resolved={"attention_backend": "torch_native"})
    assert isinstance(judged(attention.attention_without_kernels, log), Finding)
    cpu = ServerLog(resolved={"attention_backend": "torch_native", "device": "cpu"})
    assert isinstance(judged(attention.attention_without_kernels, cpu), Cleared)
    assert isinstance(
        judged(
            attention.attention_without_kernels, ServerLog(resolved={"attention_backend": "triton"})
        ),
        Cleared,
    )


def test_a_reference_backend_yields_to_a_step_that_only_reads_the_weights(judged: Judged) -> None:
    said = {"attention_backend": "torch_native"}  # 40 GB at 4000 GB/s: 10.7 ms
    near = ServerLog(decode=steps(13.5), weights_gb=40.0, resolved=said)
    with pytest.raises(Undecided) as why:
        judged(attention.attention_without_kernels, near, card())
    assert "prefill" in why.value.settle
    far = ServerLog(decode=steps(14.5), weights_gb=40.0, resolved=said)
    assert isinstance(judged(attention.attention_without_kernels, far, card()), Finding)


def test_a_step_far_above_reading_the_whole_card_is_not_memory(judged: Judged) -> None:
    slow = attention.attention_slower_than_its_cache
    held = card(used_mib=90112)  # 94.5 GB at 4000 GB/s: 23.6 ms
    assert isinstance(
        judged(slow, ServerLog(decode=steps(47.5, running=64, usage=0.78)), held), Finding
    )
    assert isinstance(
        judged(slow, ServerLog(decode=steps(47.0, running=64, usage=0.78)), held), Cleared
    )
    assert isinstance(
        judged(slow, ServerLog(decode=steps(47.5, running=64, usage=0.29)), held), Cleared
    )
    assert isinstance(
        judged(slow, ServerLog(decode=steps(99, running=64, usage=0.78, graph=False)), held),
        Cleared,
    )


def test_an_fp8_cache_on_a_slow_step_is_a_suspect_and_no_more(judged: Judged) -> None:
    log = ServerLog(decode=steps(25), resolved={"kv_cache_dtype": "fp8_e4m3"})
    with pytest.raises(Undecided) as why:
        judged(attention.attention_slower_than_its_cache, log, card(used_mib=90112))
    assert "--kv-cache-dtype" in why.value.settle


def chat(grows_ms: float) -> ServerLog:
    lines = tuple(
        DecodeLine(running=1, tokens=2000 + 4000 * n, tok_s=1e3 / (50 + grows_ms * n / 8))
        for n in range(9)
    )
    return ServerLog(decode=lines)


def test_a_step_that_does_not_grow_clears_long_context(judged: Judged) -> None:
    assert isinstance(judged(attention.step_grows_with_context, chat(5.0)), Cleared)
    assert isinstance(judged(attention.step_grows_with_context, chat(9.0)), Finding)


def test_a_rate_that_follows_the_length_in_a_line_is_explained_by_it(judged: Judged) -> None:
    found = judged(attention.step_grows_with_context, chat(9.0))
    assert isinstance(found, Finding)
    assert found.category is None
    assert "2000 tokens and 59.0 ms at 34000" in found.statement
    jumpy = chat(9.0)
    slow = tuple(
        line.model_copy(update={"tok_s": 1e3 / (59 if n in (2, 6, 7, 8) else 50)})
        for n, line in enumerate(jumpy.decode)
    )
    with pytest.raises(Undecided, match="scatter"):
        judged(attention.step_grows_with_context, ServerLog(decode=slow))


def test_a_step_that_no_card_needs_points_to_the_build_and_proves_nothing(judged: Judged) -> None:
    build = regressions.nothing_wrong_but_slow
    with pytest.raises(Undecided) as why:
        judged(build, ServerLog(decode=steps(120)))
    assert "previous build" in why.value.settle
    assert isinstance(judged(build, ServerLog(decode=steps(119))), Cleared)
    assert isinstance(judged(build, ServerLog(decode=steps(300, graph=False))), Cleared)
    on_cpu = Launch(flags={"device": "cpu"})
    assert "CPU" in judged(build, ServerLog(decode=steps(119)), on_cpu).why
    assert isinstance(judged(build, ServerLog(decode=steps(300, running=5))), Cleared)
    assert isinstance(
        judged(build, ServerLog(decode=steps(300)), card("NVIDIA GB10"), Launch()), Cleared
    )


def run(ms: float, addresses: int | None = None, **resolved: object) -> ServerLog:
    return ServerLog(
        decode=steps(ms), graph_addresses=addresses, resolved=resolved or {"tp_size": 2}
    )


def after(old: ServerLog, new: ServerLog) -> ServerLog:
    return new.model_copy(update={"earlier": (old.as_earlier(),)})


def test_a_step_is_compared_with_that_of_the_run_before(judged: Judged) -> None:
    compare = regressions.slower_than_the_run_before
    assert judged(compare, run(20)) is None
    assert isinstance(judged(compare, after(run(20, 68), run(20.9))), Cleared)
    found = judged(compare, after(run(20, 68), run(21.1)))
    assert isinstance(found, Finding)
    assert "graph addresses" in found.statement
    with pytest.raises(Undecided, match="build or the machine"):
        judged(compare, after(run(20, 68), run(25, 68)))
    with pytest.raises(Undecided, match="tp_size"):
        judged(compare, after(run(20, 68, tp_size=4), run(25, tp_size=2)))


def test_weights_in_host_memory_explain_a_long_step(judged: Judged) -> None:
    log = ServerLog(decode=steps(1600), resolved={"cpu_offload_gb": 40})
    assert isinstance(judged(regressions.nothing_wrong_but_slow, log), Cleared)


def test_a_flag_that_forces_the_slow_kernel_is_named(judged: Judged) -> None:
    text = "Detected that the model can run with awq_marlin, however you specified quantization=awq explicitly, so forcing awq. Use quantization=awq_marlin for faster inference"
    log = ServerLog(notices=(Notice(kind="kernel", text=text),))
    found = judged(kernels.slower_kernel_asked_for, log)
    assert isinstance(found, Finding)
    assert found.remedy == ("Leave --quantization out, or say awq_marlin.",)
    assert isinstance(judged(kernels.slower_kernel_asked_for, ServerLog()), Cleared)


def test_a_steady_batch_slows_with_its_cache_as_one_chat_does(judged: Judged) -> None:
    def batch(last_ms: float) -> ServerLog:
        told = [(2000 + 5000 * n, 33 + (last_ms - 33) * n / 12) for n in range(13)]
        lines = tuple(DecodeLine(running=8, tokens=t, tok_s=8000 / ms) for t, ms in told)
        return ServerLog(decode=lines)

    found = judged(attention.step_grows_with_context, batch(46))
    assert isinstance(found, Finding)
    assert isinstance(judged(attention.step_grows_with_context, batch(38)), Cleared)
