"""How far a predicted step may be from the truth, as a share of it, by class of GPU.

The half-width of a class is the largest error of its decode rows, 8 % at least and 12 % where one
row alone tells of it, and so wide that three in four of all its rows lie inside (calibration.json,
`half_width`). A class that no row measured has 20 %, more than leaving a class out and fitting the
rest gives (docs/physics.md). Short steps and experts are wider: there the number of kernels rules,
which differs between versions of an engine. Of 23 rows with experts five are beyond 25 %, all slower.
"""

from __future__ import annotations

from tools.knowledge.calibration import half_widths
from tools.physics.deployment import Deployment

OTHER = 0.20
SHORT, SHORT_MS = 0.20, 5.0
EXPERTS = 0.25
LINK_DOWN, LINK_UP = 0.25, 0.18  # errors of the four measured link pairs


def half_width(d: Deployment, step_ms: float) -> float:
    """Return how far a predicted step may be off, as a share of it."""
    width = half_widths().get(d.gpu.sm, OTHER)
    if step_ms < SHORT_MS:
        width = max(width, SHORT)
    return max(width, EXPERTS) if d.checkpoint.sparse else width
