"""The cases from public bug reports, scored as a user would meet them: through the command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from bot.evaluate import PLAYBOOK, evaluate
from bot.evaluation import Summary

HERE = Path(__file__).parent
CAUSES = HERE.parents[1] / "tools" / "knowledge" / "causes.yaml"
COMMAND = f"{sys.executable} -m bot diagnose --json --question-file {{question}} {{files}}"

# What holds today; raise it when rules come, never lower it.
MIN_CATEGORY, MIN_CAUSE, MAX_MUST_NOT, MAX_UNDECIDED = 0.98, 0.98, 0, 0


def test_the_dev_cases_are_judged_as_well_as_before() -> None:
    scored = subprocess.run(
        [
            sys.executable, str(HERE / "score.py"), str(HERE / "dev"), "--cmd", COMMAND, "--jobs", "2", "--catalogue", str(CAUSES),
            "--min-category", str(MIN_CATEGORY), "--min-cause", str(MIN_CAUSE),
            "--max-must-not", str(MAX_MUST_NOT), "--max-undecided", str(MAX_UNDECIDED),
        ],
        capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert scored.returncode == 0, scored.stdout[-9000:] + scored.stderr[-2000:]
    assert "unknown cause ids: -" in scored.stdout


def test_the_followups_are_read_and_settle_what_they_settle() -> None:
    sums = Summary.of(evaluate(HERE / "dev", followup=True).ways[PLAYBOOK])
    assert sums.cases == 26
    assert sums.category >= 0.96
    assert sums.cause >= 0.95
    assert (sums.must_not, sums.false_alarms) == (0, 0)
