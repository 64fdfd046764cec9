"""What a difference costs by the step model: each side is put, in thought, into the state of the other.

Both ways round are worked out and their mean is taken, so that a comparison turned round is the
same one. What two differences cost together and not each by itself stays unexplained.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from tools.comparison.decode import Decode
from tools.comparison.gain import Gain, mean, of_percents
from tools.comparison.side import Side
from tools.comparison.trait import Term
from tools.errors import Undecided
from tools.nvidia.gpus import Gpus
from tools.physics.deployment import Deployment
from tools.physics.interval import Interval
from tools.physics.link import ALONE
from tools.physics.prefill import CHUNK, prefill_rate
from tools.physics.step import decode_step
from tools.physics.whatif import Today, would_be

SOURCE = "the step model, from both sides"


@dataclass(frozen=True)
class _Modelled:
    """One side as the step model has it, at the load that both measured."""

    side: Side
    today: Today

    @property
    def now(self) -> Deployment:
        return self.today.deployment


class Modelled:
    """Both sides in the step model. `why` says why there is no model of them; empty where there is."""

    def __init__(self, here: Side, there: Side, pair: tuple[Decode, Decode] | None) -> None:
        self.why = ""
        self._sides: tuple[_Modelled, _Modelled] | None = None
        try:
            self._sides = (
                _modelled(here, there, pair[0] if pair else None),
                _modelled(there, here, pair[1] if pair else None),
            )
        except Undecided as why:
            self.why = why.why

    def gain(self, term: Term) -> Gain | None:
        """Return what the second side gains over the first by one term; None where that is not modelled."""
        if self._sides is None:
            return None
        here, there = self._sides
        if term == "chunk":
            return _of_chunks(here, there)
        change = _CHANGES.get(term)
        if change is None or not _may(term, here, there):
            return None
        gains = []
        for mine, other, ahead in ((here, there, True), (there, here, False)):
            try:
                gives = would_be(mine.today, change(mine, other))
            except Undecided:
                continue
            one = Gain(
                of_percents(gives.decode_pct),
                of_percents(gives.prefill_pct) if gives.prefill_pct else None,
            )
            gains.append(one if ahead else one.turned())
        return Gain(
            mean([one.decode for one in gains if one.decode]),
            mean([one.prefill for one in gains if one.prefill]),
        )


def _modelled(side: Side, other: Side, decode: Decode | None) -> _Modelled:
    """Return a side in the model. One that serves the same model borrows its config from the other."""
    seen = side.seen
    if seen.config is None and side.model and side.model == other.model:
        seen = replace(seen, config=other.seen.config)
    now = replace(
        seen.deployment(), power=_power_share(side), bandwidth=_bandwidth_share(side, other)
    )
    chunk = seen.chunk or CHUNK
    if decode is not None:
        accepted = decode.accept_len.mid if decode.accept_len else 1.0
        now = replace(
            now,
            batch=decode.running,
            context=decode.context or now.context,
            accept_len=accepted if now.draft_forwards else 1.0,
            graph=now.graph and decode.graph,
        )
    return _Modelled(
        side,
        Today(
            deployment=now,
            step_ms=decode.step_ms.mid if decode else decode_step(now).ms.mid,
            step_measured=decode is not None,
            prefill_tok_s=None,
            prefill_measured=False,
            chunk=chunk,
        ),
    )


Change = Callable[[_Modelled, _Modelled], Deployment]


def _link(mine: _Modelled, other: _Modelled) -> Deployment:
    its = other.now.link
    link = replace(mine.now.link, raw_gb_s=its.raw_gb_s, nvlink=its.nvlink, name=its.name)
    return mine.now.over(link)


def _peer(mine: _Modelled, other: _Modelled) -> Deployment:
    its = other.now.link
    return mine.now.over(replace(mine.now.link, p2p=its.p2p, custom=its.custom))


def _custom(mine: _Modelled, other: _Modelled) -> Deployment:
    return mine.now.over(replace(mine.now.link, custom=other.now.link.custom))


def _split(mine: _Modelled, other: _Modelled) -> Deployment:
    tp = other.now.tp
    link = ALONE if tp == 1 else other.now.link if mine.now.tp == 1 else mine.now.link
    return replace(mine.now, tp=tp, link=link)


def _checkpoint(mine: _Modelled, other: _Modelled) -> Deployment:
    its = other.now
    return replace(mine.now, checkpoint=its.checkpoint, weight_only=its.weight_only)


def _drafts(mine: _Modelled, other: _Modelled) -> Deployment:
    """Return the same tokens of a step at the other's drafts: the accept length is a difference of its own."""
    its = other.now
    return replace(
        mine.now,
        draft_forwards=its.draft_forwards,
        verify_tokens=its.verify_tokens,
        host_ms=its.host_ms
        if bool(its.draft_forwards) != bool(mine.now.draft_forwards)
        else mine.now.host_ms,
    )


_CHANGES: dict[Term, Change] = {
    "gpu": lambda mine, other: replace(mine.now, gpu=other.now.gpu),
    "tp": _split,
    "link": _link,
    "peer": _peer,
    "custom": _custom,
    "memory_clock": lambda mine, other: replace(mine.now, bandwidth=other.now.bandwidth),
    "power": lambda mine, other: replace(mine.now, power=other.now.power),
    "checkpoint": _checkpoint,
    "kv_cache": lambda mine, other: replace(mine.now, kv_scale=other.now.kv_scale),
    "drafts": _drafts,
    "host": lambda mine, other: replace(mine.now, host_ms=other.now.host_ms),
    "graph": lambda mine, other: replace(mine.now, graph=other.now.graph),
    "context": lambda mine, other: replace(mine.now, context=other.now.context),
}
_OF_ONE_PRODUCT: frozenset[Term] = frozenset({"memory_clock", "power"})
_OF_LINKS: frozenset[Term] = frozenset({"link", "peer", "custom"})


def _may(term: Term, here: _Modelled, there: _Modelled) -> bool:
    """Say whether a term means the same on both sides: clocks and watts of two products do not."""
    if term in _OF_ONE_PRODUCT:
        return here.now.gpu == there.now.gpu
    if term in _OF_LINKS:  # one GPU has no link to be slow: then how many there are counts
        return (here.now.tp > 1) == (there.now.tp > 1)
    if term == "host":  # drafts bring a host of their own
        return bool(here.now.draft_forwards) == bool(there.now.draft_forwards)
    return True


def _of_chunks(here: _Modelled, there: _Modelled) -> Gain | None:
    """Return what the size of a prefill chunk gives: of cold prompts alone."""
    gains = []
    for one in (here, there):
        try:
            rates = [prefill_rate(one.now, side.today.chunk).tok_s.mid for side in (here, there)]
        except Undecided:
            continue
        gains.append(Interval.exactly(math.log(rates[1] / rates[0])))
    found = mean(gains)
    return Gain(Interval.exactly(0.0), found) if found else None


def _power_share(side: Side) -> float:
    """Return the lowest power limit as a share of the card's own; 1 where that is not told."""
    gpus = side.known.get(Gpus)
    shares = [
        one.power_limit_w / one.power_default_w
        for one in (gpus.cards() if gpus else ())
        if one.power_limit_w and one.power_default_w
    ]
    return min(shares, default=1.0)


def _bandwidth_share(side: Side, other: Side) -> float:
    """Return the memory clock at work as a share of the higher one of the two; 1 where that is not told."""
    mine, its = _memory_mhz(side), _memory_mhz(other)
    alike = set(_names(side)) == set(_names(other))  # MHz of two products mean different rates
    return mine / max(mine, its) if alike and mine and its else 1.0


def _names(side: Side) -> tuple[str, ...]:
    gpus = side.known.get(Gpus)
    return gpus.names if gpus else ()


def _memory_mhz(side: Side) -> float | None:
    gpus = side.known.get(Gpus)
    told = sorted(one.mem_mhz for one in (gpus.busy() if gpus else ()) if one.mem_mhz)
    return told[len(told) // 2] if told else None
