"""A light look at one host: read-only, no load, one round trip; then the rules, as for any question."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from bot.health.looked import Looked
from bot.investigate import conclude
from bot.question import Question
from bot.settings import Settings
from tools.evidence import AnyProbe, answers, learn
from tools.host import Host, Output
from tools.probes import PROBES
from tools.probes.gpu_samples import SampleGpus

# What a morning needs: what runs, how fast, on which GPUs and links, and what the kernel said. What
# is asked for one question alone, or costs the host more than it tells, is left to an investigation:
# the log holds the arguments as resolved, and a GPU tells its own link.
LIGHT = (
    "ReadLaunch", "ReadServerLog", "ReadMetrics", "ReadGpus", "ReadMachine", "ReadKernelLog",
)  # fmt: skip
# A link seen at rest proves nothing: GPUs are watched while the server's own load runs.
WATCH_S, WATCH_HZ = 2, 2.0
Judge = Callable[[str, float, Sequence[Output], Settings], Looked]
_QUESTION = "Is everything as it should be?"


def look_at(name: str, host: Host, settings: Settings, judge: Judge | None = None) -> Looked:
    """Look once, and have it judged; a host that does not answer is a result."""
    at = time.time()
    try:
        outputs = answers(host, _probes(name, settings))
    finally:
        host.close()
    return (judge or judged)(name, at, outputs, settings)


def judged(name: str, at: float, outputs: Sequence[Output], settings: Settings) -> Looked:
    """Read what a host answered to the questions of a look, and judge it by the rules."""
    pairs = zip(_probes(name, settings), outputs, strict=True)
    looks = [learn(n, probe, name, output) for n, (probe, output) in enumerate(pairs, start=1)]
    lost = [look.output.lost if look.output else look.trouble for look in looks]
    if all(lost):
        return Looked.unreachable(name, at, lost[0])
    return Looked.of(name, at, conclude(Question.of(_QUESTION, settings.hosts), looks))


def _probes(name: str, settings: Settings) -> Sequence[AnyProbe]:
    told = settings.host(name)
    watch = (
        SampleGpus() if told.case else SampleGpus(seconds=WATCH_S, hz=WATCH_HZ)
    )  # a case has the one it has
    scope = {key: value for key, value in told.scope().items() if value is not None}
    return [
        watch,
        *(
            kind(**{key: value for key, value in scope.items() if key in kind.model_fields})
            for kind in (PROBES[one] for one in LIGHT)
        ),
    ]
