"""vLLM's log from V0 (0.5) to V1 (0.32), read into the same facts as SGLang's."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tools.engine import ServerLog
from tools.probes.server_log import ReadServerLog

REAL = Path(__file__).parents[1] / "real" / "logs" / "vllm-0.32.0.log.gz"


def read(text: str) -> ServerLog:
    log = ReadServerLog().parse(text)
    assert log.engine == "vllm"
    return log


def test_the_real_log_is_accounted_for() -> None:
    text = gzip.decompress(REAL.read_bytes()).decode()
    log = read(text)
    assert len(log.decode) == text.count("Avg generation throughput")
    assert (log.version, log.started, log.max_total_tokens, log.context_len) == (
        "0.32.0",
        True,
        1_048_576,
        2048,
    )
    assert log.resolved is not None
    assert log.resolved["enforce_eager"] is True
    assert [notice.times for notice in log.said("graph_off")] == [2]
    assert log.unexplained == ()


@pytest.mark.parametrize(
    "line",
    [
        "INFO 08-10 03:00:00 metrics.py:406] Avg prompt throughput: 2.0 tokens/s, Avg generation throughput: 8.1 tokens/s, Running: 1 reqs, Swapped: 1 reqs, Pending: 2 reqs, GPU KV cache usage: 50.0%, CPU KV cache usage: 0.0%.",
        "INFO 08-10 03:00:00 [loggers.py:116] Engine 000: Avg prompt throughput: 2.0 tokens/s, Avg generation throughput: 8.1 tokens/s, Running: 1 reqs, Waiting: 3 reqs, GPU KV cache usage: 50.0%, Prefix cache hit rate: 0.0%",
        "\x1b[0;36m(APIServer pid=1)\x1b[0;0m INFO 08-10 03:00:00 [loggers.py:271] Engine 000: Avg prompt throughput: 2.0 tokens/s, Avg generation throughput: 8.1 tokens/s, Running: 1 reqs, Waiting: 3 reqs, GPU KV cache usage: 50.0%, Prefix cache hit rate: 0.0%",
    ],
)
def test_a_stats_line_of_each_style_is_read(line: str) -> None:
    decode = read(line).decode[0]
    assert (decode.at, decode.rank, decode.running, decode.queued) == ("08-10 03:00:00", "", 1, 3)
    assert (decode.usage, decode.tok_s, decode.prompt_tok_s, decode.graph) == (0.5, 8.1, 2.0, None)


STATS = "(APIServer pid=1) INFO 05-15 19:40:{s} [loggers.py:271] Engine {e:03d}: Avg prompt throughput: 6.5 tokens/s, Avg generation throughput: {g} tokens/s, Running: {n} reqs, Waiting: 0 reqs, GPU KV cache usage: 0.4%, Prefix cache hit rate: 71.2%"


def test_the_edges_of_a_burst_are_marked_and_engines_told_apart() -> None:
    log = read(
        "\n".join(
            STATS.format(s=s, e=e, g=g, n=n)
            for s, e, g, n in [
                ("00", 0, 0.0, 0),
                ("00", 1, 9.0, 1),
                ("10", 0, 3.0, 1),
                ("20", 0, 9.0, 1),
                ("30", 0, 5.0, 0),
            ]
        )
    )
    assert [(line.rank, line.after_gap) for line in log.decode] == [
        ("DP0", True),
        ("DP1", False),
        ("DP0", True),
        ("DP0", False),
        ("DP0", True),
    ]
    assert log.decode[0].cache_hit == 0.712


def test_speculation_belongs_to_the_line_before_it() -> None:
    log = read(
        STATS.format(s="00", e=0, g=71.2, n=1)
        + "\n(APIServer pid=1) INFO 05-15 19:40:00 [metrics.py:101] SpecDecoding metrics: Mean acceptance length: 2.94, Accepted throughput: 46.99 tokens/s, Drafted throughput: 72.62 tokens/s, Accepted: 469 tokens, Drafted: 726 tokens, Per-position acceptance rate: 0.842, 0.640, 0.458, Avg Draft acceptance rate: 64.7%"
    )
    assert (log.decode[0].accept_len, log.decode[0].accept_rate) == (2.94, 0.647)


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("watchdog", "(EngineCore pid=92) INFO 03-30 10:03:11 [shm_broadcast.py:705] No available shared memory broadcast block found in 60 seconds. This typically happens"),
        ("crash", "(EngineCore pid=20380) ERROR 09-05 15:17:44 [core.py:812] TimeoutError: RPC call to sample_tokens timed out."),
        ("crash", "(EngineCore pid=1) ERROR 09-10 22:40:24 [core.py:1004] EngineCore encountered a fatal error."),
        ("crash", "(Worker_TP1 pid=2) ERROR 09-10 22:40:24 [multiproc_executor.py:863] torch.AcceleratorError: CUDA error: uncorrectable NVLink error detected"),
        ("kernel", "WARNING 11-07 23:20:14 [marlin_utils_fp8.py:80] Your GPU does not have native support for FP8 computation but FP8 quantization is being used."),
        ("kernel", "(EngineCore pid=210) WARNING 06-05 08:00:12 [fused_moe.py:1068] Using default MoE config. Performance might be sub-optimal! Config file not found at ['/x']"),
        ("custom_ar_off", "(Worker_TP0 pid=212) WARNING 05-15 19:32:41 [custom_all_reduce.py:154] Custom allreduce is disabled because your platform lacks GPU P2P capability or P2P test failed."),
        ("graph_off", "(APIServer pid=1) WARNING 11-29 22:44:37 [vllm.py:1703] Enforce eager set, disabling torch.compile, CUDAGraphs, and JIT kernel warmup."),
        ("oom", "(EngineCore pid=1) ERROR 09-10 22:40:24 [core.py:1004] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB"),
        ("override", "(EngineCore pid=1) WARNING 11-29 22:44:37 [cpu.py:317] Reset SSM cache type to float32 for accelerated GDN mamba backend 'none'."),
    ],
)  # fmt: skip
def test_a_warning_is_sorted_by_its_words(kind: str, line: str) -> None:
    assert [notice.kind for notice in read(line).notices] == [kind]


def test_a_traceback_whose_every_line_is_prefixed_is_one_notice() -> None:
    head = "(EngineCore pid=1) ERROR 09-10 22:40:24 [core.py:1004] "
    text = "\n".join(
        head + line
        for line in (
            "Traceback (most recent call last):",
            '  File "/vllm/x.py", line 3, in f',
            "    g()",
            "ValueError: No available memory for the cache blocks. Try increasing gpu_memory_utilization",
        )
    )
    assert [(n.kind, n.text[:12]) for n in read(text).notices] == [("start_failed", "ValueError: ")]


def test_the_last_of_two_runs_is_told_with_its_arguments() -> None:
    start = "(APIServer pid=1) INFO 06-05 07:58:41 [api_utils.py:273] vLLM API server version 0.22.1\n(APIServer pid=1) INFO 06-05 07:58:41 [api_utils.py:273] non-default args: {{'model': '/m', 'tensor_parallel_size': {n}, 'api_key': 'sk-very-secret-0123456789'}}\n(EngineCore pid=9) INFO 06-05 07:58:50 [core.py:114] Initializing a V1 LLM engine (v0.22.1) with config: model='/m', tensor_parallel_size={n}, quantization=fp8, enforce_eager=False, seed=0\n(APIServer pid=1) INFO:     Application startup complete.\n"
    log = read(
        start.format(n=1) + STATS.format(s="00", e=0, g=71.2, n=1) + "\n" + start.format(n=2)
    )
    assert (log.runs, log.version, log.quant, log.started, log.decode) == (
        2,
        "0.22.1",
        "fp8",
        True,
        (),
    )
    assert log.resolved is not None
    assert log.resolved["tensor_parallel_size"] == 2
    assert "very-secret" not in log.model_dump_json()


def test_prompts_are_not_kept() -> None:
    text = (
        STATS.format(s="00", e=0, g=1.0, n=1)
        + "\n(APIServer pid=1) INFO 05-15 19:40:00 [logger.py:43] Received request cmpl-1: prompt: 'my diary', params: SamplingParams(n=1)\n"
    )
    log = read(text)
    assert "diary" not in log.model_dump_json()
    assert "diary" not in ReadServerLog().clean(text)


def test_a_worker_of_0_9_names_its_rank() -> None:
    line = "(VllmWorker rank={n} pid=50{n}) WARNING 06-20 09:00:19 [custom_all_reduce.py:137] Custom allreduce is disabled because it's not supported on more than two PCIe-only GPUs."
    log = read("\n".join(line.format(n=n) for n in (0, 1)))
    assert {notice.rank for notice in log.notices} == {"TP0"}
    assert log.notices[0].times == 2


def test_blocks_of_v0_are_tokens_and_the_graphs_have_their_sizes() -> None:
    log = read(
        "INFO 10-20 09:00:07 llm_engine.py:237] Initializing an LLM engine (v0.6.3.post1) with config: model='m', block_size=32, compilation_config={\"cudagraph_capture_sizes\":[8,4,1]}\n"
        "INFO 10-20 09:00:52 distributed_gpu_executor.py:57] # GPU blocks: 3512, # CPU blocks: 2048\n"
        "INFO 10-20 09:00:59 model_runner.py:1523] Graph capturing finished in 12 secs, took 0.35 GiB\n"
    )
    assert log.max_total_tokens == 3512 * 32
    assert [one.sizes for one in log.captures] == [(8, 4, 1)]
