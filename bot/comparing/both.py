"""Both are looked at, hosts at the same time; one that does not answer keeps nothing back of the other."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from time import monotonic

from bot.given import Given
from bot.investigate import Judged, conclude, investigate
from bot.planner import Playbook
from bot.question import Question
from bot.reach import reach
from bot.settings import Settings
from tools.host import Host
from tools.probes import PROBES
from tools.rules import RULES


@dataclass(frozen=True)
class Looked:
    """What came of one of them. `trouble` is why a host told nothing at all; empty where it did."""

    given: Given
    end: Judged
    trouble: str = ""
    took_s: float = 0.0


def look_at_both(pair: tuple[Given, Given], text: str, known: Settings) -> tuple[Looked, Looked]:
    """Ask both, or read what is there; raises ToolsError where a host cannot even be tried."""
    hosts = [reach(one.host, known) if one.host else None for one in pair]
    pool = ThreadPoolExecutor(max_workers=len(pair))
    try:
        waited = [
            pool.submit(_look, one, host, text, known)
            for one, host in zip(pair, hosts, strict=True)
        ]
        first, second = (one.result() for one in waited)
        return first, second
    finally:
        _close(hosts)  # ends what is still being asked, so that Ctrl-C ends the command
        pool.shutdown(wait=True, cancel_futures=True)


def _look(one: Given, host: Host | None, text: str, known: Settings) -> Looked:
    asked = text or one.question
    question = replace(Question.of(asked, [one.host] if one.host else []), port=one.port)
    if host is None:
        return Looked(one, conclude(question, one.looks))
    began = monotonic()
    scope = known.host(one.host or "").scope()
    end: Judged | None = None
    for event in investigate(question, Playbook(PROBES, RULES, scope), host):
        if isinstance(event, Judged):
            end = event
    if end is None:
        raise AssertionError("an investigation ends with a verdict")
    return Looked(one, end, _trouble(one, end), monotonic() - began)


def _trouble(one: Given, end: Judged) -> str:
    """Return why a host told nothing; what a person claims is no look at it."""
    looks = [look for look in end.evidence if look.probe is not None]
    if any(look.output is not None and not look.output.lost for look in looks):
        return ""
    return looks[0].trouble if looks else f"{one.name} was asked nothing"


def _close(hosts: Sequence[Host | None]) -> None:
    for host in hosts:
        if host is not None:
            host.close()
