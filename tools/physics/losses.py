"""What a slow link costs a server as it was seen: for rules, which have facts and no deployment."""

from __future__ import annotations

from tools.errors import Undecided
from tools.physics.as_measured import as_measured
from tools.physics.effect import Cost, link_effect
from tools.physics.prefill import CHUNK
from tools.physics.seen import Seen


def link_loss(seen: Seen) -> Cost | None:
    """Return what the PCIe link under load costs against the one that card and slot can do.

    None where the link is not slow, or where the model, the GPUs or the arguments are not known
    well enough; tools/physics/slower_link.py then has a rule of thumb.
    """
    try:
        now = seen.deployment()
        good = seen.link(repaired=True)
    except Undecided:
        return None
    if now.tp == 1 or good.raw_gb_s <= now.link.raw_gb_s:
        return None
    step_ms = None
    try:
        found = seen.measured()
        now = as_measured(now, found)
        step_ms = now.batch * now.accept_len / found.tok_s * 1e3
    except Undecided:
        step_ms = None
    return link_effect(now, good, now.link, step_ms=step_ms, chunk=seen.chunk or CHUNK)
