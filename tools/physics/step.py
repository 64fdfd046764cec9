"""One decode step in milliseconds: memory + kernels + links + host, added and not overlapped.

memory is bytes read per GPU / (peak bandwidth x the fraction reached); kernels is the number of
small kernels x what each costs inside a CUDA graph; links are two all-reduces a layer and the
gather of the logits; host is CPU time for which the GPU waits.
"""

from __future__ import annotations

from dataclasses import dataclass

from tools.knowledge.calibration import calibrated_classes
from tools.physics.deployment import Deployment, power_scale
from tools.physics.interval import Interval
from tools.physics.link import allreduce_us, gather_us

KERNEL_US = 2.1  # one small kernel inside a CUDA graph: launch gap, ramp, tail; fitted
EAGER_US = 80.0  # CPU time of one operator without a graph; 40 to 140 seen, one calibration point
DRAFT_KERNELS = 18  # small kernels of one draft forward
EXPERT_SPREAD = 0.75  # share of new experts that one more token in flight brings

SIGMA_CALIBRATED = 0.07  # 29 rows, mostly in-sample; mean error 3.6 to 8 % by group
SIGMA_OTHER = 0.14  # 12 to 15 % for compute capabilities that no row measured
SIGMA_SHORT = 0.25  # below about 5 ms the count of kernels rules: +15 to +32 % seen
SHORT_MS = 5.0
LINK_DOWN, LINK_UP = 0.25, 0.18  # errors of the four measured link pairs


@dataclass(frozen=True)
class Step:
    """One decode step: its terms in ms with intervals, the bytes read per GPU, and the rate."""

    memory: Interval
    kernels: Interval
    links: Interval
    host: Interval
    read_gb: float
    emitted: float  # tokens that one step yields, all sequences together

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
    read_gb = _target_gb(d) + d.draft_forwards * _draft_gb(d)
    gpu = d.gpu
    reached_gb_s = (
        gpu.bandwidth_gb_s * power_scale(d.power, "decode") * gpu.decode_fraction * d.bandwidth
    )
    memory = read_gb / reached_gb_s * 1e3
    kernels = (
        (d.checkpoint.layers * d.checkpoint.kernels_per_layer + d.draft_forwards * DRAFT_KERNELS)
        * KERNEL_US
        / 1e3
    )
    links = links_ms(d)
    host = d.host_ms + (0.0 if d.graph else _eager_ms(d, memory, kernels + links))
    sigma = sigma_of(d, memory + kernels + links + host)
    return Step(
        memory=Interval.around(memory, down=sigma, up=sigma),
        kernels=Interval.around(kernels, down=sigma, up=sigma),
        links=Interval.around(links, down=LINK_DOWN, up=LINK_UP),
        host=Interval.around(host, down=sigma, up=sigma),
        read_gb=read_gb,
        emitted=d.batch * d.accept_len,
    )


def sigma_of(d: Deployment, step_ms: float) -> float:
    """Return one standard deviation of a predicted step, as a share of it."""
    if step_ms < SHORT_MS:
        return SIGMA_SHORT
    return SIGMA_CALIBRATED if d.gpu.sm in calibrated_classes() else SIGMA_OTHER


def links_ms(d: Deployment) -> float:
    """Return what the all-reduces and gathers of one step take, target and drafts."""
    c = d.checkpoint
    target = (2 * c.layers + 1) * allreduce_us(d.tokens * c.hidden * 2, d.tp, d.link)
    target += gather_us(d.tokens * c.vocabulary * 2, d.tp, d.link)
    draft = 3 * allreduce_us(d.batch * c.hidden * 2, d.tp, d.link)
    draft += gather_us(d.batch * c.vocabulary * 2, d.tp, d.link)
    return (target + d.draft_forwards * draft) / 1e3


def _target_gb(d: Deployment) -> float:
    c = d.checkpoint
    body = c.params_b
    if c.total_params_b and d.tokens > 1:  # distinct experts grow with the tokens in flight
        body = min(c.total_params_b, body * (1 + EXPERT_SPREAD * (d.tokens - 1)))
    weights = (
        body * c.weight_bytes * d.weight_only
        + c.head_b * c.head_bytes
        + c.state_gb * (1 + d.tokens)
    )
    cache = d.batch * d.context * c.kv_bytes_per_token * d.kv_scale / 1e9
    return (weights + cache) / d.tp


def _draft_gb(d: Deployment) -> float:
    c = d.checkpoint  # each draft forward reads the lm_head again
    return (c.draft_b * c.draft_bytes + c.head_b * c.head_bytes) / d.tp + c.draft_replicated_b * 2


def _eager_ms(d: Deployment, memory: float, rest: float) -> float:
    """Without a graph the CPU launches every operator: -40 to -85 % seen, one calibration point."""
    c = d.checkpoint
    launches = (c.layers * c.kernels_per_layer + DRAFT_KERNELS * d.draft_forwards) * EAGER_US / 1e3
    return max(0.1 * memory, launches - memory - rest)
