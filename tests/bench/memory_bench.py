"""Reading 20 MB: the memory that each probe takes, as a multiple of the text.

One line without end and one answer again and again, each read in a process of its own, which tells
its own peak. More than MOST_TIMES the text fails.
"""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from tests.hostile_texts import MOST_TIMES, big_line, big_lines
from tools.errors import ToolsError
from tools.host import Output
from tools.probes import PROBES

SIZE = 20 << 20
SHAPES = {"a line": big_line, "lines": big_lines}
_PEAK = re.compile(r"VmHWM:\s+(\d+) kB")


def peak_mib() -> float:
    """Return the most that this process ever held (Linux counts it)."""
    found = _PEAK.search(Path("/proc/self/status").read_text(encoding="ascii"))
    return int(found[1]) / 1024 if found else 0.0


def read_alone(name: str, shape: str) -> float:
    """Read 20 MB in this process and return the memory it took, in MiB."""
    text = SHAPES[shape](name, SIZE)
    probe = PROBES[name]()
    before = peak_mib()
    with suppress(ToolsError):
        probe.read(Output(stdout=probe.clean(text)))
    return peak_mib() - before


def main() -> int:
    """Measure each probe with both shapes, print the multiples, and fail beyond MOST_TIMES."""
    print(f"memory to read {SIZE >> 20} MB, in times the text (at most {MOST_TIMES:.0f})")
    worst = 0.0
    for name in PROBES:
        told = []
        for shape in SHAPES:
            run = [sys.executable, "-m", "tests.bench.memory_bench", name, shape]
            took = float(subprocess.run(run, capture_output=True, check=True, text=True).stdout)
            told.append(took / (SIZE >> 20))
        worst = max(worst, *told)
        print(f"  {name:20} a line {told[0]:5.1f}   lines {told[1]:5.1f}", flush=True)
    return 1 if worst > MOST_TIMES else 0


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(read_alone(sys.argv[1], sys.argv[2]))
    else:
        sys.exit(main())
