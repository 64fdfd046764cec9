"""make bench: the figures that are promised, measured on this machine; all, or those that are named."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[2]
CASES = ROOT / "tests" / "scenarios" / "dev"
PARTS = (
    "ssh", "stop", "log", "files", "slack", "parsing", "memory", "provenance", "source", "physics", "health", "workers",
)  # fmt: skip
CONFIG = ROOT / "tests" / "physics" / "configs_json" / "qwen3.6-27b.json"


def start_up() -> None:
    case = CASES / "pcie-06-gen2-while-busy"
    files = sorted(map(str, (case / "evidence").iterdir()))
    commands = {
        "perfsleuth --help (aim 0.4 s)": ["--help"],
        "perfsleuth diagnose, six files (aim 1 s)": [
            "diagnose",
            *files,
            "--question-file",
            str(case / "question.txt"),
        ],
        "perfsleuth demo": ["demo"],
        "perfsleuth whatif (aim 0.5 s)": [
            *("whatif", "--model-config", str(CONFIG), "--gpu", "RTX A6000", "--tp", "2", "--json"),
        ],
    }
    print("start-up, whole process, median (min to max) of 7")
    for name, arguments in commands.items():
        took = sorted(_once(arguments) for _ in range(8))[:7]
        print(f"  {name:44} {median(took):6.3f} s  ({took[0]:.3f} to {took[-1]:.3f})")


def _once(arguments: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, "-P", "-m", "bot", *arguments], cwd=ROOT, capture_output=True, check=True
    )
    return time.perf_counter() - started


def main() -> None:
    named = sys.argv[1:]
    if strange := set(named) - set(PARTS):
        sys.exit(f"there is no bench of {', '.join(sorted(strange))}; there are {', '.join(PARTS)}")
    if not named:
        start_up()
    for part in named or PARTS:
        print(flush=True)
        subprocess.run([sys.executable, "-m", f"tests.bench.{part}_bench"], cwd=ROOT, check=True)


main()
