"""What counted up under our own load."""

from __future__ import annotations

import pytest

from tools.engine import Burst
from tools.errors import Undecided
from tools.rule import Cleared, Finding
from tools.rules.own_load import errors_under_our_load, quota_bites_under_our_load


def test_errors_of_a_gpus_path_during_the_load_are_found() -> None:
    burst = Burst(
        took_s=8.0, ports_counted=2, port_errors={"0000:40:01.1": 3}, replays={"0": 5, "1": 0}
    )
    found = errors_under_our_load.judge(burst)
    assert isinstance(found, Finding)
    assert "0000:40:01.1: 3 errors, GPU 0: 5 replays" in found.statement


def test_counters_that_stand_still_clear_the_link_and_none_at_all_do_not() -> None:
    assert isinstance(errors_under_our_load.judge(Burst(took_s=8.0, ports_counted=2)), Cleared)
    with pytest.raises(Undecided):
        errors_under_our_load.judge(Burst(took_s=8.0))


@pytest.mark.parametrize(("throttled", "kind"), [(4, Finding), (3, Cleared)])
def test_a_quota_that_bites_in_a_twentieth_of_the_periods_is_found(
    throttled: int, kind: type
) -> None:
    assert isinstance(
        quota_bites_under_our_load.judge(Burst(took_s=8.0, throttled=throttled)), kind
    )


def test_a_cgroup_that_tells_nothing_decides_nothing() -> None:
    with pytest.raises(Undecided):
        quota_bites_under_our_load.judge(Burst(took_s=8.0))
