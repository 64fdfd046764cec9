"""Attention that takes longer than reading its cache: backend, format of the cache, long context."""

from __future__ import annotations

from statistics import correlation, median

from tools.engine import Arguments, DecodeLine, Launch, ModelConfig, ServerInfo, ServerLog, Traffic
from tools.engine.traffic import quoted, step_ms
from tools.errors import Undecided
from tools.knowledge.gpus import gpu_named
from tools.nvidia.gpus import Gpus
from tools.physics.bounds import Bounds
from tools.rule import Cleared, Effect, Finding, Outcome, rule

NO_KERNELS = ("torch_native", "flex_attention")  # references without kernels of their own
NEAR = 1.3  # of reading the weights: what is left is too little for slow attention
FACTOR = 2.0  # of reading the whole card: no batch needs that for memory
BIG_CACHE = 0.3  # usage of the pool from which the cache is most of what a step reads
LINES = 6
TOGETHER = 1.25  # growth of a step of several requests, which are not all of one length
GROWTH, SPAN, FIRST = 1.10, 2.0, 8000  # of the step, of the tokens, tokens at least
LENGTH_REMEDY = (
    "--kv-cache-dtype fp8_e4m3, where the attention backend is fast with it: half the bytes.",
    "Shorter chats: summarise or cut old turns.",
)
STRAIGHT = 0.95  # correlation from which the length explains nine tenths of what varies
SETTLE = "restart with only --attention-backend changed (flashinfer, triton), same load"


@rule(cause="attention_backend_fallback")
def attention_without_kernels(
    log: ServerLog, gpus: Gpus | None, launch: Launch | None, info: ServerInfo | None
) -> Outcome:
    """The attention backend in use is a reference without fast kernels."""
    args, bounds = Arguments(launch, info, log), Bounds.of(log, gpus)
    if args.text("device") == "cpu":
        return Cleared("on the CPU it is the normal backend")
    names = ("attention_backend", "decode_attention_backend", "prefill_attention_backend")
    used = [args.text(name) for name in names if args.text(name) in NO_KERNELS]
    said = [n.text for n in log.notices if any(w in n.text.lower() for w in _SAID)]
    if not (used or said):
        return Cleared("no attention backend without fast kernels is named", (log,))
    if bounds and bounds.weights_ms and bounds.step_ms <= NEAR * bounds.weights_ms:
        raise Undecided(
            f"{used[0] if used else 'a reference backend'} is named, yet a decode step takes"
            f" {bounds.step_ms:.1f} ms where reading the weights alone takes {bounds.weights_ms:.1f}"
            " ms: it costs this decode nothing, and prefill was not compared",
            settle="cold prefill tok/s with only --attention-backend changed",
            suspicion=0.1,
        )
    return Finding(
        f"Attention runs on {used[0] if used else 'a reference backend'}: no kernels of its own,"
        " and no CUDA graph.",
        confidence=0.85 if used else 0.7,
        slows=frozenset({"decode", "prefill", "ttft", "throughput"}),
        effect=Effect(
            (-70.0, -40.0, -10.0), (-60.0, -40.0, -20.0), "an estimate, not measured here"
        ),
        quotes=(*said[:2], *(f"attention_backend={one}" for one in used[:1])),
    )


@rule(cause="attention_backend_fallback")
def attention_slower_than_its_cache(
    log: ServerLog, gpus: Gpus, launch: Launch | None, info: ServerInfo | None
) -> Outcome:
    """A step takes far longer than reading everything that the GPU holds."""
    args, bounds = Arguments(launch, info, log), Bounds.of(log, gpus)
    if bounds is None or bounds.card_ms is None:
        raise Undecided("no step was measured, or the bandwidth of the GPU is not known")
    ratio = bounds.step_ms / bounds.card_ms
    if any(line.graph is False for line in Traffic(log).decode):
        return Cleared("decode runs without graphs, which is judged apart", (log,))
    if (bounds.usage or 0.0) >= BIG_CACHE and ratio >= FACTOR:
        return _slow(log, gpus, args, bounds)
    if args.text("kv_cache_dtype").startswith("fp8") and ratio >= 1.0:
        raise Undecided(
            f"a step of {bounds.step_ms:.0f} ms at a nearly empty cache is longer than reading the"
            f" whole card ({bounds.card_ms:.0f} ms); the fp8 KV cache is the suspect",
            settle="restart with only --kv-cache-dtype changed to auto, and repeat the request",
            suspicion=0.5,
        )
    return Cleared(
        f"a step of {bounds.step_ms:.1f} ms; reading the whole card takes {bounds.card_ms:.1f} ms"
    )


@rule(cause="long_context")
def step_grows_with_context(
    log: ServerLog,
    config: ModelConfig | None,
    gpus: Gpus | None,
    launch: Launch | None,
    info: ServerInfo | None,
) -> Outcome:
    """Each step takes longer as the chat grows, because more cache is read."""
    lines = _alike(Traffic(log))
    lines.sort(key=lambda line: line.tokens or 0)
    tokens = [line.tokens or 0 for line in lines]
    if len(lines) < LINES or tokens[-1] < FIRST or tokens[-1] < SPAN * tokens[0]:
        raise Undecided("no chat was seen to grow far enough", suspicion=0.03)
    few, many = lines[: len(lines) // 3], lines[-(len(lines) // 3) :]
    steps = [median(step_ms(n) or 0.0 for n in part) for part in (few, many)]
    ends = [median(n.tokens or 0 for n in part) for part in (few, many)]
    if steps[1] < (GROWTH if lines[0].running == 1 else TOGETHER) * steps[0]:
        return Cleared(
            f"a step takes {steps[0]:.1f} ms at {ends[0]:.0f} tokens and {steps[1]:.1f} at"
            f" {ends[1]:.0f}",
            (log,),
        )
    slope = (steps[1] - steps[0]) / (ends[1] - ends[0]) * 1e3
    expected = _expected_slope(config, gpus, Arguments(launch, info, log))
    if expected is None:
        return _follows_the_length(log, lines, few, many, slope)
    if slope > FACTOR * expected:
        raise Undecided(
            f"a step grows by {slope:.2f} ms for 1000 tokens; reading the cache costs"
            f" {expected:.2f}",
            settle=SETTLE,
            suspicion=0.5,
        )
    loss = (steps[0] / steps[1] - 1) * 100
    return Finding(
        f"A step takes {steps[0]:.1f} ms at {ends[0]:.0f} tokens and {steps[1]:.1f} at"
        f" {ends[1]:.0f}: {slope:.2f} ms for 1000 tokens, and reading the cache costs"
        f" {expected:.2f}.",
        shown_by=(log,),
        confidence=0.75,
        slows=frozenset({"decode"}),
        effect=Effect(decode_pct=(loss - 2, loss, loss + 2), source="the Decode lines"),
        remedy=LENGTH_REMEDY,
        quotes=(*quoted(few[:1]), *quoted(many[-1:])),
    )


_SAID = (
    "because of using torch native attention",
    "because of using torch flex attention",
    "will fallback to torch_native",
    "will fall back to torch_native",
)


def _alike(traffic: Traffic) -> list[DecodeLine]:
    """Return the lines of one request, else of the usual number: the load that stays the same."""
    for running in (1, traffic.usual_running):
        lines = [n for n in traffic.at(running) if n.tokens and step_ms(n)]
        if len(lines) >= LINES:
            return lines
    return []


def _follows_the_length(
    log: ServerLog,
    lines: list[DecodeLine],
    few: list[DecodeLine],
    many: list[DecodeLine],
    slope: float,
) -> Finding:
    """Tell that the length explains the rate, where it is not known what a length must cost."""
    if not _in_a_line(lines):
        raise Undecided(
            f"a step grows by {slope:.2f} ms for 1000 tokens, with much scatter",
            settle=f"the model's config.json and nvidia-smi -L; or {SETTLE}",
            suspicion=0.3,
        )
    ends = [(part[0].tokens or 0, step_ms(part[0]) or 0.0) for part in (few, many[::-1])]
    loss = (ends[0][1] / ends[1][1] - 1) * 100
    return Finding(
        f"The rate follows the length of the chat and nothing else: a step takes {ends[0][1]:.1f} ms"
        f" at {ends[0][0]} tokens and {ends[1][1]:.1f} ms at {ends[1][0]}, {slope:.2f} ms more for"
        " each 1000 tokens of cache that it must read. Whether it reads them as fast as this GPU"
        " can is not known without the model's config.json and the GPU's name.",
        shown_by=(log,),
        confidence=0.6,
        slows=frozenset({"decode"}),
        effect=Effect(decode_pct=(loss - 2, loss, loss + 2), source="the Decode lines"),
        remedy=LENGTH_REMEDY,
        quotes=(*quoted(few[:1]), *quoted(many[-1:])),
    )


def _in_a_line(lines: list[DecodeLine]) -> bool:
    """Say whether steps lie on one straight line over the tokens."""
    told = [(float(n.tokens or 0), step_ms(n) or 0.0) for n in lines]
    return correlation(*zip(*told, strict=True)) >= STRAIGHT


def _slow(log: ServerLog, gpus: Gpus, args: Arguments, bounds: Bounds) -> Finding:
    backend = args.text("decode_attention_backend") or args.text("attention_backend") or "in use"
    card = bounds.card_ms or 0.0
    return Finding(
        f"A step of {bounds.running} requests takes {bounds.step_ms:.0f} ms; reading everything"
        f" the GPU holds takes {card:.0f} ms, and {bounds.usage:.0%} of the cache is in use. The"
        f" difference grows with the cache, so the attention backend ({backend}) is the suspect.",
        shown_by=(log, gpus),
        confidence=0.6,
        slows=frozenset({"decode", "throughput"}),
        effect=Effect(
            decode_pct=(-75.0, -50.0, -20.0), source="measured step against reading the card once"
        ),
        remedy=(f"A/B: {SETTLE}.",),
        quotes=(*quoted(Traffic(log).steady[:1]), f"attention_backend={backend}"),
    )


def _expected_slope(config: ModelConfig | None, gpus: Gpus | None, args: Arguments) -> float | None:
    """Return what 1000 tokens of cache cost a step, ms."""
    names = set(gpus.names) if gpus else set()
    gpu = gpu_named(names.pop()) if len(names) == 1 else None
    if gpu is None or config is None or not (config.layers and config.kv_heads and config.head_dim):
        return None
    layers = config.full_attention_layers or config.layers
    each = 576 if config.mla else 2 * config.kv_heads * config.head_dim
    size = 1 if args.text("kv_cache_dtype").startswith("fp8") else 2
    split = 1 if config.mla else args.tp or 1
    return layers * each * size * 1e3 / split / (gpu.bandwidth_gb_s * gpu.decode_fraction) / 1e6


RULES = (attention_without_kernels, attention_slower_than_its_cache, step_grows_with_context)
