"""The flags come from the engine's own files on the host, in few looks."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.proposal.installed import installed, listing
from tools.evidence import ask
from tools.hosts.local import LocalHost

SOURCE = """
import argparse
import dataclasses


@dataclasses.dataclass
class ServerArgs:
    chunked_prefill_size: int = None
    disable_radix_cache: bool = False
    attention_backend: str = None

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--chunked-prefill-size", type=int, default=ServerArgs.chunked_prefill_size, help="tokens")
        parser.add_argument("--disable-radix-cache", action="store_true", help="off")
        parser.add_argument("--attention-backend", type=str, choices=["fa3", "triton"], default=None)
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "site" / "sglang"
    (folder / "srt").mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "srt" / "__init__.py").touch()
    (folder / "srt" / "server_args.py").write_text(SOURCE)
    info = tmp_path / "site" / "sglang-0.5.99.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: sglang\nVersion: 0.5.99\n")
    return folder


def test_what_the_installed_source_declares_is_what_counts(package: Path) -> None:
    host = LocalHost(name="gpu-1")
    listed = ask(host, [listing(host, {"source_path": str(package)})])[0]
    found = installed(host, listed, None)
    assert found is not None
    flags = found.flags
    assert flags.known_by == "the installed source of 0.5.99"
    backend = flags.find("attention_backend")
    assert backend is not None
    assert (backend.names, backend.takes, backend.choices) == (
        ("--attention-backend",),
        1,
        ("fa3", "triton"),
    )
    switch = flags.find("--disable-radix-cache")
    assert switch is not None
    assert switch.takes == 0
    assert flags.find("max_running_requests") is None


def test_a_host_without_a_source_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    host = LocalHost(name="gpu-1")
    listed = ask(host, [listing(host, {"source_path": str(tmp_path / "nothing")})])[0]
    assert installed(host, listed, "0.5.11") is None
