"""Files that a person or a model names: nothing but what the probe says is read, and nothing hangs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tools.evidence import Evidence, ask
from tools.hosts.local import LocalHost
from tools.probes import PROBES

SECRET = "S3cretMarkerXyz"
LINE = (
    "[2026-01-01 00:00:01] Decode batch, #running-req: 1, #token: 34, token usage: 0.00, "
    "cuda graph: True, gen throughput (token/s): 5.16, #queue-req: 0, \n"
)
LOOKS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("GrepServerLog", "log_path", {"text": "S3cret"}),
    ("GrepServerLog", "log_path", {"text": ".*", "pattern": True}),
    ("ReadServerLog", "log_path", {}),
    ("ReadNcclLog", "log_path", {}),
    ("ReadAllReduceTest", "path", {}),
    ("ReadRequests", "path", {}),
    ("ReadBenchmark", "path", {}),
    ("ReadSourceLines", "source_path", {"text": "S3cret"}),
)
ids = [f"{name}{'-pattern' if 'pattern' in more else ''}" for name, _, more in LOOKS]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("named")
    (folder / "history").write_text(
        f"python -m sglang.launch_server --model-path m\ngrep 'Decode batch, #' log\nvllm serve m\nmy {SECRET}\n"
        "grep 'The server is fired up and ready to roll' x\ngrep 'server_args=ServerArgs(' x\ngrep busbw x\n"
    )
    (folder / "app").mkdir()
    (folder / "app" / "__init__.py").write_text(f"S3cret = '{SECRET}'\n")
    (folder / "link").symlink_to(folder / "history")
    (folder / "environment").symlink_to("/proc/self/environ")
    os.mkfifo(folder / "pipe")
    (folder / "to_pipe").symlink_to(folder / "pipe")
    return folder


def look(name: str, field: str, path: str, more: dict[str, Any]) -> Evidence:
    (seen,) = ask(LocalHost(), [PROBES[name](**{field: path}, **more)])
    return seen


@pytest.mark.parametrize(("name", "field", "more"), LOOKS, ids=ids)
def test_no_other_file_is_shown_and_nothing_hangs(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, field: str, more: dict[str, Any]
) -> None:
    monkeypatch.setenv("SGLANG_X", f"sglang vllm {SECRET}")
    mine = ("history", "link", "environment", "pipe", "to_pipe", "app", "missing")
    others = ("/etc/passwd", "/proc/self/environ", "/proc/kmsg", "/dev/zero", "/tmp")
    for path in (*(str(folder / one) for one in mine), *others):
        seen = look(name, field, path, more)
        assert seen.facts is None, path
        assert seen.output is not None
        assert not seen.output.lost, "a look that hangs is lost at its limit"
        assert SECRET not in seen.output.stdout + seen.output.stderr, path
        assert "root:" not in seen.output.stdout, path
        assert len(seen.trouble.splitlines()) == 1, path


@pytest.mark.parametrize("path", ["-e", "--help", "--version"])
@pytest.mark.parametrize(("name", "field", "more"), LOOKS, ids=ids)
def test_no_path_becomes_an_option(name: str, field: str, more: dict[str, Any], path: str) -> None:
    try:
        probe = PROBES[name](**{field: path}, **more)
    except ValueError:
        return
    assert path not in probe.command().argv


def test_what_is_asked_for_is_read_through_a_link_too(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(LINE + "h:1:1 [0] NCCL INFO NET/IB : No device found.\n")
    (tmp_path / "link").symlink_to(tmp_path / "log")
    (tmp_path / "package" / "srt").mkdir(parents=True)
    (tmp_path / "package" / "__init__.py").write_text("")
    (tmp_path / "package" / "srt" / "a.py").write_text("x = 'S3cret'\n")
    (tmp_path / "reduce").write_text("# nThread 1 nGpus 2\n#       size  count  type\n")
    (tmp_path / "request").write_text('{"messages": [], "max_tokens": 5}')
    for name, field, more, file in (
        ("ReadServerLog", "log_path", {}, "link"),
        ("GrepServerLog", "log_path", {"text": "Decode"}, "link"),
        ("ReadNcclLog", "log_path", {}, "log"),
        ("ReadSourceLines", "source_path", {"text": "S3cret"}, "package"),
        ("ReadAllReduceTest", "path", {}, "reduce"),
        ("ReadRequests", "path", {}, "request"),
    ):
        seen = look(name, field, str(tmp_path / file), more)
        assert seen.facts is not None, (name, seen.trouble)


@pytest.mark.parametrize(
    "pattern",
    [
        "(((((x{200})){200})){200})",
        "((a{100})){100}",
        "(((a*)))*",
        "((a|b))*b",
        "(a+)+",
        "(?:a)",
        r"(a)\1",
        "(x(y{9}){9}){9}",
    ],
)
def test_a_pattern_that_could_take_for_ever_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="no "):
        PROBES["GrepServerLog"](text=pattern, pattern=True)


@pytest.mark.parametrize(
    "pattern", ["a|b", "(error|warn).*", "[[:digit:]]{3}", r"\[TP[0-9]+\]", "x{3}y*", "(ab)?c"]
)
def test_a_harmless_pattern_is_taken(pattern: str) -> None:
    assert PROBES["GrepServerLog"](text=pattern, pattern=True)
