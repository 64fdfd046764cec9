"""What CT129's server tells of itself: launch, environment, model, source, metrics.

Forms: tools/remote/launch.py, environment.py, model_config.py, source_lines.py, metrics.py and
server_info.py. The source lines are those of the wheel of SGLang 0.5.11.
"""

from __future__ import annotations

import json
from typing import Any

from tests.scenarios.ct129 import arguments, pretended_source, serve_log, story
from tools.probes.source_texts import packed

NEEDLE = "disable_piecewise_cuda_graph"
_ON = "self.disable_piecewise_cuda_graph = True"
# line of srt/server_args.py -> text; the rules of _handle_piecewise_cuda_graph are 1203 to 1261
_SERVER_ARGS: dict[int, str] = {
    665: "    disable_piecewise_cuda_graph: bool = False",
    1187: "            if not self.disable_piecewise_cuda_graph:",
    1192: f"            {_ON}",
    1197: "            self.disable_piecewise_cuda_graph = False",
    **dict.fromkeys((1203, 1206, 1209, 1212, 1215, 1224, 1227, 1230, 1237, 1240, 1243, 1246, 1249, 1252, 1255, 1258, 1261), f"            {_ON}"),
    1221: f"                {_ON}",
    1277: f"        {_ON}",
    1458: "            if not self.disable_piecewise_cuda_graph:",
    1765: "                if not self.disable_piecewise_cuda_graph:",
    3047: f"            {_ON}",
    3779: "            if self.disable_piecewise_cuda_graph:",
}  # fmt: skip
_SOURCE: tuple[tuple[str, int, str], ...] = (
    (
        "srt/model_executor/model_runner.py",
        2805,
        "        if self.server_args.disable_piecewise_cuda_graph:",
    ),
    (
        "srt/models/qwen3_5.py",
        426,
        "            or not get_global_server_args().disable_piecewise_cuda_graph",
    ),
    *(("srt/server_args.py", line, text) for line, text in sorted(_SERVER_ARGS.items())),
)


def _titles() -> list[dict[str, Any]]:
    return [
        {"pid": story.MAIN_PID + 3, "title": "python3"},
        {"pid": story.TP0_PID, "title": "sglang::scheduler_TP0"},
        {"pid": story.TP1_PID, "title": "sglang::scheduler_TP1"},
        {"pid": story.DETOKENIZER_PID, "title": "sglang::detokenizer"},
    ]


def found() -> dict[str, Any]:
    """Return the server as find_server.py sees it."""
    return {
        "pid": story.MAIN_PID,
        "argv": list(arguments.asked()),
        "engine": "sglang",
        "uid": 998,
        "port": story.PORT,
        "listening": [["0.0.0.0", story.PORT]],
        "cwd": "/opt/sglang",
        "python": "/usr/bin/python3.12",
        "env_readable": True,
        "log": {"kind": "file", "path": story.LOG_PATH, "fd": 1},
        "root": "",
        "children": _titles(),
        "cpus_allowed": "0-31",
        "container": "lxc",
        "container_id": None,
        "unit": "sglang.service",
        "user": "sglang",
        "published": [],
        "not_readable": [],
    }


def launch() -> str:
    """Return how it was started: nobody typed --disable-piecewise-cuda-graph."""
    package = {"path": story.PACKAGE, "version": story.VERSION, "editable": False}
    return json.dumps({**found(), "config": None, "package": package, "others": []}) + "\n"


def environment() -> str:
    """Return the variables that bear on speed; those of NCCL are harmless here."""
    kept = {name: value for name, value in arguments.ENVIRONMENT.items() if name != "PATH"}
    return json.dumps({"values": kept, "dropped": 14, "pid": story.MAIN_PID}) + "\n"


def model_config() -> str:
    """Return the model's config.json."""
    told = {"path": story.MODEL, "model": story.MODEL, "config": story.config_json()}
    return json.dumps(told) + "\n"


def source_lines() -> str:
    """Return every line of the installed source that names the flag."""
    lines = [{"path": path, "line": line, "text": text} for path, line, text in _SOURCE]
    told = {
        "needle": NEEDLE,
        "version": story.VERSION,
        "root": story.PACKAGE,
        "cut": False,
        "found": lines,
    }
    return json.dumps(told) + "\n"


def server_info(tok_s: float) -> dict[str, Any]:
    """Return the answer of /server_info as the server gives it."""
    return arguments.server_info(serve_log.POOL_TOKENS, tok_s)


def metrics(engine: serve_log.Engine, window_s: float) -> str:
    """Return two readings some seconds apart, in the middle of one answer."""
    first, second = _page(engine, 2.0), _page(engine, 2.0 + window_s)
    return json.dumps({"first": first, "second": second, "window_s": window_s}) + "\n"


def _page(engine: serve_log.Engine, seconds: float) -> str:
    """Return the page when an answer of 1,840 prompt tokens has been written for some seconds."""
    rate, prompt = story.ACCEPT_LEN / story.STEP_MS * 1e3, 1840
    made = round(seconds * rate)
    steps = round(engine.totals["steps"] + seconds / story.STEP_MS * 1e3)
    held = prompt + made
    scheduler = (
        'engine_type="unified",model_name="qwen3.6-27b",moe_ep_rank="0",pp_rank="0",tp_rank="0"'
    )
    model = 'model_name="qwen3.6-27b"'
    done, output = engine.totals["requests"], round(engine.totals["output"])
    rows: list[tuple[str, str, str, float]] = [
        ("max_total_num_tokens", "gauge", scheduler, serve_log.POOL_TOKENS),
        ("num_running_reqs", "gauge", scheduler, 1),
        ("num_queue_reqs", "gauge", scheduler, 0),
        ("num_used_tokens", "gauge", scheduler, held),
        ("token_usage", "gauge", scheduler, round(held / serve_log.POOL_TOKENS, 5)),
        ("full_token_usage", "gauge", scheduler, round(held / serve_log.POOL_TOKENS, 5)),
        ("mamba_usage", "gauge", scheduler, round(1 / story.MAX_RUNNING, 5)),
        ("gen_throughput", "gauge", scheduler, round(rate, 4)),
        ("spec_accept_length", "gauge", scheduler, story.ACCEPT_LEN),
        (
            "spec_accept_rate",
            "gauge",
            scheduler,
            round((story.ACCEPT_LEN - 1) / story.DRAFT_STEPS, 4),
        ),
        ("cache_hit_rate", "gauge", scheduler, 0),
        ("num_retracted_reqs", "gauge", scheduler, 0),
        ("is_cuda_graph", "gauge", scheduler, 1),
        ("utilization", "gauge", scheduler, round(1 / story.MAX_RUNNING, 5)),
        ("cuda_graph_passes_total", "counter", f'{scheduler},mode="decode_cuda_graph"', steps),
        ("cuda_graph_passes_total", "counter", f'{scheduler},mode="decode_none"', 0),
        ("cuda_graph_passes_total", "counter", f'{scheduler},mode="prefill_cuda_graph"', 0),
        (
            "cuda_graph_passes_total",
            "counter",
            f'{scheduler},mode="prefill_none"',
            engine.prefills + 1,
        ),
        ("prompt_tokens_total", "counter", model, engine.totals["prompt"] + prompt),
        ("generation_tokens_total", "counter", model, output + made),
        ("num_requests_total", "counter", model, done),
        ("num_aborted_requests_total", "counter", model, 0),
        ("num_retracted_requests_total", "counter", scheduler, 0),
        ("inter_token_latency_seconds_sum", "histogram", model, round((output + made) / rate, 3)),
        ("inter_token_latency_seconds_count", "histogram", model, output + made),
        ("queue_time_seconds_sum", "histogram", scheduler, round(done * 0.19, 3)),
        ("queue_time_seconds_count", "histogram", scheduler, done),
    ]
    lines, typed = [], set()
    for name, kind, labels, value in rows:
        family = name.removesuffix("_sum").removesuffix("_count") if kind == "histogram" else name
        if family not in typed:
            typed.add(family)
            lines.append(f"# TYPE sglang:{family} {kind}")
        lines.append(f"sglang:{name}{{{labels}}} {float(value)!r}")
    return "\n".join(lines)


def source_parts() -> str:
    """Return the pretended source of the engine, as a look keeps it."""
    return packed(pretended_source.texts())
