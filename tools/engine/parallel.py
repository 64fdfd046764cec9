"""Over how many GPUs one copy of a model is split, as launch, log or server tell it."""

from __future__ import annotations

from tools.engine.launch import Launch, Value
from tools.engine.log import ServerLog
from tools.engine.server import ServerInfo

# SGLang's field, vLLM's field (sglang 0.5.11 server_args.py; vllm 0.18 arg_utils.py).
_NAMES = ("tp_size", "tensor_parallel_size")


def argument(
    names: tuple[str, ...], launch: Launch | None, log: ServerLog | None, info: ServerInfo | None
) -> Value:
    """Return the first value told under any of some names: running before resolved before asked."""
    sources = (
        info.resolved if info else {},
        (log.resolved if log else None) or {},
        (launch.flags if launch else None) or {},
    )
    found = (source.get(name) for source in sources for name in names)
    return next((value for value in found if value is not None), None)


def tp_size(launch: Launch | None, log: ServerLog | None, info: ServerInfo | None) -> int | None:
    """Return the tensor-parallel size, None where nothing tells it.

    A command line that was read and names none means 1, which is the default of both engines.
    """
    told = argument(_NAMES, launch, log, info)
    if isinstance(told, int | str) and str(told).isdecimal():
        return int(told)
    ranks = _ranks(log)
    if ranks:
        return ranks
    return 1 if launch is not None and launch.flags else None


def _ranks(log: ServerLog | None) -> int | None:
    """Return the number of TP ranks that speak in the log; None for one, which may be of many."""
    if log is None:
        return None
    labels = {line.rank for line in log.decode} | {line.rank for line in log.prefill}
    labels |= {notice.rank for notice in log.notices}
    words = [word for label in labels for word in label.replace("_", " ").split()]
    numbers = [int(word[2:]) for word in words if word[:2] == "TP" and word[2:].isdecimal()]
    highest = max(numbers, default=0)
    return highest + 1 if highest else None
