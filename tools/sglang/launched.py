"""What our script on the host tells of a launch, as facts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tools.engine import EngineName, Launch
from tools.errors import Unreadable
from tools.sglang.args import flat
from tools.sglang.command_line import launch, started

_ENGINES: dict[str, EngineName] = {"sglang": "sglang", "vllm": "vllm", "other": "other"}


def from_script(said: Mapping[str, Any]) -> Launch:
    """Return the facts of the object that the script prints; the command line wins over --config.

    `flags` stays None where the main process shows no command line: SGLang 0.5.2 retitles it, and
    an engine that is used as a library has none.
    """
    argv = said.get("argv")
    if not isinstance(argv, list):
        raise Unreadable("the answer holds no command line")
    found = started([str(word) for word in argv])
    seen = launch(found) if found else Launch()
    config = _mapping(said.get("config"))
    # A switch that the file sets to false is left out: SGLang adds no flag for it.
    asked = {k: v for k, v in flat(_mapping(config.get("flags"))).items() if v is not False}
    package = _mapping(said.get("package"))
    return seen.model_copy(
        update={
            "engine": _ENGINES.get(str(said.get("engine")), seen.engine),
            "flags": None if seen.flags is None else asked | seen.flags,
            "from_config": tuple(sorted(set(asked) - set(seen.flags or {}))),
            "pid": _int(said.get("pid")),
            "user": _text(said.get("user")),
            "port": _int(said.get("port")) or seen.port,
            "container": _text(said.get("container")),
            "unit": _text(said.get("unit")),
            "log_path": _text(_mapping(said.get("log")).get("path")),
            "source_path": _text(package.get("path")),
            "version": _text(package.get("version")) or seen.version,
            "config_file": _text(config.get("file")) or seen.config_file,
            "cpus_allowed": _text(said.get("cpus_allowed")),
            "others": _others(said.get("others")),
        }
    )


def _others(told: object) -> tuple[str, ...]:
    rows = [_mapping(row) for row in told[:64]] if isinstance(told, list) else []
    return tuple(f"{_text(row.get('engine'))} on port {_int(row.get('port'))}" for row in rows)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _int(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text(value: object) -> str | None:
    return value[:1000] if isinstance(value, str) and value else None
