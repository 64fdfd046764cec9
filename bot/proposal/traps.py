"""What is to be known before a change is tried: its traps on this server, and what it interrupts."""

from __future__ import annotations

from collections.abc import Iterator

from tools.change import Change
from tools.change.change import Value
from tools.engine import Arguments, Launch, Metrics, ModelConfig, ServerInfo, ServerLog
from tools.engine.arguments import as_number
from tools.knowledge.pitfalls import Turn, all_pitfalls
from tools.knowledge.traps import traps_for
from tools.known import Known

_NO_BUFFER = "no_buffer_ends_the_launch"  # of tools/knowledge/traps.yaml
# What a trap needs, in words; whether it holds here is not known.
_NEEDS = {
    "eagle": "EAGLE or MTP speculation",
    "speculation": "speculation",
    "hybrid": "a hybrid model",
    "pcie_pair": "no NVLink between two GPUs",
    "several_gpus": "more than one GPU",
    "radix_cache": "a prefix cache",
    "torch_native": "the torch_native attention backend",
    "not_sm90_sm100": "a GPU other than Hopper and Blackwell",
    "multimodal": "a model that sees images",
}
_RUNNING = ("num_running_reqs", "num_requests_running")  # gauges of SGLang and of vLLM
_WAITING = ("num_queue_reqs", "num_requests_waiting")


def traps(change: Change, known: Known) -> Iterator[str]:
    """Yield a sentence for each trap that waits for this change on this server."""
    arguments = Arguments(known.get(Launch), known.get(ServerInfo), known.get(ServerLog))
    kinds = frozenset(_kinds(known, arguments))
    version = ".".join(map(str, arguments.version)) if arguments.version else None
    told = dict.fromkeys(_of_engine(change, kinds, version))
    for flag, turns in _turns(change, arguments):
        for one in all_pitfalls():
            if one.waits(flag, turns, kinds, version):
                told[f"{_shown(flag)}: {one.text}"] = None
    yield from told


def _of_engine(change: Change, kinds: frozenset[str], version: str | None) -> Iterator[str]:
    """Yield what a release itself does with what is set: tools/knowledge/traps.yaml has file and line."""
    names = [*(name for name, value in change.set.items() if value is not False), *change.env]
    names += [name for name in change.unset if name.startswith("disable_")]  # switches it on again
    holds = _holds(kinds)
    for trap in traps_for(names, version, holds) if version else ():
        open_ = trap.open(holds)
        where = (
            f" (if there is {' and '.join(_NEEDS.get(one, one) for one in open_)})" if open_ else ""
        )
        happens = trap.happens.rstrip(".")
        yield f"{happens[:1].upper()}{happens[1:]}{where}."


def needs_buffer(known: Known) -> bool:
    """Say whether this server starts with a prefix cache only if states are kept with a buffer of their own."""
    arguments = Arguments(known.get(Launch), known.get(ServerInfo), known.get(ServerLog))
    version = ".".join(map(str, arguments.version)) if arguments.version else ""
    holds = _holds(frozenset(_kinds(known, arguments)))
    traps_of_it = traps_for(["disable_radix_cache"], version, holds) if version else ()
    return any(one.id == _NO_BUFFER for one in traps_of_it)


def _holds(kinds: frozenset[str]) -> dict[str, bool]:
    needs = {"eagle": "speculative", "speculation": "speculative", "several_gpus": "several"}
    return {name: needs.get(name, name) in kinds for name in ("multimodal", "hybrid", *needs)}


def interrupts(known: Known) -> Iterator[str]:
    """Yield what stops while the server is restarted, and how long that took the last time."""
    metrics = known.get(Metrics)
    running = _gauge(metrics, _RUNNING)
    if running is None:
        yield "How many requests run now is not known: the server's metrics do not tell."
    else:
        waiting = _gauge(metrics, _WAITING)
        queued = f", and {waiting:.0f} wait" if waiting else ""
        yield f"{running:.0f} request{'' if running == 1 else 's'} run{'s' if running == 1 else ''} now{queued}."
    log = known.get(ServerLog)
    if log is not None and log.start_s is not None:
        yield f"The server is away while it starts: the last start took {log.start_s:.0f} s until it was ready."
    elif log is not None and log.load_s is not None:
        yield f"The server is away while it starts: the last start took {log.load_s:.0f} s for the weights alone."
    else:
        yield "The server is away while it starts; how long its last start took is not known."


def _turns(change: Change, arguments: Arguments) -> Iterator[tuple[str, tuple[Turn, ...]]]:
    for name, value in change.set.items():
        yield name, ("set", *_direction(arguments.value(name), value))
    for name in (*change.unset, *change.unset_env):
        yield name, ("unset",)
    for name in change.env:
        yield name, ("set",)


def _direction(before: Value | tuple[str, ...] | None, after: Value) -> tuple[Turn, ...]:
    old = None if isinstance(before, tuple) else as_number(before)
    new = as_number(after)
    if old is None or new is None or old == new:
        return ()
    return ("up",) if new > old else ("down",)


def _kinds(known: Known, arguments: Arguments) -> Iterator[str]:
    if arguments.speculative:
        yield "speculative"
    if (arguments.tp or 1) > 1:
        yield "several"
    log, config = known.get(ServerLog), known.get(ModelConfig)
    if (log and log.mamba_slots) or (config and config.linear_layers):
        yield "hybrid"
    if config and config.multimodal:
        yield "multimodal"


def _gauge(metrics: Metrics | None, names: tuple[str, ...]) -> float | None:
    gauges = metrics.gauges if metrics else {}
    return next((gauges[name] for name in names if name in gauges), None)


def _shown(name: str) -> str:
    return name if name.isupper() else f"--{name.replace('_', '-')}"
