"""What /server_info answers, over the versions: its arguments, and what each scheduler runs with.

The top level is the main process' copy; `internal_states` has one entry for each DP rank, which
child processes changed. `memory_usage.graph` is a number up to 0.5.16 and a mapping by phase
since; `effective_max_running_requests_per_dp` exists since 0.5.8; `launch_command` since 0.5.20.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tools.engine import ServerInfo
from tools.engine.launch import Value
from tools.errors import Unreadable
from tools.knowledge.fields import public_names
from tools.probe import JSON
from tools.secrets import DROPPED, scrub
from tools.sglang.args import DUMP_BYTES, flat
from tools.sglang.command_line import words
from tools.sglang.flags import shown
from tools.sglang.scan import scan

# What the answer adds to the arguments: said elsewhere in the facts, or of no use for speed.
_ADDED = frozenset(
    {
        "status", "version", "internal_states", "kv_events", "startup_time", "launch_command",
        "frontend", "env_vars", "load", "max_total_num_tokens", "max_req_input_len",
        "hicache_object_layout", "last_gen_throughput", "memory_usage", "avg_spec_accept_length",
        "effective_max_running_requests_per_dp", "step_time_dict", "world_size",
        "decode_cuda_graph_memory_gb", "decode_cuda_graph_bs",
    }
)  # fmt: skip
# Added names whose numbers may be printed by the script on the host.
COUNTED = _ADDED - {"internal_states", "env_vars", "launch_command", "kv_events"}


def read_server_info(text: str) -> ServerInfo:
    """Read the answer of any version, whole or cut; raise Unreadable where it is something else."""
    return server_info(_tree(text))


def _tree(text: str) -> Mapping[str, Any]:
    start = text.find("{")
    if start < 0:
        raise Unreadable("no JSON object")
    try:
        tree, _ = JSON.raw_decode(text, start)
    except (ValueError, RecursionError):
        tree = scan(text[start + 1 : start + DUMP_BYTES]).tree
    if not isinstance(tree, dict):
        raise Unreadable("the answer is JSON, but no object")
    return tree


def is_server_info(text: str) -> bool:
    """Say whether a text looks like an answer of /server_info: JSON with the engine's fields."""
    start = text.find("{", 0, 4000)
    told = '"tp_size"' in text and '"model_path"' in text and '"port"' in text
    other = "server_args=" in text or '"server_info":' in text  # a log; a benchmark that quotes it
    return start >= 0 and (told or '"internal_states"' in text) and not other


def server_info(tree: Mapping[str, Any]) -> ServerInfo:
    """Return the facts of a parsed answer; raise Unreadable where no field of the engine is in it."""
    states = tree.get("internal_states")
    states = [s for s in states if isinstance(s, Mapping)] if isinstance(states, list) else []
    resolved = _arguments(tree)
    if not ("model_path" in resolved or states):
        raise Unreadable("JSON, but not what /server_info answers")
    memory = [s["memory_usage"] for s in states if isinstance(s.get("memory_usage"), Mapping)]
    return ServerInfo(
        version=_text(tree.get("version")),
        resolved=resolved,
        effective=tuple(_arguments(state) for state in states),
        max_total_tokens=_pool(tree, memory),
        max_running_effective=_least(states, "effective_max_running_requests_per_dp"),
        last_gen_tok_s=_total(states, "last_gen_throughput"),
        accept_len=_mean(states, "avg_spec_accept_length"),
        launch_command=_command(tree.get("launch_command")),
        memory_gb=_memory(memory[0]) if memory else {},
    )


def _arguments(tree: Mapping[str, Any]) -> dict[str, Value]:
    return flat({name: value for name, value in tree.items() if name not in _ADDED})


def arguments_in_effect(text: str) -> dict[str, Any]:
    """Return the arguments with lists and mappings as they were printed; what was dropped is left out.

    Where all schedulers agree, their value stands: they change copies of the main process' arguments.
    Raises Unreadable where the text is no answer of a server.
    """
    tree = _tree(text)
    states = tree.get("internal_states")
    ranks = [_kept(s) for s in states if isinstance(s, dict)] if isinstance(states, list) else []
    found = _kept(tree)
    if "model_path" not in tree and not ranks:
        raise Unreadable("JSON, but not what /server_info answers")
    for name in ranks[0] if ranks else ():
        if all(name in rank and rank[name] == ranks[0][name] for rank in ranks):
            found[name] = ranks[0][name]
    return found


def _kept(tree: Mapping[str, Any]) -> dict[str, Any]:
    silent = (None, True, False)
    return {
        name: value
        for name, value in tree.items()
        if name not in _ADDED and value != DROPPED
        if name in public_names() or any(value is one for one in silent)
    }


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _numbers(states: list[Mapping[str, Any]], name: str) -> list[float]:
    found = (_number(state.get(name)) for state in states)
    return [number for number in found if number is not None]


def _least(states: list[Mapping[str, Any]], name: str) -> int | None:
    """The ranks' lowest: what one rank can run, as its decode lines count."""
    numbers = _numbers(states, name)
    return int(min(numbers)) if numbers else None


def _total(states: list[Mapping[str, Any]], name: str) -> float | None:
    numbers = _numbers(states, name)
    return sum(numbers) if numbers else None


def _mean(states: list[Mapping[str, Any]], name: str) -> float | None:
    numbers = _numbers(states, name)
    return sum(numbers) / len(numbers) if numbers else None


def _pool(tree: Mapping[str, Any], memory: list[Mapping[str, Any]]) -> int | None:
    """The pool as it was allocated; the argument keeps what was asked, even where it was clamped."""
    number = _number(tree.get("max_total_num_tokens"))
    if number is None and memory:
        number = _number(memory[0].get("token_capacity"))
    return int(number) if number is not None else None


def _memory(usage: Mapping[str, Any]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name in ("weight", "kvcache", "startup_available"):
        if (number := _number(usage.get(name))) is not None:
            found[name] = number
    graph = usage.get("graph")
    parts = graph if isinstance(graph, Mapping) else {"": graph}
    numbers = {phase: n for phase, part in parts.items() if (n := _number(part)) is not None}
    found |= {f"graph_{phase}"[:40]: n for phase, n in numbers.items() if phase}
    if numbers:
        found["graph"] = sum(numbers.values())
    return found


def _text(value: object) -> str | None:
    return scrub(value[:80]) if isinstance(value, str) else None


def _command(value: object) -> str | None:
    if not isinstance(value, str):
        return None
    return scrub(" ".join(shown(words(value[:32_000]), "sglang")))


def clean_server_info(text: str) -> str:
    """Return an answer with the values that are off the allow-list dropped, before it is kept."""
    try:
        tree = _tree(text)
    except Unreadable:
        return scrub(text)
    if not tree or not is_server_info(text):
        return scrub(text)
    return scrub(json.dumps(_clean(tree), default=str))


def _clean(tree: Mapping[str, Any]) -> dict[str, Any]:
    names = flat(dict.fromkeys(tree, "x"))
    found: dict[str, Any] = {}
    for name, value in tree.items():
        if name == "internal_states" and isinstance(value, list):
            found[name] = [_clean(state) for state in value if isinstance(state, Mapping)]
        elif name == "launch_command":
            found[name] = _command(value)
        elif names.get(name) == "x" or name in COUNTED or value in (None, True, False, "", [], {}):
            found[name] = value
        else:
            found[name] = "<dropped>"
    return found
