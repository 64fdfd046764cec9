"""Slow without anything wrong in the log: the build itself is the suspect."""

from __future__ import annotations

from tools.engine import Arguments, Launch, ServerInfo, ServerLog, Traffic
from tools.errors import Undecided
from tools.nvidia.gpus import Gpus
from tools.physics.bounds import Bounds
from tools.rule import Cleared, Outcome, rule

SMALL = 4  # requests; a larger batch may compute for longer
FACTOR = 2.0  # of the time to read the whole card
ANY_CARD_MS = 120.0  # no card but shared-memory boxes needs so long to read all it holds
SETTLE = (
    "the previous build on the same node with the same request; then bisect (git bisect) between"
    " the two"
)


@rule(cause="version_regression")
def nothing_wrong_but_slow(
    log: ServerLog, gpus: Gpus | None, launch: Launch | None, info: ServerInfo | None
) -> Outcome:
    """This build is slower than the one before it."""
    args, traffic, bounds = Arguments(launch, info, log), Traffic(log), Bounds.of(log, gpus)
    if bounds is None:
        raise Undecided(
            "no step was measured; two builds must be compared", settle=SETTLE, suspicion=0.05
        )
    most = bounds.card_ms * FACTOR if bounds.card_ms else ANY_CARD_MS
    if bounds.running > SMALL or bounds.step_ms < most:
        return Cleared(
            f"a step of {bounds.step_ms:.0f} ms is within what such a card needs", (log,)
        )
    if any(line.graph is False for line in traffic.decode) or args.text("device") == "cpu":
        return Cleared("decode runs without graphs or on the CPU, which explains it", (log,))
    if not any(line.graph for line in traffic.decode):
        raise Undecided(
            "whether graphs are used is not told; the build is one suspect", suspicion=0.1
        )
    accept = f", accept length {traffic.accept_len:.2f}" if traffic.accept_len else ""
    raise Undecided(
        f"graphs are used{accept}, {bounds.running} request(s) run, nothing in the log is wrong,"
        f" and still a step takes {bounds.step_ms:.0f} ms: the build is the suspect",
        settle=SETTLE,
        suspicion=0.5,
    )


RULES = (nothing_wrong_but_slow,)
