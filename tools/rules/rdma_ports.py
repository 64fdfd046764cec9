"""Ports of the RDMA network: one slower than its like, and a network that loses packets."""

from __future__ import annotations

from collections import Counter

from tools.engine import ServerLog
from tools.errors import Undecided
from tools.linux.kernel import KernelLog
from tools.linux.machine import Machine, RdmaPort
from tools.nvidia.nccl import AllReduceTest, NcclLog
from tools.rule import Aspect, Cleared, Effect, Finding, Outcome, rule

SLOW = 0.7  # of the rate of the other ports of that card; a link comes up at a half or a quarter
FEW = 100  # packets: a port that was plugged or a route that changed loses a handful
_ALL: frozenset[Aspect] = frozenset({"decode", "prefill", "ttft", "throughput"})
_SETTLE_RATE = (
    "which ports NCCL uses (NCCL_DEBUG=INFO: NET/IB : Using), and ib_write_bw over that port alone"
)
_SETTLE_LOSS = "grep . /sys/class/infiniband/*/ports/*/hw_counters/* twice on each machine, a minute of load between"


@rule(cause="rdma_port_slow")
def one_port_is_slower(
    machine: Machine, nccl: NcclLog | None, test: AllReduceTest | None
) -> Outcome:
    """A port of the RDMA network runs at a lower rate than the other ports of that card."""
    groups: dict[tuple[str, str], list[RdmaPort]] = {}
    for port in machine.rdma:
        if port.state == "Active" and port.physical in (None, "LinkUp") and port.rate_gbit_s:
            groups.setdefault((port.layer or "", port.card_type or ""), []).append(port)
    found: list[tuple[RdmaPort, float]] = []
    for ports in groups.values():
        usual, times = Counter(one.rate_gbit_s or 0.0 for one in ports).most_common(1)[0]
        slow = [one for one in ports if (one.rate_gbit_s or 0.0) < SLOW * usual]
        if times > len(slow):
            found += [(one, usual) for one in slow]
    if not found:
        return Cleared("all RDMA ports of a kind run at one rate") if groups else None
    worst, usual = min(found, key=lambda one: one[0].rate_gbit_s or 0.0)
    said = (
        f"port {worst.name} runs at {worst.rate_gbit_s:g} Gbit/s, others of its kind at {usual:g}"
    )
    if nccl is None or nccl.network != "IB":
        raise Undecided(
            f"{said}; whether the server's traffic takes it is not told",
            settle=_SETTLE_RATE,
            suspicion=0.35,
        )
    large = [rate for _, rate in sorted(test.busbw_gb_s.items())] if test else []
    measured = f" The all-reduce reaches {large[-1]:.0f} GB/s." if large else ""
    share = 100 * ((worst.rate_gbit_s or 0.0) / usual - 1)
    return Finding(
        statement=(
            f"{said[0].upper()}{said[1:]}: NCCL gives each the same share, so all wait for it.{measured}"
        ),
        shown_by=(machine, nccl, test) if test and large else (machine, nccl),
        confidence=0.8 if large else 0.7,
        slows=_ALL,
        effect=Effect((0.4 * share, 0.2 * share, 0.0), (share, 0.6 * share, 0.2 * share),
                      "as the port's rate; coarse"),
        quotes=(f"{worst.name}: Rate {worst.rate_gbit_s:g}",),
    )  # fmt: skip


@rule(cause="rdma_packet_loss")
def network_loses_packets(machine: Machine, log: ServerLog | None) -> Outcome:
    """The network between the machines loses packets, and RDMA sends them again or waits for good."""
    if not machine.rdma_counts:
        return None
    lost = {name: grown for name, grown in machine.rdma_grown.items() if grown}
    if not lost:
        if not any(machine.rdma_counts.values()):
            return Cleared("no RDMA port has lost a packet")
        raise Undecided(
            "RDMA ports count lost packets since the driver was loaded; whether more come is not told",
            settle=_SETTLE_LOSS,
            suspicion=0.15,
        )
    worst = sorted(lost, key=lambda name: -lost[name])[:3]
    gave_up = sum(n for name, n in lost.items() if name.endswith("retries_exceeded"))
    said = ", ".join(f"{name} +{lost[name]}" for name in worst)
    if max(lost.values()) < FEW and not gave_up:
        raise Undecided(f"a few packets were lost ({said})", settle=_SETTLE_LOSS, suspicion=0.2)
    stands = bool(log and log.said("watchdog"))
    ends = f" {gave_up} requests were given up after all their repeats." if gave_up else ""
    return Finding(
        statement=f"The RDMA network loses packets between two readings: {said}.{ends}",
        shown_by=(machine, log) if stands and log else (machine,),
        confidence=0.85 if gave_up else 0.75,
        slows=_ALL | {"tail", "crash"} if gave_up else _ALL | {"tail"},
        quotes=tuple(f"{name} +{lost[name]}" for name in worst),
    )


@rule(cause="rdma_port_flaps")
def a_port_goes_down(kernel: KernelLog, nccl: NcclLog | None) -> Outcome:
    """A port of the RDMA network goes down and comes back."""
    times = Counter(one.split(" ")[0] for one in kernel.ports_down)
    errors = [line for line in nccl.errors if "port error" in line] if nccl else []
    if not times:
        return Cleared("no RDMA port went down") if kernel.lines else None
    port, often = times.most_common(1)[0]
    said = f"RDMA port {port} went down {f'{often} times' if often > 1 else 'once'}"
    if often == 1 and not errors:
        raise Undecided(
            f"{said}: a cable, a switch that was restarted, or somebody's hand",
            settle="the kernel log of all machines at the next failure, and NCCL_DEBUG=WARN for 'port error'",
            suspicion=0.15,
        )
    by = " NCCL reports a port error and ends." if errors else ""
    return Finding(
        statement=f"{said}: cable, transceiver or switch port.{by}",
        shown_by=(kernel, nccl) if nccl and errors else (kernel,),
        confidence=0.85 if errors else 0.7,
        slows=frozenset({"crash", "tail"}),
        quotes=(*kernel.ports_down[:3], *(line[:200] for line in errors[:1])),
    )


RULES = (one_port_is_slower, network_loses_packets, a_port_goes_down)
