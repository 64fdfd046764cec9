"""The texts of files of the engine's source as it is installed on the host."""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field

from tools.engine.source_tree import SourceTexts
from tools.errors import Unreadable
from tools.host import Command, script
from tools.probe import Probe, told

FILES = 512  # of one look, as bring_source.py has it
UNPACKED_BYTES = 24 << 20  # more than the 16 MiB at which it stops, and a file
Path = Annotated[
    str,
    Field(
        max_length=300,
        pattern=r"^(sglang(/[\w+-][\w.+-]*)+\.py|sglang[\w.+-]*\.(dist-info/METADATA|egg-info/PKG-INFO))$",
    ),
]


class ReadSourceTexts(Probe[SourceTexts]):
    """Read files of the engine's installed source, to follow how it resolves its arguments.

    A case keeps the parts that were followed as the answer to the question without paths.
    A person would type: cd .../site-packages && tar -cz sglang/srt/server_args.py
    """

    routine: ClassVar[bool] = False

    paths: tuple[Path, ...] = Field(
        ("sglang/srt/server_args.py",), min_length=1, max_length=FILES, description="which files"
    )
    source_path: str | None = Field(
        None, max_length=500, pattern=r"^/[^\x00-\x1f]*$", description="folder of the package"
    )
    port: int | None = Field(None, ge=1, le=65535, description="port of the server")

    def command(self) -> Command:
        """Read them below the package of the server's own interpreter; links that lead out are refused."""
        asked = {"paths": self.paths, "path": self.source_path or "", "port": self.port}
        return script(
            "bring_source",
            json.dumps(asked),
            after=("source_files",),
            limit_s=60,
            max_bytes=32 << 20,
        )

    def recognises(self, text: str, /) -> bool:
        """Only our script prints such an object."""
        return text.lstrip().startswith('{"source_texts"')

    def clean(self, text: str, /) -> str:
        """Return it as it is: it is packed, and what comes of it is held against its digest."""
        return text

    def parse(self, stdout: str, /) -> SourceTexts:
        """Unpack what our script packed."""
        said = told(stdout)
        try:
            data = _unpacked(said["packed"])
            contents, at = {}, 0
            for path, size in said["source_texts"]:
                contents[str(path)] = data[at : at + size]
                at += size
            if at != len(data):
                raise Unreadable("the packed files are not whole")
            return SourceTexts(
                contents=contents,
                troubles=_sentences(said["troubles"]),
                left=tuple(said["left"]),
                parts=bool(said.get("parts")),
            )
        except (KeyError, TypeError, ValueError, binascii.Error, zlib.error):
            raise Unreadable("the answer holds no packed files") from None


def packed(texts: Mapping[str, str]) -> str:
    """Return parts of texts in the form in which our script prints whole ones, to be kept in a case."""
    data = {path: text.encode("utf-8") for path, text in texts.items()}
    rows = [[path, len(raw)] for path, raw in data.items()]
    text = base64.b64encode(zlib.compress(b"".join(data.values()), 9)).decode("ascii")
    said = {"source_texts": rows, "troubles": {}, "left": [], "packed": text, "parts": True}
    return json.dumps(said, separators=(",", ":"))


def _unpacked(text: str) -> bytes:
    return zlib.decompressobj().decompress(base64.b64decode(text), UNPACKED_BYTES)


def _sentences(said: Mapping[str, Any]) -> dict[str, str]:
    return {str(path): str(why)[:200] for path, why in said.items()}
