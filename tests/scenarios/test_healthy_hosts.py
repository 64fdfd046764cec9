"""Healthy hosts that look ill: none of them is called broken or badly set up.

The alarms are those that real people fell for: an idle link at Gen1, counters since boot, a power cap
that decode never feels, `cuda graph: False` in a prefill line, 100 % utilisation of an idle server.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scenarios.test_more_cases import CASES, DEV, concluded, expected

FAULTS = ("hardware", "config", "software_bug")


def healthy(case: Path) -> bool:
    """Say whether an expert finds no fault there: a limit that is reached or nothing at all."""
    told = expected(case)
    accepted = {told["category"], *told["also_accept_categories"]}
    return told["category"] in ("no_fault", "at_ceiling") or (
        "no_fault" in accepted and not accepted & set(FAULTS)
    )


HEALTHY = [case for case in (*CASES, *DEV) if healthy(case)]


def test_there_are_many_of_them() -> None:
    assert len(HEALTHY) >= 50


@pytest.mark.parametrize("case", HEALTHY, ids=lambda case: case.name)
def test_a_healthy_host_is_not_called_broken(case: Path) -> None:
    verdict = concluded(case).verdict
    assert verdict.category not in FAULTS, verdict.headline
