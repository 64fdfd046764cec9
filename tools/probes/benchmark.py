"""A benchmark's result, as the client saw it."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from tools.engine.benchmark import Benchmark
from tools.engine.benchmark_json import is_json
from tools.engine.benchmark_report import is_benchmark, read_benchmark, without_secrets
from tools.errors import Unreadable
from tools.host import Command, script
from tools.linux.wrappers import unwrap
from tools.probe import Probe, told

_CHARS = 4 << 20
_JSON_CHARS = 8 << 20  # with --output-details a result holds every gap between two tokens
_STARTS = ('{"absent": "', '{"failed": "')  # what our script says instead


class ReadBenchmark(Probe[Benchmark]):
    """Read a serving benchmark: the result of one that was run before; it runs none.

    Like: tail -n 1 sglang_1129_100_random.jsonl
    """

    routine: ClassVar[bool] = False
    path: str = Field(
        "",
        pattern=r"^($|[^-].*)",
        max_length=400,
        description="result file (JSON lines); newest if empty",
    )

    def command(self) -> Command:
        """Look for the figures in result files."""
        return script("benchmark", *([self.path] if self.path else []))

    def recognises(self, text: str, /) -> bool:
        """A table of results, JSON lines of results, a summary, STREAM, or the client's command."""
        most = _JSON_CHARS if is_json(text) else _CHARS
        return len(text) < most and is_benchmark(text)

    def parse(self, stdout: str, /) -> Benchmark:
        """Read the last run."""
        if stdout.startswith(_STARTS):
            told(stdout)
        found = read_benchmark(unwrap(stdout))
        if found is None:
            raise Unreadable("no result of a benchmark in it")
        return found

    def clean(self, text: str, /) -> str:
        """Keep figures: a result line holds the server's arguments too."""
        return super().clean(without_secrets(text))
