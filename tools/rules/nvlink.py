"""NVLinks that are down, links that were never meant to be up, and links with errors."""

from __future__ import annotations

from collections.abc import Mapping

from tools.errors import Undecided
from tools.knowledge.gpus import gpu_named
from tools.linux.kernel import KernelLog, XidLine
from tools.nvidia.topology import Nvlinks, Topology
from tools.rule import Cleared, Effect, Finding, Outcome, rule

# One link, both directions, GB/s: NVLink 2, 3 and 4 carry 50, 5 carries 100 (vendor whitepapers);
# GA102 runs its four at 14.06 GB/s each way (nvidia-smi nvlink -s).
_PER_LINK = {"2": 50.0, "3": 50.0, "4": 50.0, "5": 100.0}
_GA102_ALL, _GA102_LINK = 112.5, 28.125

_NVLINK_XIDS = frozenset((74, *range(144, 151)))
_SETTLE = "nvidia-smi nvlink -e twice, ten minutes of load between: the difference decides"


def links_of(product: str) -> tuple[int | None, str]:
    """Return how many NVLinks a product carries when all is fitted, and how they are built."""
    gpu = gpu_named(product)
    if gpu is None or gpu.nvlink is None:
        return None, ""
    ga102 = gpu.nvlink.both_ways_gb_s == _GA102_ALL
    per_link = _GA102_LINK if ga102 else _PER_LINK.get(gpu.nvlink.gen)
    count = round(gpu.nvlink.both_ways_gb_s / per_link) if per_link else None
    return count, gpu.nvlink.kind


def _states(nvlinks: Nvlinks) -> dict[int, dict[int, bool]]:
    """Return which links of each GPU are active, by the last look that says so."""
    states: dict[int, dict[int, bool]] = {}
    for (gpu, link), active in nvlinks.active().items():
        states.setdefault(gpu, {})[link] = active
    return states


def _down(state: Mapping[int, bool]) -> frozenset[int]:
    return frozenset(number for number, active in state.items() if not active)


def _bridged(topology: Topology | None) -> int | None:
    """Return the NVn of the matrix, None where it shows no NVLink or differs from pair to pair."""
    counts = {
        int(word[2:])
        for word in (topology.words() if topology else ())
        if word.startswith("NV") and word[2:].isdecimal()
    }
    return counts.pop() if len(counts) == 1 else None


def _joined(topology: Topology) -> bool:
    return any(word.startswith("NV") for word in topology.words())


def _judged(nvlinks: Nvlinks, topology: Topology | None) -> str:
    """Say whether inactive links are "missing", "design", "none" (no bridge), or "unknown"."""
    states = _states(nvlinks)
    down = {gpu: _down(state) for gpu, state in states.items()}
    active = {gpu: len(state) - len(down[gpu]) for gpu, state in states.items()}
    if not any(active.values()):
        return "none"
    if len(set(down.values())) > 1:
        return "missing"
    count = min(active.values())
    expected, kind = links_of(next(iter(nvlinks.gpu_names.values()), ""))
    if expected is not None and kind == "bridge":
        return "missing" if count < expected else "design"
    if _bridged(topology) == count and len(states) > 1:
        return "design"
    return "missing" if expected is not None and count < expected else "unknown"


@rule(cause="nvlink_inactive")
def bridge_makes_no_contact(nvlinks: Nvlinks, topology: Topology | None) -> Outcome:
    """An NVLink that the board or the bridge carries is down."""
    states = _states(nvlinks)
    if not nvlinks.links and topology and topology.links and not _joined(topology):
        if any(links_of(name)[0] for name in nvlinks.gpu_names.values()):
            raise Undecided(
                "no link of any GPU is active: no bridge is fitted, or the links did not come up at the start",
                settle="restart the machine (a guest: itself), then nvidia-smi nvlink -s and topo -m again; if they"
                " stay down, look whether a bridge or an NVSwitch is there",
                suspicion=0.2,
            )
        return Cleared("no NVLink is listed, and no two GPUs are joined by one")
    if not states:
        raise Undecided("no look tells the links", settle="nvidia-smi nvlink -s", suspicion=0.03)
    if not any(_down(state) for state in states.values()):
        return Cleared("every NVLink is active")
    judged = _judged(nvlinks, topology)
    if judged == "design":
        return Cleared("the inactive links are the same on all cards, and not brought out")
    words = {gpu: ", ".join(map(str, sorted(_down(state)))) for gpu, state in states.items()}
    if judged != "missing":
        none = "no link is active; without a bridge that is normal"
        raise Undecided(
            none if judged == "none" else "how many links this product carries is not known",
            settle="look whether a bridge is fitted; then nvidia-smi topo -m must show NV between the cards",
            suspicion=0.25 if judged != "none" else 0.2 if len(states) > 1 else 0.1,
        )
    name = next(iter(nvlinks.gpu_names.values()), "this product")
    expected, kind = links_of(name)
    carries = f"; {name} carries {expected}" if expected and kind == "bridge" else ""
    return Finding(
        statement="NVLinks are down: "
        + "; ".join(f"GPU {gpu} link {down}" for gpu, down in words.items() if down)
        + f"{carries}.",
        confidence=0.85,
        slows=frozenset(("prefill", "decode", "throughput", "ttft", "start", "crash")),
        effect=Effect((-7.0, -2.0, -0.6), (-33.0, -15.0, -5.0), "published runs without a bridge"),
        quotes=tuple(f"GPU {gpu}: link {down} <inactive>" for gpu, down in words.items() if down),
    )


@rule(cause="nvlink_links_by_design")
def links_not_brought_out(nvlinks: Nvlinks, topology: Topology | None) -> Outcome:
    """Some NVLinks of the chip are inactive because board or bridge never carry them."""
    states = _states(nvlinks)
    if not any(_down(state) for state in states.values()):
        return None
    if _judged(nvlinks, topology) != "design":
        return None
    if any(link.errors for link in nvlinks.links):
        raise Undecided("the error counters are not 0", settle=_SETTLE, suspicion=0.2)
    state = next(iter(states.values()))
    count = len(state) - len(_down(state))
    same = f"NV{count}" if _bridged(topology) == count else f"{count} links"
    return Finding(
        statement=(
            f"{same} is what this board or bridge carries; the other {len(_down(state))} links are"
            " the same on every card and not brought out."
        ),
        confidence=0.9 if _bridged(topology) == count else 0.75,
        benign=True,
        quotes=(f"inactive on every card: {', '.join(map(str, sorted(_down(state))))}",),
    )


def _grown(looks: Mapping[tuple[int, int], list[int]]) -> dict[tuple[int, int], list[int]]:
    """Return the links whose counters grew, in the order of time.

    Counters fall when the driver is loaded anew, all of them; where one above 0 stood still, the
    texts were given in reverse.
    """
    rising = {at: seen for at, seen in looks.items() if seen[-1] > seen[0]}
    falling = {at: seen[::-1] for at, seen in looks.items() if seen[-1] < seen[0]}
    if rising or not falling:
        return rising
    if any(seen[-1] == seen[0] > 0 for seen in looks.values()):
        return falling
    raise Undecided(
        "the error counters fell between two looks: reversed, or the driver was reloaded",
        settle=_SETTLE,
        suspicion=0.3,
    )


@rule(cause="nvlink_errors")
def links_count_errors(nvlinks: Nvlinks) -> Outcome:
    """NVLinks count errors under load."""
    looks: dict[tuple[int, int], list[int]] = {}
    for link in nvlinks.links:
        if link.errors is not None:
            looks.setdefault((link.gpu, link.link), []).append(link.errors)
    if not looks:
        raise Undecided("the error counters were not read", settle=_SETTLE, suspicion=0.03)
    rising = _grown(looks)
    if rising:
        quotes = tuple(f"GPU {g} link {n}: {s[0]} -> {s[-1]}" for (g, n), s in rising.items())
        return Finding(
            statement=f"NVLinks count errors between two looks: {'; '.join(quotes[:4])}.",
            confidence=0.85,
            slows=frozenset(("tail", "crash", "throughput")),
            quotes=quotes[:8],
        )
    worst = max(looks, key=lambda at: looks[at][-1])
    if not looks[worst][-1]:
        return Cleared("all NVLink error counters are 0")
    if all(len(seen) > 1 for seen in looks.values()):
        return Cleared("the NVLink error counters stand still")
    raise Undecided(
        f"GPU {worst[0]} link {worst[1]} counts {looks[worst][-1]} errors since the driver was loaded",
        settle=_SETTLE,
        suspicion=0.25,
    )


@rule(cause="nvlink_errors")
def fabric_reports_errors(kernel: KernelLog) -> Outcome:
    """The driver reports NVLink errors, and what follows them is collateral."""
    ours = [line for line in kernel.xids if line.code in _NVLINK_XIDS]
    if not ours:
        return Cleared("the kernel log holds no NVLink error (Xid 74, 144 to 150)")
    before = _earlier(kernel.xids, ours[0])
    if before:
        raise Undecided(
            f"NVLink errors follow Xid {before.code} on {before.bdf}",
            settle="deal with the first error in time, then look again",
            suspicion=0.2,
        )
    fatal = [
        line
        for line in ours
        if "fatal" in line.text.lower() and "nonfatal" not in line.text.lower()
    ]
    cards = sorted({line.bdf for line in ours})
    others = [line for line in kernel.xids if line.code not in _NVLINK_XIDS]
    return Finding(
        statement=(
            f"NVLink errors (Xid {', '.join(sorted({str(one.code) for one in ours}))},"
            f" {len(ours)} in the log) on GPU {', '.join(cards)}"
            f"{'; the other Xids follow from them' if others else ''}."
        ),
        confidence=0.9 if fatal or len(ours) > 1 else 0.75,
        slows=frozenset(("crash", "start", "tail", "throughput")),
        remedy=(
            "Drain the node; reset all GPUs of the fabric together, or reboot, and restart the"
            " fabric manager.",
            "If it returns on the same links: reseat or replace (bridge, baseboard, GPU).",
        ),
        risk="every job of that node stops",
        verify="nvidia-smi nvlink -e twice, ten minutes of load between: no count grows",
        quotes=tuple(
            f"{line.at or ''} {line.bdf}: {line.code}, {line.text}"[:200] for line in ours[:3]
        ),
    )


def _earlier(xids: tuple[XidLine, ...], ours: XidLine) -> XidLine | None:
    """Return an error before ours that could be its cause; an application's faults cannot."""
    for line in xids:
        if line is ours:
            return None
        if line.code in (48, 62, 79, 95, 119, 120, 140):
            return line
    return None


RULES = (
    bridge_makes_no_contact,
    links_not_brought_out,
    links_count_errors,
    fabric_reports_errors,
)
