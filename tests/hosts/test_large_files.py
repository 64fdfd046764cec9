"""Files too large to be read whole: the look that knows their kind filters them where they lie."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

import pytest

from tools.engine import ServerLog
from tools.errors import Unreachable
from tools.evidence import read_back
from tools.host import Asks, Output
from tools.hosts.files import Found, read_texts
from tools.hosts.files.large import LARGE_BYTES
from tools.hosts.local import LocalHost
from tools.probes import PROBES

START = "[2026-09-02 06:59:02] server_args=ServerArgs(model_path='/models/m', tp_size=2, api_key='sk-secret-0123456789', max_running_requests=48)\n"
DECODE = "[2026-09-02 07:00:{:02d} TP0] Decode batch, #running-req: 1, #token: 900, token usage: 0.02, cuda graph: True, gen throughput (token/s): 55.10, #queue-req: 0\n"


def large_log(path: Path, *, start: str = START) -> Path:
    block = "".join(DECODE.format(at % 60) for at in range(2000))
    path.write_text(start + block * (LARGE_BYTES // len(block) + 2))
    return path


def log_of(found: Found) -> ServerLog:
    assert found.probe is not None
    facts = read_back(1, found.probe, found.source, found.output, found.trouble).facts
    assert isinstance(facts, ServerLog)
    return facts


class Mute:
    """A host that runs nothing."""

    name = "mute"

    def answer(self, probes: Sequence[Asks], /) -> Sequence[Output]:
        raise Unreachable("there is no Python")

    def close(self) -> None:
        pass


def test_a_large_log_is_filtered_where_it_lies_and_keeps_its_start(tmp_path: Path) -> None:
    (found,) = read_texts([large_log(tmp_path / "serve.log")], PROBES, LocalHost())
    assert found.output.stdout.startswith("perfsleuth-log ")
    assert len(found.output.stdout) < 4 << 20
    assert "sk-secret" not in found.output.stdout
    log = log_of(found)
    assert log.resolved is not None
    assert log.resolved["tp_size"] == 2
    assert log.steady()
    assert log.cut_lines > 100_000


def test_it_is_named_as_it_was_given(tmp_path: Path) -> None:
    path = large_log(tmp_path / "-odd name.log")
    (found,) = read_texts([path], PROBES, LocalHost())
    assert found.source == str(path)
    assert found.probe == PROBES["ReadServerLog"]()


@pytest.mark.parametrize("here", [None, Mute()])
def test_without_a_host_that_can_filter_its_ends_are_read(
    tmp_path: Path, here: Mute | None
) -> None:
    (found,) = read_texts([large_log(tmp_path / "serve.log")], PROBES, here)
    assert found.trouble.startswith("Its first 8 MB and its last 24 MB were read")
    assert log_of(found).steady()


def test_a_large_file_of_another_kind_is_not_filtered(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("nothing that any tool prints\n" * (LARGE_BYTES // 29 + 10))
    (found,) = read_texts([path], PROBES, LocalHost())
    assert found.probe is None
    assert found.trouble.startswith("no probe recognises this text")


def test_a_compressed_log_is_inflated_and_its_ends_are_read(tmp_path: Path) -> None:
    path = tmp_path / "serve.log.1.gz"
    path.write_bytes(gzip.compress(large_log(tmp_path / "serve.log").read_bytes(), 1))
    (found,) = read_texts([path], PROBES, LocalHost())
    assert log_of(found).resolved is not None
