"""One run of the load of a proposal, as figures: a burst of our own, or the engine's serving benchmark."""

from __future__ import annotations

from bot.experiment.hands import Run
from tools.change import Proposal
from tools.engine import Benchmark, Burst
from tools.errors import HostError
from tools.evidence import Evidence
from tools.host import STOPPED, Host
from tools.measure.load import LONGEST_S, Load, put
from tools.measure.runs import figures
from tools.measure.serving import Serving, runs

_BUSY = ("the server is busy", "the server turned busy")  # tools/remote/occupancy.py, burst.py
_FAILED = "a request of ours failed"  # tools/remote/burst.py
_ENOUGH = "no time was left"  # for the long prompt: the rest holds
STREAMS = (1, 4)


def one_run(host: Host, proposal: Proposal) -> Run:
    """Put it on the server once. Raises HostError where the host does not answer."""
    if proposal.load != "serving":
        return _of_burst(put(_burst(proposal), host)[0])
    return _of_serving(next(runs(Serving(port=proposal.port), host, 1)))


def longest_s(proposal: Proposal) -> float:
    """Return how long one run may take: the keeper hears nothing of us meanwhile."""
    return _load(proposal).command().limit_s


def stated(proposal: Proposal) -> str:
    """Say the bounds of one run in one sentence."""
    return _load(proposal).stated()


def _load(proposal: Proposal) -> Load | Serving:
    return Serving(port=proposal.port) if proposal.load == "serving" else _burst(proposal)


def _burst(proposal: Proposal) -> Load:
    if proposal.load == "repeated":
        return Load(port=proposal.port, streams=STREAMS, seconds=LONGEST_S, again=True)
    return Load(port=proposal.port, streams=STREAMS)


def _of_burst(look: Evidence) -> Run:
    facts = look.facts
    if not isinstance(facts, Burst):
        return _none(look)
    if facts.foreign_tokens:
        return Run({}, trouble=f"{facts.foreign_tokens} tokens were made for others", busy=True)
    if facts.stopped and not facts.stopped.startswith(_ENOUGH):
        return _told(facts.stopped)
    found = {name: values[0] for name, values in figures([look]).items()}
    for one in facts.decode:
        if one.ttft_ms and one.streams > 1:
            found[f"first token with {one.streams} streams, ms"] = one.ttft_ms
    return Run(found)


def _of_serving(look: Evidence) -> Run:
    if not isinstance(look.facts, Benchmark):
        return _none(look)
    found = {name: values[0] for name, values in figures([look]).items()}
    return Run(found, errors=look.facts.failed or 0)


def _none(look: Evidence) -> Run:
    if look.output and look.output.lost == STOPPED:
        raise HostError(STOPPED)
    return _told(look.trouble.removeprefix("Failed: ").removeprefix("Not there: "))


def _told(why: str) -> Run:
    busy = any(part in why for part in _BUSY)
    return Run({}, errors=int(_FAILED in why), trouble=why.rstrip("."), busy=busy)
