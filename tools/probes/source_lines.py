"""Lines of the engine's source as it is installed on the host."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from tools.engine import SourceLines
from tools.host import Command, script
from tools.probe import Probe, told
from tools.sglang.source import from_grep, from_script, is_grep_of_source


class ReadSourceLines(Probe[SourceLines]):
    """Read the engine's source: where it names a text, which line sets a flag, and on what terms.

    A person would type: grep -rn --include='*.py' disable_piecewise_cuda_graph .../sglang/srt
    """

    text: str = Field(
        "disable_piecewise_cuda_graph",
        min_length=3,
        max_length=120,
        pattern=r"^[^\x00-\x1f-][^\x00-\x1f]*$",
        description="the text to look for, as it is",
    )
    path_glob: str = Field(
        "srt/**/*.py",
        max_length=120,
        pattern=r"^[\w*?\[\]./]+\.py$",
        description="which files below the package",
    )
    source_path: str | None = Field(
        None, max_length=500, pattern=r"^/[^\x00-\x1f]*$", description="folder of the package"
    )
    port: int | None = Field(None, ge=1, le=65535, description="port of the server")

    @model_validator(mode="after")
    def _stays_below(self) -> Self:
        if ".." in self.path_glob or self.path_glob.startswith("/"):
            raise ValueError("path_glob names files below the package")
        return self

    def command(self) -> Command:
        """Search where the server's own interpreter has the package; nothing is imported."""
        return script(
            "source_lines",
            self.text,
            self.path_glob,
            self.source_path or "",
            str(self.port or ""),
            after=("find_server", "find_package"),
            limit_s=20,
        )

    def recognises(self, text: str, /) -> bool:
        """The object that our script prints, or a `grep -n` over Python files."""
        ours = text.lstrip().startswith("{") and '"needle"' in text and '"found"' in text
        return ours or is_grep_of_source(text)

    def parse(self, stdout: str, /) -> SourceLines:
        """Read either form."""
        if stdout.lstrip().startswith("{"):
            return from_script(told(stdout), self.text)
        return from_grep(stdout, self.text)
