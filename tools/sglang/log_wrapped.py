"""Lines that a terminal, a mail or a chat broke in two: traffic and arguments are made whole again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

PIECES = 12  # of a traffic line: 500 characters in columns of 40 and more
OF_DUMP = 2000  # of the arguments: 20,000 characters in such columns
_LONGEST = 2000

# How a piece goes on: a field, the rest of a name or of a figure. A line of its own begins otherwise.
_GOES_ON = re.compile(
    r"\s{0,16}(?:,|#[a-z-]{0,20}|[\w#() ./-]{0,40}: ?(?:[\d.]{1,12}|True|False|$)|[\d.]{1,12}%?(?:,|\s*$)"
    r"|[a-z]{1,12}[,)]|(?:True|False|rue|alse|ue|lse|se|e)\b)"
)
_FIELD = re.compile(
    r"(?:(?:#[a-z]+(?:-[a-z]+)*|fwd occupancy): \d+(?:\.\d+)?%?|cuda graph: (?:True|False)"
    r"|(?:(?:full |swa )?token usage|mamba usage|accept (?:len|rate)|(?:gen|input) throughput \(token/s\)): \d+\.\d\d)"
    r"(?:(,)|\s*$)"
)
_REST = re.compile(r"\d{1,6}%?\s*")  # of a figure at the end of a line
_DUMP = "server_args="


def whole(lines: Sequence[str]) -> list[str]:
    """Return the lines with broken ones joined; each piece is looked at a bounded number of times."""
    return list(_whole(lines))


def _whole(lines: Sequence[str]) -> Iterator[str]:
    place = 0
    while place < len(lines):
        line, place = lines[place], place + 1
        if place < len(lines) and not _begins(lines[place]):
            if " batch" in line[:200] and len(line) < _LONGEST:
                line, place = _traffic(lines, place, line)
            elif _DUMP in line[:400] and not line.rstrip().endswith((")", "}")):
                line, place = _arguments(lines, place, line)
        yield line


def _begins(line: str) -> bool:
    return line.startswith(("[20", "20", "INFO", "{", '"')) or not line.strip()


def _traffic(lines: Sequence[str], place: int, line: str) -> tuple[str, int]:
    for piece in lines[place : place + PIECES]:
        if _begins(piece) or " batch" in piece[:200] or not _GOES_ON.match(piece):
            break
        gaps = (" ",) if line.rstrip().endswith((",", ":")) else ("", " ")
        joined = [line.rstrip() + gap + piece.strip() for gap in gaps]
        better = max(joined, key=_fields)  # a break within a word, or one that took the blank
        gained = _fields(better) - _fields(line)
        if gained < (0 if _REST.fullmatch(piece) else 1) or len(better) > _LONGEST:
            break
        line, place = better, place + 1
    return line, place


def _fields(line: str) -> int:
    """Count what is whole; the last figure may go on."""
    return sum(2 if found[1] else 1 for found in _FIELD.finditer(line, 0, _LONGEST))


def _arguments(lines: Sequence[str], place: int, line: str) -> tuple[str, int]:
    pieces, end = [line], min(len(lines), place + OF_DUMP)
    while place < end and not _begins(lines[place]):
        piece = lines[place]
        pieces.append((" " if pieces[-1].rstrip().endswith(",") else "") + piece.strip())
        place += 1
        if piece.rstrip().endswith((")", "}")) and "=" in piece + pieces[-2]:
            break
    return "".join(pieces), place
