"""The bytes of a file, inflated and within bounds: of a large one the head and the tail are read."""

from __future__ import annotations

import os
import stat
import sys
import time
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from tools.errors import ToolsError

HEAD_BYTES = 8 << 20  # a serve log says at its start what it runs with
TAIL_BYTES = 24 << 20  # and at its end how it goes; some 150 000 lines, read in ten seconds
MOST_BYTES = 4 << 30  # of an endless stream, or of what a small archive swells to
SWELLS = 100  # times at most, for logs shrink to a tenth or a thirtieth
SWELLS_BYTES = 128 << 20  # so much is inflated in any case
CHUNK = 1 << 20
WRITER_S = 2.0  # how long a pipe may be without anybody who writes into it


@dataclass(frozen=True)
class Bounded:
    """What was read of a file, and one sentence where that is not all of it."""

    data: bytes
    note: str = ""


def read_bounded(path: Path, head: int | None = None) -> Bounded:
    """Read a file, or stdin for `-`; raise ToolsError with a sentence where that cannot be done.

    `head` is how many bytes of its start are kept at most, if not HEAD_BYTES.
    """
    try:
        if str(path) == "-":
            if sys.stdin is None:
                raise ToolsError("standard input is closed: name a file")
            return bounded(_chunks(sys.stdin.buffer.read), head)
        # without waiting, for a pipe that nobody writes into would hold us for ever
        file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb")
        with file:
            return _of_file(file, path, head or HEAD_BYTES)
    except FileNotFoundError:
        raise ToolsError(f"{path} is not there") from None
    except PermissionError:
        raise ToolsError(f"{path} may not be read by this user") from None
    except IsADirectoryError:
        raise ToolsError(f"{path} is a folder: name the files in it") from None
    except (OSError, ValueError) as why:
        raise ToolsError(
            f"{path} cannot be read: {getattr(why, 'strerror', None) or why}"
        ) from None


def _of_file(file: BinaryIO, path: Path, head: int) -> Bounded:
    kind = os.fstat(file.fileno())
    if stat.S_ISFIFO(kind.st_mode):
        first = _first_of_pipe(file.fileno(), path)
        os.set_blocking(file.fileno(), True)
        return bounded(chain([first] if first else [], _chunks(file.read)), head)
    os.set_blocking(file.fileno(), True)
    large = stat.S_ISREG(kind.st_mode) and kind.st_size > head + TAIL_BYTES
    if not large or file.read(2) == b"\x1f\x8b":
        if large:
            file.seek(0)
        return bounded(_chunks(file.read), head)
    file.seek(0)
    start = file.read(head)
    file.seek(kind.st_size - TAIL_BYTES)
    return _joined(start, file.read(TAIL_BYTES), kind.st_size)


def _first_of_pipe(fd: int, path: Path) -> bytes:
    """Wait for somebody who writes; what came already is returned."""
    until = time.monotonic() + WRITER_S
    while time.monotonic() < until:
        try:
            if first := os.read(fd, CHUNK):
                return first
        except BlockingIOError:
            return b""  # a writer is there and will write
        time.sleep(0.02)
    raise ToolsError(f"{path} is a pipe that nobody writes into")


def bounded(chunks: Iterable[bytes], head: int | None = None) -> Bounded:
    """Keep the head and the tail of what comes, inflated where it is gzip."""
    source = iter(chunks)
    first = next(source, b"")
    if not first.startswith(b"\x1f\x8b"):
        return _ends(_again(first, source), head or HEAD_BYTES)
    trouble: list[str] = []
    kept = _ends(_inflated(_again(first, source), trouble), head or HEAD_BYTES)
    return Bounded(kept.data, " ".join((*trouble, kept.note)).strip())


def _chunks(read: Callable[[int], bytes]) -> Iterator[bytes]:
    while data := read(CHUNK):
        yield data


def _again(first: bytes, rest: Iterable[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


def _inflated(chunks: Iterable[bytes], trouble: list[str]) -> Iterator[bytes]:
    """Inflate gzip, members that follow each other included, a bounded piece at a time."""
    member, begun = zlib.decompressobj(wbits=31), False
    read = given = 0
    for rest in _slices(chunks):
        read += len(rest)
        while rest:
            begun = True
            if given > max(SWELLS_BYTES, SWELLS * read):
                trouble.append(
                    "It is gzip that swells as no log does, read as far as that was seen."
                )
                return
            try:
                piece = member.decompress(rest, CHUNK)
            except zlib.error:
                trouble.append("It is damaged gzip, read as far as it went.")
                return
            given += len(piece)
            yield piece
            rest = member.unconsumed_tail
            if member.eof:
                rest = member.unused_data.lstrip(b"\0")
                member, begun = zlib.decompressobj(wbits=31), False
    yield member.flush()
    if begun:
        trouble.append("It is gzip that was cut off, read as far as it went.")


def _slices(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """What zlib had inflated before it meets damage is lost with that call, so calls are small."""
    for chunk in chunks:
        for start in range(0, len(chunk), 4096):
            yield chunk[start : start + 4096]


def _ends(chunks: Iterable[bytes], most: int) -> Bounded:
    head, tail, total, kept = bytearray(), deque[bytes](), 0, 0
    for chunk in chunks:
        total += len(chunk)
        room = most - len(head)
        head += chunk[:room]
        if rest := chunk[max(0, room) :]:
            tail.append(rest)
            kept += len(rest)
            while kept - len(tail[0]) >= TAIL_BYTES:
                kept -= len(tail.popleft())
        if total > MOST_BYTES:
            tail.append(b"\n")
            break
    if total <= len(head) + kept:
        return Bounded(bytes(head) + b"".join(tail))
    return _joined(bytes(head), b"".join(tail)[-TAIL_BYTES:], total)


def _joined(head: bytes, end: bytes, total: int) -> Bounded:
    """Return whole lines of both ends, and the sentence that says what lies between."""
    skipped = (total - len(head) - len(end)) / (1 << 20)
    start = head[: head.rfind(b"\n") + 1] or head
    return Bounded(
        start + end[end.find(b"\n") + 1 :],
        f"Its first {len(head) >> 20} MB and its last {len(end) >> 20} MB were read, "
        f"{skipped:.0f} MB between them were not.",
    )
