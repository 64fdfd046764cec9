"""What of a server and its machine bears on speed, each as a name and a value that can be compared."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from tools.engine import Arguments, Environment, Launch, ServerInfo, ServerLog, Value
from tools.errors import Undecided
from tools.linux.machine import Machine
from tools.nvidia.gpus import Gpus
from tools.nvidia.topology import Topology
from tools.physics.measured import Measured, cold_prefill_tok_s
from tools.physics.seen import Get

# Arguments that differ between any two servers, or bear on nothing.
_NOISE = re.compile(
    r"random_seed|port|host|nccl_port|dist_init_addr|served_model_name|model_path|tokenizer_path"
    r"|log_level|log_level_http|download_dir|api_key|admin_api_key|base_gpu_id|node_rank"
    r"|file_storage_path|warmups|watchdog_timeout|speculative_draft_model_path|custom_sigquit_handler"
    r"|prefill_decode_port|model_loader_extra_config|last_gen_throughput|avg_spec_accept_length"
    r"|memory_usage"
)


@dataclass(frozen=True)
class Trait:
    """One thing. `number` is its figure, compared with some slack; `weight` orders what costs alike.

    `layers` and `words` say which findings are about it; `alone` that it means something even if
    the other case tells nothing of it; `measured` that it is a rate, a result and no cause.
    """

    name: str
    shown: str
    number: float | None = None
    slack: float = 0.0
    weight: int = 1
    layers: frozenset[str] = frozenset()
    words: tuple[str, ...] = ()
    alone: bool = False
    measured: bool = False

    def alike(self, other: Trait) -> bool:
        """Say whether two are the same, within what chance makes of them."""
        if self.number is None or other.number is None:
            return self.shown == other.shown
        return abs(self.number - other.number) <= self.slack * max(
            abs(self.number), abs(other.number)
        )


def traits(get: Get) -> Iterator[Trait]:
    """Yield what is known of one case."""
    yield from _rates(get(ServerLog))
    yield from _deployed(get)
    yield from _gpus(get(Gpus))
    yield from _paths(get(Topology))
    yield from _machine(get(Machine))
    yield from _variables(get(Environment))
    yield from _arguments(get)


def _rates(log: ServerLog | None) -> Iterator[Trait]:
    if log is None:
        return
    try:
        one = Measured.of(log)
    except Undecided:
        one = None
    if one is not None:
        streams = "one stream" if one.running == 1 else f"{one.running} streams"
        yield _figure(f"decode, {streams}", one.tok_s, "tok/s", slack=0.01, measured=True)
        if one.accept_len:
            yield _figure("accept length", one.accept_len, "", slack=0.02, measured=True, digits=2)
    if rate := cold_prefill_tok_s(log):
        yield _figure("prefill, cold", rate, "tok/s", slack=0.03, measured=True)


def _deployed(get: Get) -> Iterator[Trait]:
    launch, info, log = get(Launch), get(ServerInfo), get(ServerLog)
    gpus = get(Gpus)
    told = {
        "GPUs": _count(gpus.names) if gpus else None,
        "engine": next(
            (one for one in (launch and launch.engine, log and log.engine) if one), None
        ),
        "engine version": next(
            (one.version for one in (info, launch, log) if one and one.version), None
        ),
        "model": _model(launch, info, log),
        "driver": gpus.driver if gpus else None,
    }
    weights = {"GPUs": 9, "engine": 8, "engine version": 8, "model": 9, "driver": 3}
    layers = {"engine version": frozenset({"engine"}), "driver": frozenset({"driver"})}
    for name, value in told.items():
        if value:
            yield Trait(name, value, weight=weights[name], layers=layers.get(name, frozenset()))


def _model(launch: Launch | None, info: ServerInfo | None, log: ServerLog | None) -> str | None:
    path = Arguments(launch, info, log).value("model_path")
    return path.rstrip("/").rsplit("/", 1)[-1] if isinstance(path, str) else None


def _count(names: tuple[str, ...]) -> str:
    return ", ".join(f"{n}x {name.removeprefix('NVIDIA ')}" for name, n in Counter(names).items())


def _gpus(gpus: Gpus | None) -> Iterator[Trait]:
    if gpus is None:
        return
    busy = gpus.busy()
    links = Counter(
        f"Gen{one.link_gen} x{one.link_width}" for one in busy if one.link_gen and one.link_width
    )
    if links:
        shown = ", ".join(sorted(links))
        yield Trait("link under load", shown, weight=7, layers=frozenset({"pcie"}))
    yield from _usual(
        "SM clock at work", [one.sm_mhz for one in busy], "MHz", 0.05, {"power", "thermal"}
    )
    yield from _usual(
        "memory clock at work", [one.mem_mhz for one in busy], "MHz", 0.02, {"memory"}
    )
    yield from _usual("power at work", [one.power_w for one in busy], "W", 0.12, set())
    yield from _usual("temperature at work", [one.temp_c for one in busy], "C", 0.2, {"thermal"})
    cards = gpus.cards()
    yield from _usual("power limit", [one.power_limit_w for one in cards], "W", 0.01, {"power"})
    ecc = {one.ecc_on for one in cards} - {None}
    if len(ecc) == 1:
        yield Trait("ECC", "on" if ecc.pop() else "off", weight=3, words=("ECC",))


def _usual(
    name: str, values: list[float | None], unit: str, slack: float, layers: set[str]
) -> Iterator[Trait]:
    told = [value for value in values if value is not None]
    if told:
        usual = _figure(name, median(told), unit, slack=slack)
        yield Trait(usual.name, usual.shown, usual.number, slack, 2, frozenset(layers))


def _paths(topology: Topology | None) -> Iterator[Trait]:
    if topology is None:
        return
    if words := topology.words():
        yield Trait(
            "paths between GPUs", ", ".join(sorted(words)), weight=5, layers=frozenset({"nvlink"})
        )
    if peers := {pair.word for pair in topology.p2p}:
        yield Trait("peer access", ", ".join(sorted(peers)), weight=5, layers=frozenset({"p2p"}))


def _machine(machine: Machine | None) -> Iterator[Trait]:
    if machine is None:
        return
    cpu = frozenset({"host_cpu"})
    told: tuple[tuple[str, str | None, int, frozenset[str]], ...] = (
        ("CPU", machine.cpu_model, 4, cpu),
        ("governor", ", ".join(sorted(machine.governors)) or None, 4, cpu),
        ("CPU limit", _limit(machine), 5, cpu),
        (
            "NUMA nodes",
            str(machine.numa_nodes) if machine.numa_nodes else None,
            2,
            frozenset({"numa"}),
        ),
        ("virtualization", machine.virt, 2, frozenset({"virtualization"})),
        ("kernel", machine.kernel, 1, frozenset()),
    )
    for name, value, weight, layers in told:
        if value:
            yield Trait(name, value, weight=weight, layers=layers)


def _limit(machine: Machine) -> str | None:
    if machine.quota_cpus:
        return f"{machine.quota_cpus:g} CPUs"
    return "none" if machine.quota_told else None


def _variables(environment: Environment | None) -> Iterator[Trait]:
    for name, value in (environment.values if environment else {}).items():
        yield Trait(name, value[:60], weight=4, words=(name,), alone=True)


def _arguments(get: Get) -> Iterator[Trait]:
    """Yield what runs; where no dump tells that, what was typed."""
    launch, info, log = get(Launch), get(ServerInfo), get(ServerLog)
    dump = (log.resolved if log else None) or {}
    typed = (launch.flags if launch else None) or {}
    resolved = {**dump, **(info.resolved if info else {})}
    values: dict[str, Value] = resolved or typed
    asked = set(typed)
    for name, value in values.items():
        if not _NOISE.fullmatch(name) and value is not None:
            flag = f"--{name.replace('_', '-')}"
            weight = 6 if name in asked else 4
            yield Trait(
                name,
                str(value)[:60],
                weight=weight,
                words=(name, flag),
                alone=name in asked and not resolved,
            )


def _figure(
    name: str, value: float, unit: str, *, slack: float, measured: bool = False, digits: int = 0
) -> Trait:
    shown = f"{value:,.{digits}f} {unit}".strip()
    return Trait(name, shown, value, slack, measured=measured)
