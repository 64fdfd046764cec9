"""Texts that somebody gives: read within bounds, decoded, unwrapped, split at prompts, recognised by content."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import os
import subprocess
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from tests.hostile_texts import LINES_OF_A_FILE
from tools.errors import ToolsError, Unreadable
from tools.host import Command, Output
from tools.hosts.files import Found, bounded, read_texts
from tools.probe import Facts, Probe


class Words(Facts):
    """What a test reads of a text."""

    count: int


class ReadApples(Probe[Words]):
    """Count the apples."""

    def command(self) -> Command:
        return Command(argv=("apples",))

    def recognises(self, text: str, /) -> bool:
        return "apple" in text

    def parse(self, stdout: str, /) -> Words:
        return Words(count=stdout.count("apple"))


class ReadPears(ReadApples):
    """Count the pears, in JSON alone."""

    def recognises(self, text: str, /) -> bool:
        return "pear" in text

    def parse(self, stdout: str, /) -> Words:
        try:
            return Words(count=len(json.loads(stdout)))
        except ValueError:
            raise Unreadable("no JSON") from None


PROBES: dict[str, type[Probe[Any]]] = {"ReadApples": ReadApples, "ReadPears": ReadPears}


def read(*given: Any) -> list[tuple[str, str]]:
    return [
        (type(one.probe).__name__ if one.probe else one.trouble, one.source)
        for one in read_texts(given, PROBES)
    ]


def text_of(data: bytes) -> str:
    (one,) = read_texts([("given", data)], PROBES)
    return one.output.stdout


def test_a_text_is_recognised_by_its_content_and_not_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "pears.json"
    path.write_text("an apple\n")
    assert read(path) == [("ReadApples", str(path))]
    assert read(str(path), ("x", b"apple")) == [("ReadApples", str(path)), ("ReadApples", "x")]


def test_one_text_may_answer_several_questions_in_their_order() -> None:
    assert read(("x", b'{"pear": "apple"}')) == [("ReadApples", "x"), ("ReadPears", "x")]


def test_a_text_that_nobody_knows_is_kept_and_said() -> None:
    (one,) = read_texts([("x", b"hello\n")], PROBES)
    assert one == Found("x", None, Output(stdout="hello\n"), "no probe recognises this text")
    assert read(("y", b"")) == [("it is empty", "y")]


@pytest.mark.parametrize(
    "data",
    [
        "äpple apple\n".encode(),
        b"\xef\xbb\xbfapple",
        "apple\r\n".encode("utf-16"),
        "apple\n".encode("utf-16-le"),
        "apple\n".encode("utf-16-be"),
        "Äpfel: apple".encode("latin-1"),
        b"\0" * 5000 + b"apple",
        b"app\0le",
        b"\x1b[32mapple\x1b[0m",
        gzip.compress(b"apple", mtime=0),
        gzip.compress(b"app", mtime=0) + gzip.compress(b"le", mtime=0),
        gzip.compress("apple".encode("utf-16"), mtime=0),
        b'{"log":"apple\\n","stream":"stderr","time":"2026-01-01T00:00:00.000000001Z"}\n',
    ],
)
def test_encodings_and_wrappers_do_not_matter(data: bytes) -> None:
    assert read(("x", data)) == [("ReadApples", "x")]


def test_latin_1_and_utf_8_are_told_apart() -> None:
    assert text_of("fünf apples für €1, naïve".encode()) == "fünf apples für €1, naïve"
    assert (
        text_of("fünf apples für naïve Möwen, überall äöü".encode("latin-1"))
        == "fünf apples für naïve Möwen, überall äöü"
    )
    torn = ("apple für " * 50).encode()[:-3]
    assert "für" in text_of(b"\xbc " + torn), "a character cut in two does not make it Latin-1"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\x89PNG\r\n\x1a\napple", "a picture"),
        (b"PK\x03\x04apple", "zip archive"),
        (bz2.compress(b"apple" * 1000), "bzip2 archive"),
        (b"x" * 257 + b"ustar\x0000apple", "tar archive"),
        (bytes(range(256)) * 40 + b"apple", "binary data"),
        (b"\x7fELFapple", "a program"),
    ],
)
def test_what_is_no_text_is_refused_with_a_sentence(data: bytes, said: str) -> None:
    (one,) = read_texts([("x", data)], PROBES)
    assert one.probe is None
    assert said in one.trouble
    assert said in one.output.lost
    assert read(("x", gzip.compress(data, mtime=0)))[0][0] == one.trouble


def test_a_file_that_cannot_be_read_is_a_clear_sentence(tmp_path: Path) -> None:
    with pytest.raises(ToolsError, match=r"gone\.log is not there"):
        read(tmp_path / "gone.log")
    with pytest.raises(ToolsError, match="is a folder: name the files in it"):
        read(tmp_path)
    with pytest.raises(ToolsError, match="cannot be read"):
        read("a\0b")


def test_stdin_is_a_file_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"apple")))
    assert read("-") == [("ReadApples", "-")]


def test_gzip_that_was_cut_off_is_read_as_far_as_it_goes() -> None:
    whole = gzip.compress("\n".join(f"apple {n * n % 9973}" for n in range(20_000)).encode())
    (one,) = read_texts([("x", whole[: len(whole) // 2])], PROBES)
    assert isinstance(one.probe, ReadApples)
    assert "cut off" in one.trouble
    assert one.output.cut
    (one,) = read_texts([("x", whole[:9000] + b"\0" * 50 + whole[9050:])], PROBES)
    assert "gzip" in one.trouble


def test_of_a_large_file_head_and_tail_are_read_and_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded, "HEAD_BYTES", 1 << 20)
    monkeypatch.setattr(bounded, "TAIL_BYTES", 3 << 20)
    path = tmp_path / "log"
    path.write_bytes(
        b"first apple\n" + b"".join(b"line %07d\n" % n for n in range(1_000_000)) + b"last apple\n"
    )
    (one,) = read_texts([path], PROBES)
    assert one.output.cut
    assert one.trouble == "Its first 1 MB and its last 3 MB were read, 8 MB between them were not."
    lines = one.output.stdout.splitlines()
    assert (lines[0], lines[-1]) == ("first apple", "last apple")
    assert all(len(line) == 12 for line in lines[1:-1]), "no line is torn"


def test_a_file_that_fits_is_read_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "HEAD_BYTES", 10)
    monkeypatch.setattr(bounded, "TAIL_BYTES", 20)
    for size in range(1, 31):
        data = (b"apple%d" % size * 9)[:size]
        assert bounded.bounded([data[:7], data[7:]]) == bounded.Bounded(data)
    assert bounded.bounded([b"x" * 5] * 10).note


def test_a_gzip_bomb_costs_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "HEAD_BYTES", 1 << 20)
    monkeypatch.setattr(bounded, "TAIL_BYTES", 2 << 20)
    monkeypatch.setattr(bounded, "MOST_BYTES", 64 << 20)
    bomb = gzip.compress(b"\0" * (256 << 20), 1)
    tracemalloc.start()
    kept = bounded.bounded([bomb])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 << 20
    assert kept.note


@pytest.mark.parametrize("name", LINES_OF_A_FILE)
def test_what_stands_after_a_hostile_line_is_read(name: str) -> None:
    assert read(("x", LINES_OF_A_FILE[name].text().encode())) == [("ReadApples", "x")]


def test_a_pipe_is_read_where_somebody_writes_and_refused_where_nobody_does(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(ToolsError, match="is a pipe that nobody writes into"):
        read_texts([pipe], PROBES)
    reads = f"readlink /proc/$PPID/fd/* 2>/dev/null | grep -qxF '{pipe}'"
    writes = f"exec 3<>'{pipe}'; echo an apple >&3; echo ready; until {reads}; do sleep 0.05; done"
    with subprocess.Popen(["bash", "-c", writes], stdout=subprocess.PIPE) as writer:
        assert writer.stdout
        assert writer.stdout.readline() == b"ready\n"
        (one,) = read_texts([pipe], PROBES)
    assert "apple" in one.output.stdout


def test_gzip_within_gzip_is_said() -> None:
    (one,) = read_texts([("x", gzip.compress(gzip.compress(b"apple" * 100), mtime=0))], PROBES)
    assert "gzip within gzip" in one.trouble


def test_what_swells_a_thousandfold_is_left_early() -> None:
    bomb = gzip.compress(b"\0" * (bounded.SWELLS_BYTES + (16 << 20)), 1)
    assert "swells as no log does" in bounded.bounded([bomb]).note
