"""Bytes that somebody gave, as text: encodings told apart, and what is no text refused with a sentence."""

from __future__ import annotations

import re

from tools.errors import Unreadable

_LOOK = 1 << 16
_KINDS = {
    b"\x89PNG": "a picture; give the text itself",
    b"\xff\xd8\xff": "a picture; give the text itself",
    b"GIF8": "a picture; give the text itself",
    b"%PDF": "a PDF; give the text itself",
    b"PK\x03\x04": "a zip archive; unpack it first",
    b"(\xb5/\xfd": "a zstd archive; unpack it first",
    b"\xfd7zXZ": "an xz archive; unpack it first",
    b"BZh": "a bzip2 archive; unpack it first",
    b"\x7fELF": "a program",
    b"\x1f\x8b": "gzip within gzip; unpack it once first",
    b"SQLite format 3": "a database; for Nsight profiles give what `nsys stats` prints",
}
_CONTROL = re.compile(rb"[\x01-\x07\x0e-\x1a\x1c-\x1f\x7f]")


def as_text(data: bytes) -> str:
    """Decode UTF-8, UTF-16 or Latin-1; raise Unreadable for what is no text. NULs are dropped.

    A log that was truncated while it was written begins with a run of NULs, which is no sign of a
    binary file.
    """
    for magic, kind in _KINDS.items():
        if data.startswith(magic):
            raise Unreadable(f"it is {kind}")
    if data[257:262] == b"ustar":
        raise Unreadable("it is a tar archive; unpack it first")
    if text := _utf16(data):
        return text.replace("\0", "")
    data = data.removeprefix(b"\xef\xbb\xbf").replace(b"\0", b"")
    look = data[:_LOOK]
    if len(_CONTROL.findall(look)) > len(look) // 20:
        raise Unreadable("it is binary data and no text")
    return _decoded(data)


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("utf-8", "replace")
    beyond = sum(byte > 127 for byte in data[:_LOOK])
    torn = text[:_LOOK].count("\ufffd")
    return data.decode("latin-1") if torn > max(2, beyond // 4) else text


def _utf16(data: bytes) -> str:
    """What PowerShell writes with `>`; also without its mark, where every other byte is zero."""
    look = data[:2000]
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    for first, name in ((1, "utf-16-le"), (0, "utf-16-be")):
        zeros, others = look[first::2].count(0), look[1 - first :: 2].count(0)
        if zeros > len(look) * 0.4 and not others:
            return data.decode(name, "replace")
    return ""
