"""A deployment put into the state that a log shows."""

from __future__ import annotations

from dataclasses import replace

from tools.errors import Undecided
from tools.physics.deployment import Deployment
from tools.physics.measured import Measured


def as_measured(d: Deployment, measured: Measured) -> Deployment:
    """Return a deployment at the batch, context and acceptance that a log shows."""
    if d.draft_forwards and not measured.accept_len:
        raise Undecided("speculation runs, and no line tells the accept length")
    return replace(
        d,
        batch=measured.running,
        context=measured.context or d.context,
        accept_len=(measured.accept_len or 1.0) if d.draft_forwards else 1.0,
        graph=d.graph and measured.graph,
    )
