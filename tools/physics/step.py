"""One decode step in milliseconds: weights + cache + kernels + links + host, added and not overlapped.

Weights and cache are bytes read per GPU / (peak bandwidth x the share reached), or arithmetic where
a batch is so large that it takes longer; kernels is what each costs besides reading; links are the
exchanges between GPUs; host is CPU time for which the GPU waits.
"""

from __future__ import annotations

from dataclasses import dataclass

from tools.physics.deployment import Deployment, power_scale
from tools.physics.exchange import links_ms
from tools.physics.interval import Interval
from tools.physics.kernels import eager_ms, kernels_ms
from tools.physics.reading import cache_gb, weights_gb
from tools.physics.spread import LINK_DOWN, LINK_UP, half_width


@dataclass(frozen=True)
class Step:
    """One decode step: its terms in ms with intervals, the bytes read per GPU, and the rate."""

    weights: Interval
    cache: Interval  # KV cache and recurrent state
    kernels: Interval
    links: Interval
    host: Interval
    read_gb: float
    emitted: float  # tokens that one step yields, all sequences together

    @property
    def memory(self) -> Interval:
        """Return what reading memory takes."""
        return self.weights.plus(self.cache)

    @property
    def terms(self) -> tuple[tuple[str, Interval], ...]:
        """Return the parts by name, those alone that take time."""
        named = (
            ("weights", self.weights),
            ("KV cache and state", self.cache),
            ("kernels", self.kernels),
            ("links", self.links),
            ("host", self.host),
        )
        return tuple((name, ms) for name, ms in named if ms.mid)

    @property
    def ms(self) -> Interval:
        """Return the whole step."""
        return self.memory.plus(self.kernels).plus(self.links).plus(self.host)

    @property
    def tok_s(self) -> Interval:
        """Return the server's rate in tokens per second."""
        ms = self.ms
        return Interval(*(self.emitted / part * 1e3 for part in (ms.hi, ms.mid, ms.lo)))


def decode_step(deployment: Deployment) -> Step:
    """Work out one decode step of a deployment."""
    d = deployment
    weights_read, cache_read = weights_gb(d), cache_gb(d)
    gpu = d.gpu
    reached_gb_s = (
        gpu.bandwidth_gb_s * power_scale(d.power, "decode") * gpu.decode_fraction * d.bandwidth
    )
    weights = max(weights_read / reached_gb_s * 1e3, _arithmetic_ms(d))
    cache = cache_read / reached_gb_s * 1e3
    kernels, links = kernels_ms(d), links_ms(d)
    host = d.host_ms + (0.0 if d.graph else eager_ms(d, weights + cache, kernels + links))
    width = half_width(d, weights + cache + kernels + links + host)

    def known(ms: float) -> Interval:
        return Interval.around(ms, down=width, up=width)

    return Step(
        weights=known(weights),
        cache=known(cache),
        kernels=known(kernels),
        links=Interval.around(links, down=LINK_DOWN, up=LINK_UP),
        host=known(host),
        read_gb=weights_read + cache_read,
        emitted=d.batch * d.accept_len,
    )


def _arithmetic_ms(d: Deployment) -> float:
    """Return the arithmetic of a large batch at the rate that prefill reaches."""
    if d.gpu.tflops is None:
        return 0.0
    c = d.checkpoint
    operations = 2 * (c.params_b + c.head_b) * d.tokens / d.tp  # 1e9
    return operations / (d.gpu.tflops * d.gpu.prefill_mfu)
