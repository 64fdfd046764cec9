"""The step model: one answer, decode and prefill, for each published row."""

from __future__ import annotations

import time
from statistics import median

from tests.physics.published import deployment_of
from tools.knowledge.calibration import calibration
from tools.physics import decode_step, prefill_rate

ROUNDS = 20


def main() -> None:
    rows = [deployment_of(row) for row in calibration()["decode"]]
    took = []
    for _ in range(ROUNDS):
        for d in rows:
            began = time.perf_counter()
            decode_step(d)
            prefill_rate(d)
            took.append((time.perf_counter() - began) * 1e3)
    print(
        f"step model, decode and prefill (aim 1 ms): median {median(took):.3f} ms, worst {max(took):.3f} ms"
    )


main()
