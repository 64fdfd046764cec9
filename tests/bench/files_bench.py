"""Files given here: all cases of dev in one process, and a local log of 300 MB, with the memory of the whole command."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.bench.log_bench import write

ROOT = Path(__file__).parents[2]
MEGABYTES = 300
RUNS = 3


def timed(arguments: list[str]) -> tuple[float, float]:
    """Return seconds and the peak memory in MB of one run of the command."""
    watched = (
        "import sys; from bot.cli import app\n"
        "try: app(sys.argv[1:])\n"
        "finally: sys.stderr.write(open('/proc/self/status').read())\n"
    )
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", watched, *arguments], cwd=ROOT, capture_output=True, check=True
    )
    took = time.perf_counter() - began
    peak = re.search(rb"VmHWM:\s+(\d+) kB", done.stderr)
    return took, int(peak[1]) / 1024 if peak else 0.0


def told(name: str, arguments: list[str]) -> None:
    took, peaks = zip(*(timed(arguments) for _ in range(RUNS)), strict=True)
    print(f"  {name:52} {sorted(took)[RUNS // 2]:6.2f} s, {max(peaks):4.0f} MB")


def main() -> None:
    """Print what it takes."""
    print(f"files given here, whole process, median of {RUNS}")
    told("all cases of dev in one process (aim 20 s)", ["eval", "tests/scenarios/dev"])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "serve.log")
        write(path, MEGABYTES << 20)
        told(
            f"diagnose of a log of {MEGABYTES} MB (aim 10 s, 200 MB)",
            ["diagnose", str(path), "--question", "why is it slow?"],
        )


if __name__ == "__main__":
    main()
