"""The files of the engine's source as it is installed on the host, with their digests."""

from __future__ import annotations

import json
from typing import Annotated, Any, ClassVar

from pydantic import Field, ValidationError

from tools.engine.source_tree import EngineSource, SourceFile
from tools.errors import Unreadable
from tools.host import Command, script
from tools.probe import Probe, told

Word = Annotated[str, Field(pattern=r"^[\w-]{2,100}$")]


class ListSource(Probe[EngineSource]):
    """List the files of the engine's installed source with their digests, and which hold some words.

    A person would type: cd .../site-packages && find sglang -name '*.py' -exec sha256sum {} +
    """

    routine: ClassVar[bool] = False

    words: tuple[Word, ...] = Field((), max_length=8, description="words to look for in each file")
    known: str = Field(
        "", pattern=r"^([0-9a-f]{64})?$", description="digest of a listing that is at hand"
    )
    source_path: str | None = Field(
        None, max_length=500, pattern=r"^/[^\x00-\x1f]*$", description="folder of the package"
    )
    port: int | None = Field(None, ge=1, le=65535, description="port of the server")

    def command(self) -> Command:
        """Walk through the package of the server's own interpreter; nothing is imported."""
        asked = {"words": self.words, "known": self.known, "path": self.source_path or ""}
        return script(
            "list_source",
            json.dumps(asked | {"port": self.port}),
            after=("source_files",),
            limit_s=60,
            max_bytes=16 << 20,
        )

    def recognises(self, text: str, /) -> bool:
        """Only our script prints such an object."""
        return text.lstrip().startswith('{"engine_source"')

    def clean(self, text: str, /) -> str:
        """Return it as it is: names and digests of public source hold no secret."""
        return text

    def parse(self, stdout: str, /) -> EngineSource:
        """Read the object that our script printed."""
        said = told(stdout)
        try:
            return EngineSource(
                root=said["root"],
                version=said["version"],
                listing=said["listing"],
                files=None if said["files"] is None else tuple(map(_file, said["files"])),
                holding=said["words"],
                registers=said["registers"],
                cut=bool(said["cut"]),
            )
        except (KeyError, TypeError, ValueError, ValidationError):
            raise Unreadable("the answer is no listing of a source") from None


def _file(row: Any) -> SourceFile:
    path, size, digest = row
    return SourceFile(path=path, size=size, digest=digest)
