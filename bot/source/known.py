"""What looks at a host, or files, tell of a launch: what the conditions of the source are held against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from tools.engine import Environment, Launch, ModelConfig, ServerInfo, ServerLog
from tools.errors import Absent, ProbeError
from tools.evidence import Evidence
from tools.nvidia.gpus import Gpus
from tools.probe import Facts, told
from tools.provenance.config_file import merged, named
from tools.provenance.given import Given
from tools.provenance.tree import Tree
from tools.sglang.endpoints import arguments_in_effect

_F = TypeVar("_F", bound=Facts)
_VISIBLE = "CUDA_VISIBLE_DEVICES"


@dataclass(frozen=True)
class Known:
    """What was told; `config` is the file of --config, and `missing` says what was not told and why."""

    given: Given
    config: Mapping[str, Any] | None = None
    missing: tuple[str, ...] = ()

    def on(self, tree: Tree) -> Given:
        """Return it as one launch: what the file of --config says is put before the command line."""
        argv = merged(self.given.argv, self.config or {}, tree)
        return replace(self.given, argv=argv)


def known_of(looks: Sequence[Evidence]) -> Known:
    """Return what looks at a host tell of its launch; raise Absent where no command line was seen."""
    launch = _look(looks, Launch)
    if launch is None or launch.output is None:
        raise Absent(f"how the server was started is not known: {_why(looks, 'ReadLaunch')}")
    said = _printed(launch)
    if not isinstance(said.get("argv"), list) or _facts(launch, Launch).flags is None:
        raise Absent(
            "the server's process does not show the command line it was started with: "
            "give it with --source DIR --argv TEXT"
        )
    argv = tuple(map(str, said["argv"]))
    config = said.get("config") if isinstance(said.get("config"), dict) else {}
    flags = config.get("flags") if config else None
    environment = _look(looks, Environment)
    values = _facts(environment, Environment).values if environment else {}
    given = Given.of(
        argv=argv,
        model_config=_model_config(looks),
        environment=values,
        resolved=_resolved(looks),
        **_machine(looks, values),
    )
    file = {name.replace("_", "-"): value for name, value in (flags or {}).items()}
    return Known(given, file if flags is not None else None, tuple(_missing(looks, argv, flags)))


def _missing(looks: Sequence[Evidence], argv: tuple[str, ...], flags: object) -> list[str]:
    wanted: dict[str, tuple[type[Facts], str]] = {
        "the model's config.json": (ModelConfig, "ReadModelConfig"),
        "the GPU": (Gpus, "ReadGpus"),
        "the server's environment": (Environment, "ReadEnvironment"),
    }
    found = [
        f"{what} ({_why(looks, probe)})"
        for what, (kind, probe) in wanted.items()
        if _look(looks, kind) is None
    ]
    if _resolved(looks) is None:
        found.append(f"what the server runs with ({_why(looks, 'ReadServerInfo')})")
    if named(argv) and flags is None:
        found.append(f"the file of --config, {named(argv)} (it cannot be read there)")
    return found


def _look(looks: Sequence[Evidence], kind: type[Facts]) -> Evidence | None:
    return next((look for look in looks if isinstance(look.facts, kind)), None)


def _facts(look: Evidence, kind: type[_F]) -> _F:
    assert isinstance(look.facts, kind)  # noqa: S101 - `_look` chose it by that
    return look.facts


def _why(looks: Sequence[Evidence], probe: str) -> str:
    trouble = next((look.trouble for look in looks if look.title == probe), "")
    return trouble.partition(": ")[2] or trouble or "it was not asked"


def _printed(look: Evidence) -> dict[str, Any]:
    """Return the object that a script printed; empty where a person gave another text."""
    try:
        return told(look.output.stdout) if look.output else {}
    except ProbeError:
        return {}


def _model_config(looks: Sequence[Evidence]) -> Mapping[str, Any] | None:
    look = _look(looks, ModelConfig)
    said = _printed(look) if look else {}
    config = said.get("config", said)
    return config if isinstance(config, dict) and config else None


def _resolved(looks: Sequence[Evidence]) -> Mapping[str, Any] | None:
    """Return what the server answers of itself; else what its log says it began with."""
    info = _look(looks, ServerInfo)
    if info is not None and info.output is not None:
        return arguments_in_effect(info.output.stdout)
    log = _look(looks, ServerLog)
    dump = _facts(log, ServerLog).resolved if log else None
    if not dump:
        return None
    return {name: value for name, value in dump.items() if _whole(name, value)}


def _whole(name: str, value: object) -> bool:
    """Whether the log's flat form has kept a value as it was: no part of a mapping, no list of texts."""
    return "." not in name and not isinstance(value, tuple) and value != "<dropped>"


def _machine(looks: Sequence[Evidence], environment: Mapping[str, str]) -> dict[str, Any]:
    look = _look(looks, Gpus)
    samples = _facts(look, Gpus).samples if look else ()
    if not samples:
        return {}
    one = {sample.index: sample for sample in samples}
    facts: dict[str, Any] = {"gpu": samples[0].name, "gpus": len(one)}
    visible = environment.get(_VISIBLE)
    if visible is not None:
        facts["gpus"] = len([part for part in visible.split(",") if part.strip()])
    facts["driver"] = _facts(look, Gpus).driver if look else None
    if samples[0].mem_total_mib:
        facts["memory_mib"] = round(samples[0].mem_total_mib)
    major, _, minor = (samples[0].compute_cap or "").partition(".")
    if major.isdigit() and minor.isdigit():
        facts["capability"] = (int(major), int(minor))
    return facts
