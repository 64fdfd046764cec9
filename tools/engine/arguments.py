"""One argument's three values: asked for, resolved by the engine, in effect in the schedulers."""

from __future__ import annotations

import math
import re

from tools.engine.launch import EngineName, Launch, Value
from tools.engine.log import ServerLog
from tools.engine.parallel import tp_size
from tools.engine.server import ServerInfo

# One meaning under several names: SGLang over its versions, and vLLM.
_NAMES: dict[str, tuple[str, ...]] = {
    "tp_size": ("tp_size", "tensor_parallel_size", "tp"),
    "pp_size": ("pp_size", "pipeline_parallel_size", "pp"),
    "dp_size": ("dp_size", "data_parallel_size", "dp"),
    "disable_cuda_graph": ("disable_cuda_graph", "disable_decode_cuda_graph", "enforce_eager"),
    "cuda_graph_max_bs": ("cuda_graph_max_bs_decode", "cuda_graph_max_bs"),
    "max_running_requests": ("max_running_requests", "max_num_seqs"),
    "context_length": ("context_length", "max_model_len", "max_seq_len"),
    "model_path": ("model_path", "model", "model_tag"),
    "mem_fraction_static": ("mem_fraction_static", "mem_fraction", "gpu_memory_utilization"),
    "draft": ("speculative_draft_model_path", "speculative_draft_model", "speculative_config"),
}
_NUMBERS = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")
Version = tuple[int, int, int]


class Arguments:
    """What was asked, what the engine made of it, and what its schedulers run with.

    A value that differs between ranks counts as the first rank's. None: not told, or None itself.
    """

    def __init__(
        self,
        launch: Launch | None = None,
        info: ServerInfo | None = None,
        log: ServerLog | None = None,
    ) -> None:
        self._asked = launch.flags if launch else None
        self._info = info
        self._log = log
        self._launch = launch

    @property
    def seen(self) -> bool:
        """Say whether the command line was seen, so that what is missing from it was not asked."""
        return self._asked is not None

    @property
    def dumped(self) -> bool:
        """Say whether the engine's resolved arguments were seen."""
        return bool((self._log and self._log.resolved) or (self._info and self._info.resolved))

    @property
    def engine(self) -> EngineName | None:
        """Return which engine it is; an answer of the server is SGLang's."""
        told = (self._launch and self._launch.engine) or (self._log and self._log.engine)
        return told or ("sglang" if self._info else None)

    @property
    def version(self) -> Version | None:
        """Return the engine's version as three numbers."""
        for source in (self._info, self._launch, self._log):
            found = _NUMBERS.search((source.version if source else None) or "")
            if found:
                return int(found[1]), int(found[2]), int(found[3] or 0)
        return None

    def asked(self, name: str) -> Value:
        """Return what was typed for an argument, under any of its names."""
        return _of(self._asked, name)

    def was_asked(self, name: str) -> bool:
        """Say whether it was typed at all."""
        return any(one in (self._asked or {}) for one in _NAMES.get(name, (name,)))

    def resolved(self, name: str) -> Value:
        """Return what the main process made of it: the server's answer, else the log's dump."""
        told = _of(self._info.resolved if self._info else None, name)
        return _of(self._log.resolved if self._log else None, name) if told is None else told

    def effective(self, name: str) -> Value:
        """Return what the first scheduler runs with, else the resolved value."""
        ranks = self._info.effective if self._info else ()
        told = _of(ranks[0], name) if ranks else None
        return self.resolved(name) if told is None else told

    def value(self, name: str) -> Value:
        """Return the value nearest to the truth: in effect, else resolved, else asked."""
        told = self.effective(name)
        return self.asked(name) if told is None else told

    def on(self, name: str) -> bool:
        """Say whether a switch is on."""
        return is_on(self.value(name))

    def asked_on(self, name: str) -> bool:
        """Say whether a switch was typed."""
        return is_on(self.asked(name))

    def number(self, name: str) -> float | None:
        """Return a value as a number."""
        return as_number(self.value(name))

    def count(self, name: str) -> int | None:
        """Return a value as a whole number."""
        number = self.number(name)
        return None if number is None else int(number)

    def text(self, name: str) -> str:
        """Return a value as lower-case text, empty where there is none."""
        value = self.value(name)
        return "" if value is None else str(value).lower()

    def flags(self, *names: str) -> tuple[str, ...]:
        """Return the arguments of these names as they were typed, for quotation."""
        typed = self._asked or {}
        return tuple(
            f"--{one.replace('_', '-')}" + ("" if is_on(typed[one]) else f" {typed[one]}")
            for name in names
            for one in _NAMES.get(name, (name,))
            if one in typed
        )

    @property
    def tp(self) -> int | None:
        """Return over how many GPUs each layer is split; a command line without it means 1."""
        told = tp_size(self._launch, self._log, self._info)
        return 1 if told is None and (self.seen or self.dumped) else told

    @property
    def nodes(self) -> int | None:
        """Return over how many machines it runs; a command line without it means 1."""
        told = self.count("nnodes")
        if told is not None or self.text("distributed_executor_backend") == "ray":
            return told
        return 1 if self.seen or self.dumped else None

    @property
    def speculative(self) -> str:
        """Return the algorithm of speculative decoding in lower case, empty where there is none."""
        told = self.text("speculative_algorithm") or self.text("speculative_config")
        return "" if told in ("none", "null", "{}", "false") else told


def is_on(value: Value) -> bool:
    """Say whether a value switches something on."""
    return value is True or (isinstance(value, str) and value.lower() in ("true", "1", "yes", "on"))


def as_number(value: Value) -> float | None:
    """Return a value as a number; a switch is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _of(values: dict[str, Value] | None, name: str) -> Value:
    return next(
        (
            values[one]
            for one in _NAMES.get(name, (name,))
            if values and values.get(one) is not None
        ),
        None,
    )
