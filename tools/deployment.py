"""What is served on what: the one line that names a deployment, and its measured rate."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from tools.engine import Launch, ModelConfig, ServerInfo, ServerLog, Value
from tools.known import Known
from tools.linux.machine import Machine
from tools.nvidia.gpus import Gpus

_ENGINES = {"sglang": "SGLang", "vllm": "vLLM"}


@dataclass(frozen=True)
class Deployment:
    """GPUs, engine, model and parallelism as far as they are known."""

    gpus: tuple[str, ...] = ()
    engine: str | None = None
    version: str | None = None
    model: str | None = None
    tp: int | None = None
    container: str | None = None
    guest_of: str | None = None

    @classmethod
    def of(cls, known: Known) -> Deployment:
        """Gather what the looks tell of it; None where they do not."""
        gpus, machine = known.get(Gpus), known.get(Machine)
        launch, info, log = known.get(Launch), known.get(ServerInfo), known.get(ServerLog)
        spoke = [
            one
            for one in (info and info.version, launch and launch.version, log and log.version)
            if one
        ]
        engine = (launch and launch.engine) or (log and log.engine) or ("sglang" if info else None)
        return cls(
            gpus=gpus.names if gpus else (),
            engine=engine,
            version=spoke[0] if spoke else None,
            model=_model(known),
            tp=_tp(known),
            container=(launch.container if launch else None) or (machine.virt if machine else None),
            guest_of=machine.guest_of if machine else None,
        )

    def __str__(self) -> str:
        names = Counter(name.removeprefix("NVIDIA ") for name in self.gpus)
        parts = [", ".join(f"{n}x {name}" for name, n in names.items())]
        if self.engine in _ENGINES:
            parts.append(" ".join(filter(None, (_ENGINES[self.engine], self.version))))
        parts.append(self.model or "")
        parts.append(f"TP {self.tp}" if self.tp else "")
        return ", ".join(part for part in parts if part)


def _argument(known: Known, *names: str) -> Value:
    """Return the first value that any of the three tells of an argument, running before asked."""
    info, log, launch = known.get(ServerInfo), known.get(ServerLog), known.get(Launch)
    sources = [
        info.resolved if info else {},
        (log.resolved if log else None) or {},
        (launch.flags if launch else None) or {},
    ]
    return next(
        (source[name] for source in sources for name in names if source.get(name) is not None), None
    )


def _model(known: Known) -> str | None:
    path = _argument(known, "served_model_name", "model_path", "model", "model_tag")
    if isinstance(path, str) and path.strip("/"):
        return path.rstrip("/").rsplit("/", 1)[-1]
    config = known.get(ModelConfig)
    return config.architecture if config else None


def _tp(known: Known) -> int | None:
    size = _argument(known, "tp_size", "tensor_parallel_size")
    return int(size) if isinstance(size, int | str) and str(size).isdecimal() else None
