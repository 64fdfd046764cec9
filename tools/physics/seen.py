"""From what was seen of a server and its GPUs to a deployment whose step can be worked out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, TypeVar

from tools.engine import Arguments, Burst, Launch, ModelConfig, ServerInfo, ServerLog
from tools.errors import Undecided
from tools.knowledge.gpus import Gpu, gpu_named
from tools.nvidia.gpus import Gpus
from tools.nvidia.topology import Topology
from tools.physics.checkpoint import STATE_BYTES, Checkpoint
from tools.physics.deployment import HOST_MS, Deployment
from tools.physics.link import ALONE, Link
from tools.physics.measured import Measured, dp_ranks
from tools.physics.precision import WEIGHT_BYTES
from tools.physics.prefill import MIN_CHUNK
from tools.physics.under_load import measured
from tools.probe import Facts

F = TypeVar("F", bound=Facts)

_CONTEXT = 2000  # tokens of a sequence where no decode line tells
_SPEC_V2_SINCE = (0, 5, 11)  # SGLang: SGLANG_ENABLE_SPEC_V2 is True by default
_VLLM_ASYNC_SINCE = (0, 14, 0)  # vLLM: schedules while the GPU works by default (its PR 27614)
_DRAFTS_WITHOUT_A_LAYER = {"ngram", "dflash", "standalone"}  # what they cost is not modelled


class Get(Protocol):
    """Gives facts of a type, or None where no look gave any."""

    def __call__(self, kind: type[F], /) -> F | None:
        """Return the facts of a type."""


@dataclass(frozen=True)
class Seen:
    """What bears on a step, gathered; what is missing and decides is refused with its name."""

    config: ModelConfig | None
    gpus: Gpus | None
    launch: Launch | None = None
    info: ServerInfo | None = None
    log: ServerLog | None = None
    topology: Topology | None = None
    burst: Burst | None = None

    @classmethod
    def of(cls, get: Get) -> Seen:
        """Gather from whatever holds facts by type."""
        return cls(
            config=get(ModelConfig),
            gpus=get(Gpus),
            launch=get(Launch),
            info=get(ServerInfo),
            log=get(ServerLog),
            topology=get(Topology),
            burst=get(Burst),
        )

    @cached_property
    def arguments(self) -> Arguments:
        """Return the server's arguments, however they are told."""
        return Arguments(self.launch, self.info, self.log)

    @property
    def chunk(self) -> int | None:
        """Return the tokens of one prefill chunk, where that is told and large."""
        told = self.arguments.count("chunked_prefill_size")
        told = told or (self.log.chunked_prefill if self.log else None)
        return told if told and told >= MIN_CHUNK else None

    @cached_property
    def groups(self) -> int:
        """Return how many groups of GPUs hold sequences of their own (DP attention); 1 without it.

        SGLang: dp_size where enable_dp_attention is on, from 0.5.22 on attn_dp_size.
        """
        told = self.arguments.count("attn_dp_size") or 1
        if self.arguments.on("enable_dp_attention"):
            told = max(told, self.arguments.count("dp_size") or 1)
        return told

    def measured(self) -> Measured:
        """Return decode as a burst or the log measured it; raise Undecided where neither tells it."""
        found = measured(self.log, self.burst)
        if self.groups == 1 or self.log is None or (self.burst and self.burst.decode):
            return found
        return found.over(min(self.groups, dp_ranks(self.log)))

    def deployment(self) -> Deployment:
        """Return the deployment in its state under load; raise Undecided with what is not known."""
        if self.config is None:
            raise Undecided("the model's config was not read")
        gpu, tp = self._gpu(), self._tp()
        checkpoint = self._checkpoint(self.config, tp)
        drafts, verify = self._speculation()
        if drafts and not checkpoint.draft_b:
            raise Undecided("the size of the draft model is not known")
        return Deployment(
            checkpoint=checkpoint,
            gpu=gpu,
            tp=tp,
            link=self.link() if tp > 1 else ALONE,
            context=_CONTEXT,
            draft_forwards=drafts,
            verify_tokens=verify,
            graph=not self.arguments.on("disable_cuda_graph"),
            host_ms=self._host_ms(speculative=bool(drafts)),
            kv_scale=0.5 if self.arguments.text("kv_cache_dtype").startswith("fp8") else 1.0,
            attention_dp=self.groups,
            ep=self._ep() if checkpoint.sparse else 1,
            all_to_all=self.arguments.text("moe_a2a_backend") not in ("", "none"),
        )

    def link(self, *, repaired: bool = False) -> Link:
        """Return the link between the GPUs as seen under load, or as card and slot allow it."""
        words = self.topology.words() if self.topology else frozenset()
        custom = self._custom()
        nvlink = self._gpu().nvlink
        if words and all(word.startswith("NV") for word in words):
            if nvlink is None:
                raise Undecided("the rate of this NVLink is not known")
            return Link.nv(nvlink.both_ways_gb_s / 2, custom=custom)
        if not words and nvlink is not None and nvlink.kind != "bridge":
            return Link.nv(nvlink.both_ways_gb_s / 2, custom=custom)  # the board itself wires them
        samples = self.gpus.samples if self.gpus else ()
        at_work = [one for one in samples if one.busy]
        if repaired or not at_work:  # an idle GPU lowers its link by itself: that tells nothing
            gen = _least(one.gen_possible for one in samples)
            width = _least(one.link_width_max or one.link_width for one in samples)
        else:
            gen = _usual([one.link_gen for one in at_work])
            width = _usual([one.link_width for one in at_work])
        if gen is None or width is None:
            raise Undecided("the PCIe link between the GPUs was not seen")
        return Link.pcie(gen, width, p2p=self._p2p(), custom=custom)

    def _gpu(self) -> Gpu:
        names = set(self.gpus.names) if self.gpus else set()
        if len(names) != 1:
            raise Undecided("the GPUs are not of one kind" if names else "no GPU was seen")
        name = names.pop()
        if (gpu := gpu_named(name)) is None:
            raise Undecided(f"bandwidth and arithmetic of {name} are not known")
        return gpu

    def _tp(self) -> int:
        arguments = self.arguments
        if (arguments.count("pp_size") or 1) > 1 or (arguments.nodes or 1) > 1:
            raise Undecided("pipeline stages and several machines are not modelled")
        if (arguments.count("attn_cp_size") or 1) > 1:
            raise Undecided("attention over context-parallel ranks is not modelled")
        if (arguments.number("cpu_offload_gb") or 0) > 0:
            raise Undecided("weights that are kept in the host's memory are not modelled")
        if arguments.tp is None:
            raise Undecided("how many GPUs share the model is not known")
        for name, parts in (("attention groups", self.groups), ("expert groups", self._ep())):
            if arguments.tp % parts:
                raise Undecided(f"{parts} {name} do not divide {arguments.tp} GPUs")
        return arguments.tp

    def _ep(self) -> int:
        return self.arguments.count("ep_size") or 1

    def _checkpoint(self, config: ModelConfig, tp: int) -> Checkpoint:
        told = self.arguments.text("quantization")
        weights = self.log.weights_gb * tp if self.log and self.log.weights_gb else None
        named = told if told not in ("", "none", "auto") else None
        state = WEIGHT_BYTES.get(self.arguments.text("mamba_ssm_dtype"), STATE_BYTES)
        found = Checkpoint.of(config, quantization=named, weights_gb=weights, state_bytes=state)
        return replace(found, kept_b=0.0) if self.groups > 1 else found  # attention is held often

    def _speculation(self) -> tuple[int, int]:
        """Return draft forwards per verify, and the tokens that the target then checks."""
        algorithm = self.arguments.speculative
        if not algorithm:
            return 0, 0
        steps = self.arguments.count("speculative_num_steps")
        if algorithm in _DRAFTS_WITHOUT_A_LAYER or steps is None:
            raise Undecided(f"what a draft of {algorithm} costs is not known")
        return steps, self.arguments.count("speculative_num_draft_tokens") or steps + 1

    def _host_ms(self, *, speculative: bool) -> float:
        if self.arguments.engine == "vllm":
            alone = "overlap" if self._vllm_async() else "vllm_sync"
            return HOST_MS["vllm_spec" if speculative else alone]
        overlap = not self.arguments.on("disable_overlap_schedule")
        if speculative:
            new = (self.arguments.version or (0, 0, 0)) >= _SPEC_V2_SINCE
            return HOST_MS["spec_v2" if overlap and new else "spec_v1"]
        return HOST_MS["overlap" if overlap else "no_overlap"]

    def _vllm_async(self) -> bool:
        told = self.arguments.value("async_scheduling")
        if told is not None or self.arguments.on("no_async_scheduling"):
            return self.arguments.on("async_scheduling")
        return (self.arguments.version or _VLLM_ASYNC_SINCE) >= _VLLM_ASYNC_SINCE

    def _p2p(self) -> bool:
        cells = {pair.word for pair in self.topology.p2p} if self.topology else set()
        if cells:
            return cells == {"OK"}
        return bool(self.log and self.log.graph_addresses) or self._gpu().pcie_p2p

    def _custom(self) -> bool:
        if self.arguments.on("disable_custom_all_reduce"):
            return False
        return not (self.log and self.log.said("custom_ar_off"))


def _least(values: Iterable[int | None]) -> int | None:
    return min((value for value in values if value is not None), default=None)


def _usual(values: Sequence[int | None]) -> int | None:
    told = Counter(value for value in values if value is not None)
    return told.most_common(1)[0][0] if told else None
