"""A change of a series in words: since when, by how much, what changed then, what was before."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from statistics import median

from tools.engine.claim import Claim
from tools.engine.happened import Happened, Restart, clock_of, happened, restart_at
from tools.engine.history import Change, History
from tools.engine.series import Point, rate

NEAR = 0.05  # of a claimed rate: what is remembered is rounded
FEW = 6  # arguments that can all be named
_NOTHING = (
    "nothing else in this log changed then: look outside it (clocks, neighbours on the machine, the"
    " link)"
)


@dataclass(frozen=True)
class Told:
    """A change in words, with what else changed then."""

    change: Change
    text: str  # "Since 14:05 (13:58 to 14:11) each decode step takes 18 % longer (12 to 24)"
    restart: Restart | None
    others: tuple[Happened, ...]

    @classmethod
    def of(cls, history: History, change: Change) -> Told:
        """Tell a change of a history."""
        restart = restart_at(history, change)
        first = restart.now.first_at if restart else None
        text = f"{_moment(change, first or change.first.at)} {what(change)}"
        return cls(change, text, restart, happened(history, change))

    @property
    def then(self) -> str:
        """Say what changed then, or that nothing in the log did."""
        events = [started(self.restart)] if self.restart else []
        loads = [one.text for one in self.others if one.kind == "load"][:2]
        events += [one.text for one in self.others if one.kind != "load"][:3]
        if self.change.kind.metric in ("hits", "queue"):  # the load is what they are made of
            events, loads = events + loads, []
        beside = f"; the load differs too: {', '.join(loads)}" if loads else ""
        return ("; ".join(events) or _NOTHING) + beside

    def remembered(self, claim: Claim | None) -> str:
        """Say whether a rate that somebody remembers is in the log, before the change."""
        if not (claim and claim.before_tok_s):
            return ""
        was = rate(self.change.before)
        if was is None:
            return ""
        running, before = was
        now = rate([p for p in self.change.after if getattr(p.block, "running", None) == running])
        then = f", since then at {now[1]:.0f}" if now else ""
        said = f" Until then {running} request(s) ran at {before:.0f} tok/s{then}"
        each = before / running  # of all requests together, or of each
        near = any(abs(one / claim.before_tok_s - 1) <= NEAR for one in (before, each))
        return (
            f"{said}: the {claim.before_tok_s:g} that are remembered are in this log."
            if near
            else f"{said}."
        )


def _moment(change: Change, first: str | None) -> str:
    low, high = change.earliest.at, change.latest.at
    if not first or not low or not high:
        return (
            f"In the last {len(change.points) - change.split.before} of {len(change.points)} lines"
        )
    day = f" on {first[:10]}" if len(first) >= 19 else ""
    ends = [clock_of(at) if at[:10] == first[:10] or not day else at[:16] for at in (low, high)]
    return f"Since {clock_of(first)}{day} ({ends[0]} to {ends[1]})"


def what(change: Change) -> str:
    """Say what changed, by how much, with the bounds of 95 %."""
    low, middle, high = change.pct
    size = f"{abs(middle):.0f} % {{}} ({min(abs(low), abs(high)):.0f} to {max(abs(low), abs(high)):.0f})"
    rank = f" on {change.rank} alone" if change.rank else ""
    match change.kind.metric:
        case "step":
            return f"each decode step takes {size.format('longer')} at the same load{rank}"
        case "accept":
            was, now = (exp(_middle(points)) for points in (change.before, change.after))
            return f"the accept length is {size.format('lower')}{rank}, {now:.2f} after {was:.2f}"
        case "prefill":
            return f"prompts of the same size are read {size.format('slower')}{rank}"
        case "hits":
            was, now = (_middle(points) for points in (change.before, change.after))
            return f"{now:.0%} of the prompt tokens are found in the prefix cache, {was:.0%} before{rank}"
    was, now = (exp(_middle(points)) - 1 for points in (change.before, change.after))
    return f"{now:.0f} requests wait, {was:.0f} before{rank}"


def _middle(points: tuple[Point, ...]) -> float:
    return median(point.value for point in points)


def started(restart: Restart) -> str:
    """Say when a server was restarted, and with which arguments that differ."""
    tries = f" after {restart.failed} failed start(s)" if restart.failed else ""
    args = ", ".join(
        f"--{name.replace('_', '-')} {now} instead of {was}"
        for name, (was, now) in list(restart.arguments.items())[:FEW]
    )
    more = len(restart.arguments) - FEW
    args += f" and {more} more that differ" if more > 0 else ""
    return (
        f"at {clock_of(restart.now.first_at)} the server was restarted{tries} with"
        f" {args or 'the same arguments, as far as both are told'}"
    )
