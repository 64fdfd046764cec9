"""What counted up while nothing but our own load ran."""

from __future__ import annotations

from tools.engine import Burst
from tools.errors import Undecided
from tools.linux.machine import PERIOD_S
from tools.rule import Cleared, Finding, Outcome, rule

THROTTLED_SHARE = 0.05  # of the quota periods of a burst, as in rules/cpu_quota.py


@rule(cause="pcie_errors_replays")
def errors_under_our_load(burst: Burst) -> Outcome:
    """GPUs or the ports above them counted PCIe errors during our own load."""
    rose = {device: count for device, count in burst.port_errors.items() if count > 0}
    replays = {f"GPU {gpu}": count for gpu, count in burst.replays.items() if count > 0}
    if not burst.ports_counted and not burst.replays:
        raise Undecided("no GPU and no port above one tells its PCIe errors", suspicion=0.03)
    if not rose and not replays:
        return Cleared(f"no PCIe error was counted in {burst.took_s or 0:.0f} s of our own load")
    words = [f"{device}: {count} errors" for device, count in rose.items()]
    words += [f"{gpu}: {count} replays" for gpu, count in replays.items()]
    return Finding(
        statement=f"PCIe errors were counted in {burst.took_s or 0:.0f} s of our own load: {', '.join(words)}.",
        confidence=0.85,
        slows=frozenset(("tail", "crash")),
        quotes=tuple(words),
    )


@rule(cause="cpu_cgroup_throttled")
def quota_bites_under_our_load(burst: Burst) -> Outcome:
    """The server's CPU quota held it back during our own load."""
    if burst.throttled is None:
        raise Undecided("the server's cgroup tells no throttled periods", suspicion=0.03)
    share = burst.throttled / max(1.0, (burst.took_s or 0) / PERIOD_S)
    if share < THROTTLED_SHARE:
        return Cleared(
            f"{burst.throttled} throttled periods in {burst.took_s or 0:.0f} s of our own load"
        )
    lost = f", {burst.throttled_ms:.0f} ms in all" if burst.throttled_ms else ""
    return Finding(
        statement=(
            f"The CPU quota of the server held it back in {share:.0%} of the periods of our own load{lost}."
        ),
        confidence=0.9,
        slows=frozenset(("tail", "decode", "ttft", "throughput")),
        quotes=(f"throttled {burst.throttled} periods of 0.1 s within {burst.took_s or 0:.1f} s",),
    )


RULES = (errors_under_our_load, quota_bites_under_our_load)
