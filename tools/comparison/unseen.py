"""What one side lacks that the other has, why two loads cannot be compared, and the test that could."""

from __future__ import annotations

from collections.abc import Iterator

from tools.comparison.decode import Decode
from tools.comparison.side import Side
from tools.engine import Environment, Launch, ModelConfig, ServerInfo, ServerLog
from tools.engine.traffic import Traffic
from tools.linux.machine import Machine
from tools.nvidia.gpus import Gpus
from tools.nvidia.topology import Topology
from tools.probe import Facts

_KINDS: tuple[tuple[str, tuple[type[Facts], ...]], ...] = (
    ("the GPUs", (Gpus,)),
    ("the serve log", (ServerLog,)),
    ("the arguments", (Launch, ServerInfo)),
    ("the model's config", (ModelConfig,)),
    ("the paths between the GPUs", (Topology,)),
    ("the machine", (Machine,)),
    ("the environment", (Environment,)),
)
_AT_ONCE = 256  # requests of a test; more measure the queue
_PROMPTS_EACH = 8  # requests of a test one after the other, in each place
Measured = dict[int, Decode]


def unseen(here: Side, there: Side) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what was seen of the other side alone, for each side."""
    mine, theirs = set(_seen(here)), set(_seen(there))
    names = [*(name for name, _ in _KINDS), _AT_WORK]
    return (
        tuple(name for name in names if name in theirs - mine),
        tuple(name for name in names if name in mine - theirs),
    )


_AT_WORK = "a GPU at work"


def _seen(side: Side) -> Iterator[str]:
    for name, kinds in _KINDS:
        if any(side.known.get(kind) is not None for kind in kinds):
            yield name
    gpus = side.known.get(Gpus)
    if gpus and gpus.busy():
        yield _AT_WORK


def unlike_loads(here: Side, there: Side, mine: Measured, theirs: Measured) -> str:
    """Say why decode cannot be compared: no log, no steady decode, or never at the same load."""
    for side, measured in ((here, mine), (there, theirs)):
        if side.log is None:
            return f"no serve log of {side.name} was read"
        if not measured:
            return f"the log of {side.name} shows no steady decode"
    return f"{here.name} was seen with {_counts(mine)}, {there.name} with {_counts(theirs)}"


def _counts(measured: Measured) -> str:
    counts = sorted(measured)
    many = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"{many} running request{'' if counts == [1] else 's'}"


def load_test(here: Side, there: Side, mine: Measured, theirs: Measured) -> str:
    """Return the command that puts the same load on both."""
    usual = [Traffic(side.log).usual_running for side in (here, there) if side.log]
    least = min([*mine, *theirs], default=1)
    running = min(max(1, min(usual, default=least)), _AT_ONCE)
    engines = {side.arguments.engine for side in (here, there)}
    prompts = _PROMPTS_EACH * running
    lengths = "--random-input-len 1024 --random-output-len 512"
    if engines == {"vllm"}:
        return (
            f"vllm bench serve --dataset-name random {lengths} --num-prompts {prompts}"
            f" --max-concurrency {running} --seed 1"
        )
    backend = "sglang" if "vllm" not in engines else "sglang-oai"
    return (
        f"python3 -m sglang.bench_serving --backend {backend} --dataset-name random {lengths}"
        f" --num-prompts {prompts} --max-concurrency {running} --seed 1"
    )
