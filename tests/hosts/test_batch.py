"""The wire: what a host sends back is judged before it is believed."""

from __future__ import annotations

import ast
import json
import random
import zlib
from pathlib import Path

import pytest

import tools
from tests.hosts.asks import Ask
from tools.batch import BOOTSTRAP, MAGIC, Batch, Garbled, bootstrap, last_words
from tools.errors import ToolsError


def frame(n: int = 0, out: bytes = b"out", err: bytes = b"", **told: object) -> bytes:
    head = {
        "n": n,
        "status": 0,
        "lost": "",
        "cut": False,
        "took_s": 0.1,
        "out": len(out),
        "err": len(err),
        **told,
    }
    packed = zlib.compress(json.dumps(head).encode() + b"\n" + out + err)
    return MAGIC + len(packed).to_bytes(4, "big") + packed


def test_answers_are_put_together_however_they_are_torn() -> None:
    stream = b"Welcome!\n\0P" + frame(1, b"second", b"e") + frame(0, b"first")
    for size in (1, 2, 7, 1000):
        batch = Batch([Ask("a"), Ask("b")])
        for start in range(0, len(stream), size):
            assert not batch.done
            batch.feed(stream[start : start + size])
        assert batch.done
        assert [(o.stdout, o.stderr) for o in batch.outputs("lost")] == [
            ("first", ""),
            ("second", "e"),
        ]
        assert batch.noise == b"Welcome!\n\0P"


def test_what_has_no_answer_is_lost_and_says_why() -> None:
    batch = Batch([Ask("a"), Ask("b"), Ask("a")])
    batch.feed(frame(0))
    assert [o.lost for o in batch.outputs("the line broke")] == ["", "the line broke", ""]


@pytest.mark.parametrize(
    "stream",
    [
        MAGIC + b"\xff\xff\xff\xff",
        MAGIC + b"\0\0\0\4abcd",
        frame() + b"something else entirely",
        frame(n=7),
        frame(n=-1),
        frame(status="x"),
        frame(took_s=None),
        MAGIC + len(zlib.compress(b"[]\n")).to_bytes(4, "big") + zlib.compress(b"[]\n"),
    ],
)
def test_what_cannot_come_from_our_runner_is_refused(stream: bytes) -> None:
    batch = Batch([Ask("a"), Ask("b")])
    with pytest.raises(Garbled):
        batch.feed(stream)


def test_an_answer_that_swells_is_not_believed_beyond_its_cap() -> None:
    batch = Batch([Ask("a", max_bytes=1000)])
    batch.feed(frame(out=b"0" * (50 << 20)))
    assert len(batch.outputs("")[0].stdout) < 200_000


def test_noise_costs_no_memory_and_no_time() -> None:
    batch = Batch([Ask("a")])
    for _ in range(200):
        batch.feed(b"x" * 100_000)
    assert batch.silent
    assert len(batch.noise) <= 4200


def test_random_bytes_never_raise_anything_else() -> None:
    dice = random.Random(1)
    for _ in range(300):
        batch = Batch([Ask("a")])
        stream = bytearray(frame(out=dice.randbytes(50)))
        for _ in range(3):
            stream[dice.randrange(len(stream))] = dice.randrange(256)
        try:
            batch.feed(bytes(stream))
        except Garbled:
            continue


def test_the_text_that_a_host_runs_is_the_same_whatever_is_asked() -> None:
    assert bootstrap("python3")[1:] == bootstrap("/opt/x/bin/python3.11")[1:]
    assert not set(BOOTSTRAP) & set("'\n!`$\\"), "every login shell takes it as it is"
    assert b"touch" not in " ".join(bootstrap("python3")).encode()
    for wrong in ("", "-c"):
        with pytest.raises(ToolsError, match="Python interpreter"):
            bootstrap(wrong)


def test_a_batch_is_bounded_whatever_its_commands_ask_for() -> None:
    assert Batch([Ask("a", limit_s=1)]).bound_s < 5
    assert Batch([Ask(str(n), limit_s=120) for n in range(100)]).bound_s == 180


def test_last_words_are_one_line_without_tricks() -> None:
    assert last_words(b"a\n\x1b[2Jbye\r\n\n", b"") == "[2Jbye"
    assert last_words(b"", b"\n") == "it said nothing"
    assert len(last_words(b"x" * 10_000)) == 300


@pytest.mark.parametrize(
    "path",
    sorted((Path(tools.__file__).parent / "remote").glob("*.py")),
    ids=lambda path: path.stem,
)
def test_what_runs_on_a_host_can_be_read_by_python_3_8(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    ast.parse(text, feature_version=(3, 8))
    assert "\0" not in text, "the wire parts the runner from its job there"
