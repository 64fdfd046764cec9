"""What of a checkpoint costs time: weights by part, KV cache, recurrent state, counts of kernels."""

from __future__ import annotations

from dataclasses import dataclass

from tools.engine import ModelConfig
from tools.errors import Undecided
from tools.physics import sizes
from tools.physics.precision import expert_bytes, kept_wide_b, weight_bytes

STATE_BYTES = 4.0  # SGLang: configs/mamba_utils.py of 0.5.11, unless the config says otherwise


@dataclass(frozen=True)
class Checkpoint:
    """Sizes of one checkpoint. Parameters in 1e9; `_b` for billions.

    `params_b` is what one token reads: layers only, without embedding and lm_head. Of a mixture
    of experts `routed_b` of it are the experts that the router chose, out of `routed_total_b`.
    """

    layers: int
    hidden: int
    params_b: float
    head_b: float  # lm_head
    weight_bytes: float = 2.0
    head_bytes: float = 2.0
    kept_b: float = 0.0  # of params_b: weights that a packed checkpoint keeps at 16 bit
    kv_bytes_per_token: float = 0.0  # layers that see every token, at 16 bit
    kv_ways: int = 0  # GPUs over which the cache can be split (KV heads; 1 for MLA); 0: any number
    sliding_kv_bytes_per_token: float = 0.0  # layers that see a window alone
    window: int = 0  # tokens of that window
    state_gb: float = 0.0  # recurrent state of one sequence, read and written for every token
    kernels_per_layer: float = 12  # on average; tools/physics/sizes.py says what adds to it
    total_params_b: float = 0.0  # mixture of experts: with all experts
    routed_b: float = 0.0
    routed_total_b: float = 0.0
    expert_bytes: float = (
        0.0  # of a routed weight, where it differs from the others; 0: it does not
    )
    experts: int = 0
    experts_per_token: int = 0
    attention_b: float = 0.0  # of params_b: what DP attention replicates
    attention_width: float = 0.0  # heads x size of a head, summed over the full layers
    norms_across_heads: bool = False  # GPUs that hold some heads each must exchange for these
    draft_b: float = 0.0  # the draft (MTP) layer
    draft_bytes: float = 2.0
    draft_replicated_b: float = 0.0  # of it, held whole by every GPU

    @property
    def vocabulary(self) -> float:
        """Return the width of the logits."""
        return self.head_b * 1e9 / self.hidden

    @property
    def sparse(self) -> bool:
        """Say whether one token reads a part of the weights only."""
        return self.total_params_b > 0

    @property
    def weights_gb(self) -> float:
        """Return what the weights take on all GPUs together, in GB of 1e9 bytes."""
        routed = self.routed_total_b
        dense = (self.total_params_b or self.params_b) - routed
        layers = (dense - self.kept_b) * self.weight_bytes + self.kept_b * 2
        layers += routed * (self.expert_bytes or self.weight_bytes)
        return layers + 2 * self.head_b * self.head_bytes + self.draft_b * self.draft_bytes

    @staticmethod
    def of(
        config: ModelConfig,
        *,
        quantization: str | None = None,
        weights_gb: float | None = None,
        state_bytes: float = STATE_BYTES,
    ) -> Checkpoint:
        """Work sizes out of a config; raise Undecided where it lacks what decides.

        `quantization` is what the server was told, which goes before the config's own;
        `weights_gb` is what loading them took on all GPUs together, and settles a precision that
        no name tells, or that the name tells of a part alone. `state_bytes` is of one element of the recurrent state.
        """
        layers, hidden, vocabulary = config.layers, config.hidden, config.vocabulary
        if not (layers and hidden and vocabulary):
            raise Undecided("the model's config tells neither layers, hidden size nor vocabulary")
        kinds = sizes.kinds(config, layers)
        feed = sizes.feed_forward(config, hidden, layers)
        attention = kinds.attention * sizes.attention_b(config, hidden)
        linear = kinds.linear * sizes.linear_b(config, hidden)
        active = attention + linear + feed.active_b
        total = active - feed.routed_b + feed.routed_total_b
        head = hidden * vocabulary / 1e9
        each = weight_bytes(
            config, quantization, weights_gb, total + head * (1 if config.tied_head else 2)
        )
        experts = expert_bytes(config, quantization, each)
        kept = 0.0 if experts else kept_wide_b(each, total, 2 * head * 2, weights_gb)
        drafts = bool(config.draft_layers)
        return Checkpoint(
            layers=layers,
            hidden=hidden,
            params_b=active,
            head_b=head,
            weight_bytes=2.0 if experts else each,
            kept_b=min(kept, active - feed.routed_b),
            kv_bytes_per_token=kinds.full * sizes.kv_elements(config) * 2,
            kv_ways=1 if config.mla else config.kv_heads or 0,
            sliding_kv_bytes_per_token=kinds.sliding * sizes.kv_elements(config) * 2,
            window=config.sliding_window or 0,
            state_gb=kinds.linear * sizes.state_elements(config) * state_bytes / 1e9,
            kernels_per_layer=sizes.kernels(config, kinds, layers),
            total_params_b=total if config.experts else 0.0,
            routed_b=feed.routed_b,
            routed_total_b=feed.routed_total_b,
            expert_bytes=experts,
            experts=config.experts or 0,
            experts_per_token=config.experts_per_token or 0,
            attention_b=attention + linear,
            attention_width=kinds.full * sizes.width(config),
            norms_across_heads=bool(config.norms_across_heads),
            draft_b=sizes.attention_b(config, hidden) + feed.layer_b if drafts else 0.0,
            draft_replicated_b=2 * hidden * hidden / 1e9 if drafts else 0.0,
        )
