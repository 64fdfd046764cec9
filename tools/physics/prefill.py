"""The rate at which a cold prompt is read: arithmetic, then all-reduces of whole activations.

Calibrated on three 10k prompts (2x RTX 3090, 27B at 4 bit: 1976 predicted and 1975 measured over
NVLink, 1373 against 1327 and 1446 through host memory). The share of peak arithmetic is known to
+-20 % where a card was measured at all, and so is the rate.
"""

from __future__ import annotations

from dataclasses import dataclass

from tools.errors import Undecided
from tools.physics.deployment import Deployment, power_scale
from tools.physics.interval import Interval
from tools.physics.link import allreduce_us

CHUNK = 8192  # tokens; SGLang's default is 2048 to 8192 by memory of the card
OVERHEAD = 1.02  # attention and head over the weights' arithmetic
RATE_ERROR = 0.20
MIN_CHUNK = 512  # below it launches and attention rule, which are not modelled


@dataclass(frozen=True)
class Prefill:
    """One chunk of a cold prompt: ms of arithmetic (or of reading weights), of links; the rate."""

    compute_ms: float
    links_ms: float
    chunk: int

    @property
    def tok_s(self) -> Interval:
        """Return the rate in prompt tokens per second."""
        rate = self.chunk / (self.compute_ms + self.links_ms) * 1e3
        return Interval.around(rate, down=RATE_ERROR, up=RATE_ERROR)

    @property
    def terms(self) -> tuple[tuple[str, Interval], ...]:
        """Return the parts of one chunk by name, in ms, those alone that take time."""
        wide = {"down": RATE_ERROR, "up": RATE_ERROR}
        named = (("arithmetic", self.compute_ms), ("links", self.links_ms))
        return tuple((name, Interval.around(ms, **wide)) for name, ms in named if ms)

    @property
    def links_share(self) -> float:
        """Return which share of the time the links take."""
        return self.links_ms / (self.compute_ms + self.links_ms)


def prefill_rate(deployment: Deployment, chunk: int = CHUNK, prompt: float = 0) -> Prefill:
    """Work out the rate of a cold prompt in chunks; raise Undecided where arithmetic is unknown.

    `prompt` is the whole prompt in tokens, where it is much longer than a chunk.
    """
    d, c = deployment, deployment.checkpoint
    if chunk < MIN_CHUNK:
        raise Undecided(f"chunks of {chunk} tokens are below what the prefill model covers")
    if d.gpu.tflops is None:
        raise Undecided(f"the arithmetic rate of {d.gpu.name} is not known")
    mfu = d.gpu.prefill_mfu * power_scale(d.power, "prefill")
    arithmetic = (2 * c.params_b * OVERHEAD + _earlier_tokens(d, prompt - chunk)) * chunk
    arithmetic /= d.tp * d.gpu.tflops * mfu
    read_gb = (c.weights_gb - 2 * c.head_b * c.head_bytes - c.draft_b * c.draft_bytes) / d.tp
    reading = read_gb / (d.gpu.bandwidth_gb_s * d.gpu.decode_fraction) * 1e3
    links = 2 * c.layers * allreduce_us(chunk * c.hidden * 2, d.tp, d.link) / 1e3
    return Prefill(max(arithmetic, reading), links, chunk)


def _earlier_tokens(d: Deployment, earlier: float) -> float:
    """Return the operations of a token on those before its chunk, in 1e9; half of them on average."""
    return 4 * max(0.0, earlier) / 2 * d.checkpoint.attention_width / 1e9
