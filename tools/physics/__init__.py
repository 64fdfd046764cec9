"""physics is a serving step in milliseconds: memory, kernels, links, host; pure arithmetic."""

from tools.physics.checkpoint import Checkpoint
from tools.physics.deployment import HOST_MS, Deployment
from tools.physics.effect import Cost, effect, link_effect, repaired
from tools.physics.headroom import Headroom
from tools.physics.interval import Interval
from tools.physics.link import Link
from tools.physics.prefill import Prefill, prefill_rate
from tools.physics.seen import Seen
from tools.physics.step import Step, decode_step

__all__ = [
    "HOST_MS",
    "Checkpoint",
    "Cost",
    "Deployment",
    "Headroom",
    "Interval",
    "Link",
    "Prefill",
    "Seen",
    "Step",
    "decode_step",
    "effect",
    "link_effect",
    "prefill_rate",
    "repaired",
]
