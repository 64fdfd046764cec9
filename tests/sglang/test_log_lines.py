"""Traffic lines of every version of SGLang, 0.4.6 to 0.5.23, are read by the names of their fields."""

from __future__ import annotations

import pytest

from tools.engine import DecodeLine, PrefillLine
from tools.sglang.log import read_log


def decode(line: str) -> DecodeLine:
    log = read_log(line + "\n")
    assert log.unexplained_count == 0
    return log.decode[0]


def prefill(line: str) -> PrefillLine:
    log = read_log(line + "\n")
    assert log.unexplained_count == 0
    return log.prefill[0]


AT = "[2026-09-02 07:00:17"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("] Decode batch. #running-req: 3, #token: 99, token usage: 0.78, gen throughput (token/s): 905.24, #queue-req: 2",
         {"running": 3, "tokens": 99, "usage": 0.78, "tok_s": 905.24, "queued": 2}),
        ("] Decode batch. #running-req: 1, #token: 9, token usage: 0.00, accept len: 1.03, pre-allocated usage: 0.10, cuda graph: True, gen throughput (token/s): 4.00, #queue-req: 0",
         {"running": 1, "tokens": 9, "usage": 0.0, "accept_len": 1.03, "graph": True, "tok_s": 4.0, "queued": 0}),
        (" TP0] Decode batch. #running-req: 1, #full token: 9, full token usage: 0.20, #swa token: 4, swa token usage: 0.90, cpu graph: False, gen throughput (token/s): 4.00, #queue-req: 0, #retracted-req: 3, ",
         {"rank": "TP0", "running": 1, "tokens": 9, "usage": 0.2, "swa_usage": 0.9, "tok_s": 4.0, "queued": 0}),
        (" DP1 PP0 TP3 EP2] Decode batch [1234], #running-req: 6, #full token: 17880, full token usage: 0.02, mamba num: 30, mamba usage: 0.94, accept len: 3.08, accept rate: 0.30, cuda graph: True, gen throughput (token/s): 104.90, #queue-req: 2, ",
         {"rank": "DP1 PP0 TP3 EP2", "running": 6, "tokens": 17880, "usage": 0.02, "mamba_usage": 0.94, "accept_len": 3.08, "accept_rate": 0.3, "graph": True, "tok_s": 104.9, "queued": 2}),
        (".123 DP0 ATTN_CP1 MOE_DP0 TP0] Decode batch, #running-req: 1, #token: 5, token usage: 0.01, pre-allocated usage: 0.00, #prealloc-req: 0, #transfer-req: 1, #host-receive-req: 2, #retracted-req: 0, waiting-image-req: 1, npu graph: True, gen throughput (token/s): 8.00, #queue-req: 0, est. decode TFLOPS/s (per GPU): 1.20, est. read BW (GB/s per GPU): 600.00, est. write BW (GB/s per GPU): 1.00, fwd occupancy: 93.10%, fwd+idle occupancy: 99.00%",
         {"rank": "DP0 ATTN_CP1 MOE_DP0 TP0", "running": 1, "tokens": 5, "usage": 0.01, "graph": True, "tok_s": 8.0, "queued": 0, "occupancy_pct": 93.1}),
        ("] Decode batch, #running-req: 2, #full token: 1, full token usage: 0.01, #swa token: 1, swa token usage: 0.02, mamba num: 2, mamba usage: 0.03, #gpu token: 5, gpu token usage: 0.10, #cpu token: 6, cpu token usage: 0.20, accept len: 2.00, accept rate: 0.50, cap len: 3.00, block accept len: 1.00, musa graph: False, gen throughput (token/s): 1.00, #queue-req: 0",
         {"running": 2, "tokens": 1, "usage": 0.01, "swa_usage": 0.02, "mamba_usage": 0.03, "accept_len": 2.0, "accept_rate": 0.5, "graph": False, "tok_s": 1.0, "queued": 0}),
    ],
)  # fmt: skip
def test_a_decode_line_of_each_era_is_read(line: str, said: dict[str, object]) -> None:
    expected = {"at": "2026-09-02 07:00:17"} | said
    assert decode(AT + line).model_dump(exclude_defaults=True) == expected


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("] Prefill batch. #new-seq: 2, #new-token: 103, #cached-token: 7, token usage: 0.01, #running-req: 5, #queue-req: 4",
         {"new_seqs": 2, "new_tokens": 103, "cached_tokens": 7, "usage": 0.01, "running": 5, "queued": 4}),
        ("] Prefill batch. #new-seq: 2, #new-token: 103, #cached-token: 7, full token usage: 0.01, swa token usage: 0.50, #unbootstrapped-req: 1, #queue-req: 4, #transferring-req: 3, input throughput (token/s): 55.50, ",
         {"new_seqs": 2, "new_tokens": 103, "cached_tokens": 7, "usage": 0.01, "swa_usage": 0.5, "queued": 4, "tok_s": 55.5}),
        (" TP0] Prefill batch [7], #new-seq: 1, #new-token: 11, #cached-token: 0, token usage: 0.00, #running-req: 0, #queue-req: 0, #prealloc-req: 0, #inflight-req: 0, input throughput (token/s): 0.00, cpu graph: False",
         {"rank": "TP0", "new_seqs": 1, "new_tokens": 11, "cached_tokens": 0, "usage": 0.0, "running": 0, "queued": 0, "tok_s": 0.0}),
        ("] Prefill batch, #new-seq: 1, #new-token: 2048, #cached-token: 0, full token usage: 0.01, mamba usage: 0.02, #running-req: 0, #queue-req: 0, #pending-token: 6144, #replay-token: 5, #bootstrap-req: 0, #optimistic-req: 0, waiting-image-req: 0, cuda graph: True, input throughput (token/s): 5510.12, est. prefill TFLOPS/s (per GPU): 90.00, fwd occupancy: 99.00%",
         {"new_seqs": 1, "new_tokens": 2048, "cached_tokens": 0, "usage": 0.01, "mamba_usage": 0.02, "running": 0, "queued": 0, "pending": 6144, "graph": True, "tok_s": 5510.12}),
    ],
)  # fmt: skip
def test_a_prefill_line_of_each_era_is_read(line: str, said: dict[str, object]) -> None:
    expected = {"at": "2026-09-02 07:00:17"} | said
    assert prefill(AT + line).model_dump(exclude_defaults=True) == expected


def test_a_prefix_of_a_logging_configuration_is_no_obstacle() -> None:
    line = decode(
        "2025-12-04 20:35:53 INFO 151972 [scheduler_metrics_mixin.py:287] Decode batch. #running-req: 4, #token: 8, token usage: 0.10, cuda graph: True, gen throughput (token/s): 90.00, #queue-req: 0, "
    )
    assert (line.at, line.running, line.tok_s) == ("2025-12-04 20:35:53", 4, 90.0)


def test_a_figure_cut_by_the_end_of_the_text_is_not_believed() -> None:
    line = decode(
        AT
        + "] Decode batch, #running-req: 8, #token: 24430, token usage: 0.05, cuda graph: True, gen throughput (token/s): 21"
    )
    assert (line.running, line.graph, line.tok_s) == (8, True, None)


def test_absurd_figures_are_none() -> None:
    line = decode(
        AT
        + f"] Decode batch, #running-req: {'9' * 400}, #token: -5, token usage: 71.00, cuda graph: Maybe, gen throughput (token/s): nan, #queue-req: inf"
    )
    assert line == DecodeLine(at="2026-09-02 07:00:17")


def gaps(*lines: str) -> list[bool]:
    return [line.after_gap for line in read_log("\n".join(lines)).decode]


def d(clock: str, rank: str = "", running: int = 1) -> str:
    return f"[2026-09-02 {clock}{rank}] Decode batch, #running-req: {running}, #token: 9, token usage: 0.01, cuda graph: True, gen throughput (token/s): 50.00, #queue-req: 0"


def p(clock: str, rank: str = "", running: int = 0) -> str:
    return f"[2026-09-02 {clock}{rank}] Prefill batch, #new-seq: 1, #new-token: 90, #cached-token: 0, token usage: 0.00, #running-req: {running}, #queue-req: 0, cuda graph: False, input throughput (token/s): 1.00"


def test_the_first_line_after_a_prefill_is_after_a_gap() -> None:
    assert gaps(p("07:00:00"), d("07:00:01"), d("07:00:02"), d("07:00:03"), d("07:00:04")) == [
        True,
        False,
        False,
        False,
    ]


def test_a_pause_is_a_gap_and_midnight_is_none() -> None:
    assert (
        gaps(d("23:59:56"), d("23:59:57"), d("23:59:58"), d("23:59:59"), d("23:59:59"))
        == [False] * 5
    )
    assert gaps(d("07:00:00"), d("07:00:01"), d("07:00:02"), d("07:05:00"), d("07:05:01")) == [
        False,
        False,
        False,
        True,
        False,
    ]


def test_ranks_have_gaps_of_their_own() -> None:
    lines = [
        p("07:00:00", " DP1"),
        *(d(f"07:00:0{at}", f" DP{rank}") for at in range(1, 6) for rank in (0, 1)),
    ]
    assert gaps(*lines) == [False, True, *[False] * 8]


def test_under_load_that_never_stops_only_idle_makes_a_gap() -> None:
    lines = [
        line
        for at in range(40)
        for line in (p(f"07:00:{at:02d}", running=5), d(f"07:00:{at:02d}", running=6))
    ]
    assert not any(gaps(*lines))
    assert gaps(p("07:00:00"), *lines)[0]


def test_a_shortened_log_that_keeps_the_clock_alone_is_read() -> None:
    lines = [
        line.replace("2026-09-02 ", "")
        for line in (
            d("03:51:54", " TP0"),
            d("03:51:55", " TP0"),
            d("03:51:56", " TP0"),
            d("03:59:56", " TP0"),
        )
    ]
    log = read_log("\n".join(lines))
    assert [(line.at, line.rank, line.after_gap) for line in log.decode[2:]] == [
        ("03:51:56", "TP0", False),
        ("03:59:56", "TP0", True),
    ]
