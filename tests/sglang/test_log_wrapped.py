"""Lines that a terminal, a mail or a chat broke in two are read as if they were whole."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import pytest

from tests.engine.simulated import start
from tools.probes.server_log import ReadServerLog
from tools.sglang.log import read_log
from tools.sglang.log_wrapped import whole

DECODE = "[2026-09-02 07:00:17 TP0] Decode batch, #running-req: 6, #token: 7543, token usage: 0.03, accept len: 2.91, accept rate: 0.64, cuda graph: True, gen throughput (token/s): {}, #queue-req: 12"
PREFILL = "[2026-09-02 07:00:18 TP0] Prefill batch, #new-seq: 1, #new-token: 3000, #cached-token: 0, token usage: 0.03, #running-req: 6, #queue-req: 0, #pending-token: 0, cuda graph: False, input throughput (token/s): 4000.12"


def hard(line: str, width: int) -> str:
    return "\n".join(line[at : at + width] for at in range(0, len(line), width))


def trimmed(line: str, width: int) -> str:
    return "\n".join(part.rstrip() for part in hard(line, width).split("\n"))


def words(line: str, width: int) -> str:
    return "\n".join(textwrap.wrap(line, width))


def indented(line: str, width: int) -> str:
    return "\n    ".join(textwrap.wrap(line, width))


def carriage(line: str, width: int) -> str:
    return hard(line, width).replace("\n", "\r\n")


@pytest.mark.parametrize("broken", [hard, trimmed, words, indented, carriage])
@pytest.mark.parametrize("width", [40, 63, 72, 80, 100, 120, 132, 160])
def test_traffic_is_whole_in_any_column(broken: Callable[[str, int], str], width: int) -> None:
    lines = [DECODE.format("857.21"), PREFILL, DECODE.format("41.07"), PREFILL]
    log = ReadServerLog().parse("\n".join(broken(line, width) for line in lines))
    told = [(d.running, d.tokens, d.accept_len, d.graph, d.tok_s, d.queued) for d in log.decode]
    assert told == [(6, 7543, 2.91, True, rate, 12) for rate in (857.21, 41.07)]
    assert [(p.new_tokens, p.running, p.pending, p.graph, p.tok_s) for p in log.prefill] == [
        (3000, 6, 0, False, 4000.12)
    ] * 2
    assert log.unexplained == ()


@pytest.mark.parametrize("width", [40, 80, 120])
def test_arguments_are_whole_in_any_column(width: int) -> None:
    lines = start(0)
    broken = [hard(lines[0], width), *lines[1:]]
    told, plain = read_log("\n".join(broken)), read_log("\n".join(lines))
    assert told.resolved == plain.resolved
    assert told.started


def test_lines_of_others_stay_lines() -> None:
    lines = [
        DECODE.format("857.21"),
        "Cache miss: 3",
        DECODE.format("857.21"),
        "",
        '  File "/x.py", line 3',
        PREFILL,
        "100%|####| 3/3 [00:02<00:00, 1.2it/s]",
    ]
    assert whole(lines) == lines


def test_a_line_cut_at_its_end_stays_cut() -> None:
    cut = DECODE.format("857.21")[:150]
    log = read_log(f"{cut}\n{DECODE.format('41.07')}")
    assert [line.tok_s for line in log.decode] == [None, 41.07]
