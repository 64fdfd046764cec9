"""How GPUs reach each other: the topology and peer-access matrices, NVLink by link."""

from __future__ import annotations

from tools.probe import Facts


class Pair(Facts):
    """One cell above the diagonal of a matrix: two devices and a word (PHB, SYS, NV4; OK, CNS)."""

    a: str
    b: str
    word: str


class PairRate(Facts):
    """What a copy from one GPU to another reached, in GB/s; `peer` says whether peer access was used."""

    a: str
    b: str
    gb_s: float
    peer: bool | None = None
    both_ways: bool = False  # the sum of both directions at once


class HostRate(Facts):
    """What a copy between the host's pinned memory and one GPU reached, in GB/s; CUDA's own count of GPUs."""

    gpu: int
    bdf: str | None = None
    name: str | None = None  # of the product
    gb_s: float
    to_gpu: bool  # else from it


class Topology(Facts):
    """`nvidia-smi topo`: the kind of link of each pair, peer access, and each GPU's NUMA node."""

    gpus: tuple[str, ...] = ()
    links: tuple[Pair, ...] = ()  # between GPUs
    nics: tuple[Pair, ...] = ()  # GPU to NIC
    p2p: tuple[Pair, ...] = ()  # peer access, read capability; empty if it was not asked
    numa: dict[str, str] = {}  # GPU -> NUMA affinity as printed
    cpus: dict[str, str] = {}  # GPU -> CPU affinity as printed
    nic_names: dict[str, str] = {}  # "NIC0" -> "mlx5_0"
    rates: tuple[
        PairRate, ...
    ] = ()  # of p2pBandwidthLatencyTest or nvbandwidth, where someone ran it
    host_rates: tuple[HostRate, ...] = ()  # of nvbandwidth or bandwidthTest

    @property
    def mixed(self) -> str:
        """Name a pair that is joined in two ways, as in files of two machines."""
        words: dict[tuple[str, str], str] = {}
        for pair in self.links:
            if words.setdefault((pair.a, pair.b), pair.word) != pair.word:
                return f"{pair.a}-{pair.b} is {words[pair.a, pair.b]} and {pair.word}"
        return ""

    def words(self) -> frozenset[str]:
        """Return the kinds of link between GPUs."""
        return frozenset(pair.word for pair in self.links)


class Nvlink(Facts):
    """One NVLink of one GPU. `gb_s` is the raw signalling rate of that link."""

    gpu: int
    link: int
    active: bool | None = None
    gb_s: float | None = None
    replay_errors: int | None = None
    recovery_errors: int | None = None
    crc_errors: int | None = None
    tx_kib: int | None = None
    rx_kib: int | None = None
    reading: int = 0  # 0 the first look at this link, 1 the second, ...

    @property
    def errors(self) -> int | None:
        """Return the sum of all error counters that are told; None where none is."""
        told = (self.replay_errors, self.recovery_errors, self.crc_errors)
        counts = [count for count in told if count is not None]
        return sum(counts) if counts else None

    def counted(self) -> frozenset[str]:
        """Return the counters that this reading tells."""
        names = ("replay_errors", "recovery_errors", "crc_errors", "tx_kib", "rx_kib")
        return frozenset(name for name in names if getattr(self, name) is not None)


class Nvlinks(Facts):
    """All NVLinks that `nvidia-smi nvlink` tells of; GPUs named without any link have none active."""

    gpu_names: dict[str, str] = {}  # "0" -> product name
    links: tuple[Nvlink, ...] = ()

    def active(self) -> dict[tuple[int, int], bool]:
        """Return whether each link is up, by the last look that says so, by GPU and link."""
        return {(one.gpu, one.link): one.active for one in self.links if one.active is not None}

    def merged(self, other: Nvlinks) -> Nvlinks:
        """Unite two looks: state and counters complete each other, a counter told again is a later reading."""
        links = {(link.gpu, link.link, link.reading): link for link in self.links}
        after: dict[tuple[int, int], int] = {}
        for link in other.links:
            same = links.get((link.gpu, link.link, 0))
            if link.reading == 0 and same and link.counted() & same.counted():
                known = [
                    reading for gpu, lane, reading in links if (gpu, lane) == (link.gpu, link.link)
                ]
                after[link.gpu, link.link] = max(known) + 1
            reading = link.reading + after.get((link.gpu, link.link), 0)
            key = (link.gpu, link.link, reading)
            numbered = link.model_copy(update={"reading": reading})
            links[key] = links[key].merged(numbered) if key in links else numbered
        return Nvlinks(gpu_names=self.gpu_names | other.gpu_names, links=tuple(links.values()))
