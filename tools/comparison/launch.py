"""What was launched: engine, version, model, arguments asked and resolved, environment, and what the log shows."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tools.comparison.trait import Term, Trait
from tools.engine import Arguments, Environment, Launch, ModelConfig, ServerInfo, ServerLog, Value
from tools.engine.traffic import largest_graph
from tools.physics.seen import Get
from tools.probe import Facts

# Arguments that differ between any two servers, or bear on nothing.
_NOISE = re.compile(
    r"random_seed|port|host|nccl_port|dist_init_addr|served_model_name|model_path|model|model_tag|tokenizer(?:_path)?"
    r"|log_level(?:_http)?|log_requests(?:_level)?|download_dir|api_key|admin_api_key|base_gpu_id|node_rank|revision"
    r"|file_storage_path|warmups|watchdog_timeout|soft_watchdog_timeout|speculative_draft_model_path|crash_dump_folder"
    r"|custom_sigquit_handler|prefill_decode_port|grpc_port|grpc_http_sidecar_port|model_loader_extra_config"
    r"|last_gen_throughput|avg_spec_accept_length|memory_usage|tool_call_parser|reasoning_parser|chat_template"
    r"|enable_metrics(?:_\w+)?|\w+_url|\w+_(?:dir|folder|path|file)|config_file|\w+_port|device|trust_remote_code"
)
# Variables whose values are places, numbers of devices, or of the image and nothing else.
_NO_VARIABLE = re.compile(
    r".*(?:_PATH|_DIR|_HOME|_ROOT|_FOLDER|_FILE|_PORT|_ADDR|_HOST|_UUID|_URL|_CACHE)|CUDA_VISIBLE_DEVICES"
    r"|NVIDIA_(?:VISIBLE_DEVICES|DRIVER_CAPABILITIES|REQUIRE_\w+|PRODUCT_NAME)|PYTHON\w+|NCCL_SOCKET_IFNAME|GLOO_SOCKET_IFNAME"
    r"|NCCL_DEBUG(?:_\w+)?|LD_\w+|SGLANG_HOST_IP"
)
# Arguments of which the step model knows what they change.
_TERMS: dict[str, Term] = {
    "tp_size": "tp",
    "tensor_parallel_size": "tp",
    "quantization": "checkpoint",
    "dtype": "checkpoint",
    "kv_cache_dtype": "kv_cache",
    "speculative_algorithm": "drafts",
    "speculative_num_steps": "drafts",
    "speculative_num_draft_tokens": "drafts",
    "disable_overlap_schedule": "host",
    "disable_cuda_graph": "graph",
    "enforce_eager": "graph",
    "chunked_prefill_size": "chunk",
    "disable_custom_all_reduce": "custom",
}
_SHOWN = 60  # characters of a value
_RESOLVED_SLACK = (
    0.03  # of figures that the engine works out from free memory, which differ by a little
)
_NOT_SET = "not set"


def launch(get: Get) -> Iterator[Trait]:
    """Yield what is known of the launch."""
    args = Arguments(get(Launch), get(ServerInfo), get(ServerLog))
    yield from _deployed(get, args)
    yield from _arguments(get, args)
    environment = get(Environment)
    for name, value in (environment.values if environment else {}).items():
        if environment and not _NO_VARIABLE.fullmatch(name):
            yield Trait(
                name, value[:_SHOWN], "launch",
                weight=4, words=(name,), absent=_NOT_SET, shown_by=(environment,),
            )  # fmt: skip
    if log := get(ServerLog):
        yield from _observed(log)


def _deployed(get: Get, args: Arguments) -> Iterator[Trait]:
    by = _sources(get)
    info, started, log = get(ServerInfo), get(Launch), get(ServerLog)
    version = next((one.version for one in (info, started, log) if one and one.version), None)
    path = args.value("model_path")
    if args.engine:
        yield Trait("engine", args.engine, "launch", weight=8, term="host", shown_by=by)
    if version:
        causes = ("version_regression", "overlap_off_spec_v1")
        yield Trait(
            "engine version", version, "launch", weight=8, term="host", causes=causes, shown_by=by
        )
    if isinstance(path, str) and path.strip("/"):
        name = path.rstrip("/").rsplit("/", 1)[-1][:_SHOWN]
        yield Trait("model", name, "launch", weight=9, term="checkpoint", shown_by=by)
    config = get(ModelConfig)
    if config and config.architecture:
        yield Trait(
            "architecture", config.architecture, "launch",
            weight=7, term="checkpoint", shown_by=(config,),
        )  # fmt: skip


def _sources(get: Get) -> tuple[Facts, ...]:
    return tuple(one for one in (get(Launch), get(ServerInfo), get(ServerLog)) if one is not None)


def _arguments(get: Get, args: Arguments) -> Iterator[Trait]:
    """Yield each argument as it runs. One that only one side has counts where somebody typed it."""
    log, info, started = get(ServerLog), get(ServerInfo), get(Launch)
    typed = (started.flags if started else None) or {}
    dump = ((log.resolved if log else None) or {}) | (info.resolved if info else {})
    by = _sources(get)
    for name in dict.fromkeys((*typed, *dump)):
        value = args.value(name)
        if value is not None and not _NOISE.fullmatch(name):
            asked = name in typed
            yield Trait(
                name, _told(value, typed.get(name)), "launch", _figure(value),
                slack=0.0 if asked else _RESOLVED_SLACK,
                weight=6 if asked else 3, term=_TERMS.get(name),
                words=(name, f"--{name.replace('_', '-')}"),
                absent=_NOT_SET if asked else "", shown_by=by,
            )  # fmt: skip


def _told(value: Value, asked: Value) -> str:
    """Write a value as it runs, and what was asked for where the engine made another of it."""
    runs = _written(value)
    parted = asked is not None and _written(asked) != runs
    return f"{runs} (asked for: {_written(asked)})" if parted else runs


def _written(value: Value) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return " ".join(map(str, value))[:_SHOWN] if isinstance(value, tuple) else str(value)[:_SHOWN]


def _figure(value: Value) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _observed(log: ServerLog) -> Iterator[Trait]:
    """Yield what the log shows to be so, whatever was asked for."""
    by = (log,)
    if reach := largest_graph(log):
        causes: tuple[str, ...] = ("cuda_graph_bs_exceeded",)
        yield Trait(
            "decode graphs up to", str(reach), "launch", weight=4, causes=causes, shown_by=by
        )
    for name, pool, causes in (
        ("KV pool (tokens)", log.max_total_tokens, ("kv_pool_small", "memory_fraction_too_low")),
        ("most running", log.max_running, ("batching_limits", "mamba_state_cap")),
    ):
        if pool:
            yield Trait(
                name, f"{pool:,}", "launch", pool, _RESOLVED_SLACK,
                weight=3, causes=causes, shown_by=by,
            )  # fmt: skip
