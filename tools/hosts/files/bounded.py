"""The bytes of a file, inflated and within bounds: of a large one the head and the tail are read."""

from __future__ import annotations

import sys
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.errors import ToolsError

HEAD_BYTES = 8 << 20  # a serve log says at its start what it runs with
TAIL_BYTES = 56 << 20  # and at its end how it goes
MOST_BYTES = 4 << 30  # of an endless stream, or of what a small archive swells to
CHUNK = 1 << 20


@dataclass(frozen=True)
class Bounded:
    """What was read of a file, and one sentence where that is not all of it."""

    data: bytes
    note: str = ""


def read_bounded(path: Path) -> Bounded:
    """Read a file, or stdin for `-`; raise ToolsError with a sentence where that cannot be done."""
    try:
        if str(path) == "-":
            return bounded(_chunks(sys.stdin.buffer.read))
        if path.is_dir():
            raise ToolsError(f"{path} is a folder: name the files in it")
        with path.open("rb") as file:
            return bounded(_chunks(file.read))
    except FileNotFoundError:
        raise ToolsError(f"{path} is not there") from None
    except PermissionError:
        raise ToolsError(f"{path} may not be read by this user") from None
    except (OSError, ValueError) as why:
        raise ToolsError(
            f"{path} cannot be read: {getattr(why, 'strerror', None) or why}"
        ) from None


def bounded(chunks: Iterable[bytes]) -> Bounded:
    """Keep the head and the tail of what comes, inflated where it is gzip."""
    source = iter(chunks)
    first = next(source, b"")
    if not first.startswith(b"\x1f\x8b"):
        return _ends(_again(first, source))
    trouble: list[str] = []
    kept = _ends(_inflated(_again(first, source), trouble))
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
    for rest in _slices(chunks):
        while rest:
            begun = True
            try:
                yield member.decompress(rest, CHUNK)
            except zlib.error:
                trouble.append("It is damaged gzip, read as far as it went.")
                return
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


def _ends(chunks: Iterable[bytes]) -> Bounded:
    head, tail, total, kept = bytearray(), deque[bytes](), 0, 0
    for chunk in chunks:
        total += len(chunk)
        room = HEAD_BYTES - len(head)
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
    end = b"".join(tail)[-TAIL_BYTES:]
    skipped = (total - len(head) - len(end)) / (1 << 20)
    start = head[: head.rfind(b"\n") + 1] or head
    return Bounded(
        bytes(start) + end[end.find(b"\n") + 1 :],
        f"Its first {len(head) >> 20} MB and its last {len(end) >> 20} MB were read, "
        f"{skipped:.0f} MB between them were not.",
    )
