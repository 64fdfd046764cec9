"""What a headroom tells, in the forms in which people say it: each figure computed by us."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.agent.checking.ground import Ground
from bot.narrator import Table
from bot.narrator.measured import measured
from tools.physics.headroom import Headroom

_DECODE = (
    "A decode step takes {step_ms:.1f} ms as measured",
    "Decode runs at {measured_tok_s:.1f} tok/s",
    "Decode is at {share_pct:.0f} % of the ceiling",
    "Decode at {measured_tok_s:.0f} tok/s is at {share_pct:.0f} % of its ceiling",
    "Decode reaches {share_pct:.0f} % of its ceiling of {ceiling:.0f} tok/s",
    "The accept length is {accept_len:.2f} on today's prompts",
)
_REPAIRED = (
    "With the link repaired decode would reach {expected:.0f} tok/s",
    "With the link repaired expect {expected:.0f} tok/s for decode",
)
_PREFILL = "{what} is measured at {now:,.0f} tok/s and would reach {then:,.0f} tok/s with the link repaired"
_CLAIMED = ("It will not be {0:g} tok/s", "{0:g} tok/s is not reachable", "{0:g} is not reachable")


def worked_out(room: Headroom) -> Iterator[Ground]:
    """Yield what a headroom tells."""
    yield from (Ground(text, "figure") for text in (*room.sentences(), *_forms(room)))
    for name, ms in room.terms:
        yield Ground(f"Of a decode step {name} takes {ms.mid:.1f} ms", "figure")
    for name, ms in room.prefill_terms:
        yield Ground(f"Of a chunk of a cold prompt {name} takes {ms.mid:,.0f} ms", "figure")
    if room.chunk_ms and room.chunk_tokens:
        took = f"{room.chunk_ms:,.0f} ms"
        yield Ground(f"A chunk of {room.chunk_tokens:,} prompt tokens takes {took}", "figure")
    for part in measured(room):
        if isinstance(part, Table):
            yield from _cells(part)
        elif " · " not in part.text:
            yield Ground(part.text, "figure")


def _forms(room: Headroom) -> Iterator[str]:
    told = {
        name: getattr(room, name)
        for name in ("step_ms", "measured_tok_s", "share_pct", "accept_len")
    }
    told |= {"ceiling": room.ceiling_tok_s.mid, "expected": room.expected_tok_s.mid}
    yield from (form.format(**told) for form in (*_DECODE, *(_REPAIRED if room.link_cost else ())))
    if room.link_cost and room.prefill_tok_s and room.prefill_ceiling:
        for what in ("Cold prefill", "A cold prompt"):
            yield _PREFILL.format(what=what, now=room.prefill_tok_s, then=room.prefill_ceiling.mid)
    if room.claimed_tok_s and room.claimed_tok_s > room.ceiling_tok_s.mid:
        yield from (f"{form.format(room.claimed_tok_s)} on these prompts" for form in _CLAIMED)


def _cells(part: Table) -> Iterator[Ground]:
    for name, *cells in part.rows:
        what, _, unit = name.partition(" (")
        unit = f" {unit.rstrip(')')}" if unit else ""
        for head, cell in zip(part.head[1:], cells, strict=False):
            if cell:
                own = "" if "%" in cell or "ms" in cell or "tok" in cell else unit
                low = re.sub(r"^(\S+) (\(.*\))$", rf"\1{own}, \2{own}", cell)
                yield Ground(f"{what} {head} {low if low != cell else cell + own}", "figure")
