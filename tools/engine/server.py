"""What a running server answers: its arguments, its metrics; and lines found by a text."""

from __future__ import annotations

from tools.engine.launch import EngineName, Value
from tools.probe import Facts


class ServerInfo(Facts):
    """What the server answers of itself: resolved arguments, and what each scheduler runs with.

    `resolved` is the main process' copy; `effective` one mapping per DP rank from
    `internal_states`, which child processes changed. Both allow-listed.
    """

    version: str | None = None
    resolved: dict[str, Value] = {}
    effective: tuple[dict[str, Value], ...] = ()
    max_total_tokens: int | None = None
    max_running_effective: int | None = None
    last_gen_tok_s: float | None = None
    accept_len: float | None = None
    launch_command: str | None = None
    memory_gb: dict[str, float] = {}


class Metrics(Facts):
    """Two readings or one of the server's Prometheus page; gauges of the last, counters as deltas.

    `deltas` is empty when there was one reading only; `window_s` is None where it is not known how
    long two readings lie apart.
    """

    engine: EngineName | None = None
    gauges: dict[str, float] = {}
    totals: dict[str, float] = {}
    deltas: dict[str, float] = {}
    window_s: float | None = None
    quantiles_s: dict[str, float] = {}  # of histograms, "time_to_first_token_seconds p99"

    @property
    def when(self) -> str:
        """Say over what time the deltas are, "in 10 s"."""
        return "between two readings" if self.window_s is None else f"in {self.window_s:.0f} s"

    def merged(self, other: Metrics) -> Metrics:
        """Take two pages as two readings of one server, if every counter moved the same way."""
        united = super().merged(other)
        both = self.totals.keys() & other.totals.keys()
        moved = {name: other.totals[name] - self.totals[name] for name in both}
        if self.deltas or other.deltas or not any(moved.values()):
            return united
        if all(change >= 0 for change in moved.values()):
            return united.model_copy(update={"deltas": moved})
        if all(change <= 0 for change in moved.values()):
            newest_first = {name: abs(change) for name, change in moved.items()}
            return super(Metrics, other).merged(self).model_copy(update={"deltas": newest_first})
        return united


class SourceLine(Facts):
    """One line of the installed engine's source."""

    path: str  # below the package, "srt/server_args.py"
    line: int
    text: str


class SourceLines(Facts):
    """Lines of the installed engine's source that hold a text."""

    needle: str
    version: str | None = None
    root: str | None = None
    found: tuple[SourceLine, ...] = ()
    cut: bool = False


class LogMatches(Facts):
    """Lines of the serve log that match a text, newest last, capped."""

    needle: str
    lines: tuple[str, ...] = ()
    count: int | None = None
    cut: bool = False
